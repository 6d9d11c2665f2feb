package broker

import (
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// csvColumns are the columns of a CSVLog; instants are ns of the broker's clock and
// empty if they never happened.
const csvColumns = "address,link,seq,size,arrival,start,due,departure,acked,delivered,settled,deliveries,failed,outcome"

// maxUnlogged is how many bytes of rows may wait for a slow writer before the
// broker waits too.
const maxUnlogged = 64 << 20

const (
	flushAt    = 64 << 10 // bytes
	flushEvery = 200 * time.Millisecond
)

// CSVLog writes records as CSV. Its Record method is for Config.ArrivalLog; writing
// happens in a goroutine of its own.
type CSVLog struct {
	extra func(dst []byte, r *Record) []byte
	w     io.Writer
	ended sync.WaitGroup

	full chan struct{} // capacity 1
	done chan struct{}

	mu     sync.Mutex
	room   *sync.Cond
	buf    []byte
	closed bool
	err    error
}

// NewCSVLog writes a header line to w. extra, if not nil, appends further cells that
// it makes of a record (our stamp, say), without the leading comma; columns names them.
func NewCSVLog(w io.Writer, columns []string, extra func(dst []byte, r *Record) []byte) *CSVLog {
	l := &CSVLog{w: w, extra: extra, full: make(chan struct{}, 1), done: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	l.buf = append(l.buf, strings.Join(append([]string{csvColumns}, columns...), ",")+"\n"...)
	l.ended.Go(l.run)
	return l
}

// Record appends one row.
func (l *CSVLog) Record(r *Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.buf) > maxUnlogged && l.err == nil {
		l.room.Wait()
	}
	if l.closed || l.err != nil {
		return
	}
	b := appendCell(l.buf, r.Address)
	b = appendCell(append(b, ','), r.Link)
	b = strconv.AppendUint(append(b, ','), r.Seq, 10)
	b = strconv.AppendInt(append(b, ','), int64(r.Size), 10)
	for _, t := range [...]int64{r.Arrival, r.Start, r.Due, r.Departure, r.Acked, r.Delivered, r.Settled} {
		if b = append(b, ','); t != 0 {
			b = strconv.AppendInt(b, t, 10)
		}
	}
	b = strconv.AppendInt(append(b, ','), int64(r.Deliveries), 10)
	b = strconv.AppendUint(append(b, ','), uint64(r.Failed), 10)
	b = append(append(b, ','), r.Outcome...)
	if l.extra != nil {
		b = l.extra(append(b, ','), r)
	}
	l.buf = append(b, '\n')
	if len(l.buf) >= flushAt {
		select {
		case l.full <- struct{}{}:
		default:
		}
	}
}

// appendCell quotes text where CSV needs it (RFC 4180).
func appendCell(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}

// run writes when much has gathered, and now and then.
func (l *CSVLog) run() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	var spare []byte
	for closed := false; !closed; {
		select {
		case <-l.full:
		case <-tick.C:
		case <-l.done:
			closed = true
		}
		l.mu.Lock()
		out := l.buf
		l.buf = spare[:0]
		failed := l.err != nil
		l.mu.Unlock()
		if len(out) > 0 && !failed {
			_, err := l.w.Write(out)
			l.mu.Lock()
			l.err = err
			l.mu.Unlock()
		}
		l.room.Broadcast()
		spare = out
	}
}

// Close writes what is left and returns the first error of w. It does not close w.
func (l *CSVLog) Close() error {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		close(l.done)
	}
	l.mu.Unlock()
	l.ended.Wait()
	return l.err
}
