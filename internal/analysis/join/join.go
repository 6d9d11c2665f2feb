package join

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
)

// DefaultMemory is the default of Options.Memory.
const DefaultMemory = 1 << 30

// Options says what to join.
type Options struct {
	// Run selects one run; "" takes the only one in the send logs.
	Run string
	// Memory bounds what is held at a time, in bytes; 0: DefaultMemory. What does
	// not fit goes to temporary files.
	Memory int64
	// TempDir is the folder of temporary files; "": the system's ($TMPDIR).
	TempDir string
	// Clock says how clocks are aligned.
	Clock clock.Policy
	// From and To select rows by their intended instant: since the first one of
	// the run; To 0 means to the end. The accounting is of the whole run.
	From, To time.Duration
	// Columns are those of merged/1 that will be used, nil for all; what the
	// others hold is not defined. The accounting does not depend on it.
	Columns []string
	// Progress, unless nil, is called now and then by the goroutine that calls
	// Open or Next: so many more of the total rows to be looked at were.
	Progress func(rows, total int64)

	chunkRows int // of tests: rows of a chunk
}

// windowed reports whether rows are selected by time.
func (o *Options) windowed() bool { return o.From != 0 || o.To != 0 }

// Joiner yields the merged rows of a set of logs. It is not safe for
// concurrent use.
type Joiner struct {
	opt     Options
	run     string
	sends   []*sendLog
	recvs   []*recvLog
	ins     struct{ sends, recvs []*input }
	found   *producers
	subs    *subscriptions
	results format.Strings // outcomes of deliveries: only the values
	orphans orphans
	clocks  clocks

	store   store
	matcher matcher
	work    work
	out     *output
	tally   tally
	base    Accounting // what the first look at the logs counted
	acc     Accounting
	merge   Check
	kept    []int32 // rows that the window keeps

	total    int64 // rows of all logs, as far as that is known
	began    bool
	queue    []*recvLog // in the order in which they are opened
	recvRows int        // rows of a batch of deliveries
	mostOpen int        // receive logs that are read at the same time
	opened   int        // of queue
	reading  []*recvLog
	ready    []int32 // whole chunks that no send log has
}

// Open opens send and receive logs, in any container and order, and looks
// through them. Names are as for format.Open.
func Open(names []string, opt Options) (*Joiner, error) {
	if opt.Memory == 0 {
		opt.Memory = DefaultMemory
	}
	j := &Joiner{opt: opt, subs: newSubscriptions()}
	var err error
	if j.ins.sends, j.ins.recvs, err = openInputs(names); err != nil {
		return nil, err
	}
	if err := j.prepare(); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// prepare looks through all logs.
func (j *Joiner) prepare() (err error) {
	if j.recvs, err = openRecvs(j.ins.recvs, j.opt); err != nil {
		return err
	}
	j.found = &producers{destinations: map[string]bool{}, to: map[producerKey]map[string]bool{}, lanes: newLanes(),
		chunkRows: j.rowsPerChunk(), intended: j.opt.windowed(), first: math.MaxInt64, progress: j.progress}
	if j.opt.Run != "" {
		j.found.run = &j.opt.Run
	}
	if j.sends, err = scanSends(j.ins.sends, j.found, j.opt); err != nil {
		return err
	}
	if j.run, err = chooseRun(j.opt.Run, j.found.runs, j.ins.recvs); err != nil {
		return err
	}
	if err := j.align(); err != nil {
		return err
	}
	if j.merge, err = j.together(); err != nil {
		return err
	}
	for i, l := range j.recvs {
		if err := j.subs.addListed(l.in, j.clocks.recvs[i].shift); err != nil {
			return fmt.Errorf("%s: %w", l.in.log.Name(), err)
		}
	}
	if err := j.survey(); err != nil {
		return err
	}
	j.subs.route(j.found)
	j.restart()
	return nil
}

// rowsPerChunk returns into how many rows send logs are divided: a batch, or
// fewer where every message has many deliveries or there are many logs.
func (j *Joiner) rowsPerChunk() int {
	var sent, received int64
	for _, in := range j.ins.sends {
		sent += max(in.log.NumRows(), 0)
	}
	for _, l := range j.recvs {
		received += max(l.size(), 0)
	}
	j.total = sent + received
	if j.opt.chunkRows > 0 {
		return j.opt.chunkRows
	}
	n := format.BatchRows
	for n > 1024 && sent > 0 && received/sent > int64(format.BatchRows/n) {
		n /= 2
	}
	const perRow = 300 // of three batches
	for n > 1024 && int64(len(j.ins.sends)*n)*perRow > j.opt.Memory/8 {
		n /= 2
	}
	return n
}

// restart forgets all that was joined.
func (j *Joiner) restart() {
	j.out = newOutput(j.run, j.subs.list, j.results.Values)
	j.tally = newTally(len(j.subs.list))
	j.store.reset()
	j.work = work{}
	j.began, j.ready, j.reading, j.opened = false, nil, nil, 0
	j.acc = Accounting{Run: j.run}
	for _, l := range j.sends {
		l.codes = logCodes{}
	}
}

// Next fills b with the next rows, io.EOF after the last. The memory of b is
// reused; rows are valid until the next call.
func (j *Joiner) Next(b *format.Merged) error {
	for resize(b, 0); b.Len() == 0; {
		if err := j.nextRows(b); err != nil {
			return err
		}
	}
	return nil
}

func (j *Joiner) nextRows(b *format.Merged) error {
	for !j.work.active {
		switch err := j.advance(); {
		case errors.Is(err, io.EOF):
			j.account()
			resize(b, 0)
			return io.EOF
		case err != nil:
			return err
		}
	}
	w := &j.work
	lo, hi := w.next, min(w.next+w.part, w.out.len())
	j.out.fill(j, b, lo, hi)
	if w.next = hi; hi == w.out.len() {
		j.finishWork()
	}
	j.clip(b)
	return nil
}

// progress tells how many rows were looked at.
func (j *Joiner) progress(rows int64) {
	if j.opt.Progress != nil {
		j.opt.Progress(rows, 2*j.total)
	}
}

func (j *Joiner) finishWork() {
	j.store.release(j.work.d)
	j.work.d, j.work.active = nil, false
}

// advance joins the next chunk that is whole, or reads on until one is.
func (j *Joiner) advance() error {
	if !j.began {
		j.began = true
		if err := j.openNext(); err != nil {
			return err
		}
	}
	for {
		if n := len(j.ready); n > 0 {
			c := j.ready[0]
			j.ready = j.ready[1:]
			return j.joinOrphans(c)
		}
		for _, l := range j.sends {
			switch {
			case l.next == l.limit:
				if err := l.stop(); err != nil {
					return err
				}
			case j.store.chunks[l.next].whole():
				return j.joinChunk(l)
			}
		}
		more, err := j.read()
		if err != nil {
			return err
		}
		if !more {
			return j.end()
		}
	}
}

// end is reached when all deliveries were read and all whole chunks joined.
func (j *Joiner) end() error {
	for _, l := range j.sends {
		if l.next < l.limit {
			return fmt.Errorf("%s changed while it was read", l.in.log.Name())
		}
	}
	for n := range j.store.chunks {
		if !j.store.chunks[n].whole() {
			return errors.New("a receive log changed while it was read")
		}
	}
	return io.EOF
}

// openNext begins to read further receive logs while there is room for them.
func (j *Joiner) openNext() error {
	j.reading = slices.DeleteFunc(j.reading, func(l *recvLog) bool { return l.done })
	for len(j.reading) < j.mostOpen && j.opened < len(j.queue) {
		l := j.queue[j.opened]
		j.opened++
		if err := l.begin(j.recvRows, j.opt.recvColumns()...); err != nil {
			return err
		}
		if !l.done {
			j.reading = append(j.reading, l)
		}
	}
	return nil
}

// read takes the next batch of deliveries, of the log that is furthest behind.
func (j *Joiner) read() (more bool, err error) {
	var l *recvLog
	var first int64
	for _, r := range j.reading {
		t := r.at.b.Received[0]
		if t += j.clocks.recvs[r.index].shift(t); l == nil || t < first {
			l, first = r, t
		}
	}
	if l == nil {
		return false, nil
	}
	l.classify(j)
	j.progress(int64(l.at.b.Len()))
	if err := j.store.add(&l.at); err != nil {
		return false, err
	}
	for _, c := range j.store.which {
		if c >= j.found.chunks && j.store.chunks[c].whole() {
			j.ready = append(j.ready, c)
		}
	}
	if err := l.next(); err != nil {
		return false, err
	}
	if l.done {
		return true, j.openNext()
	}
	return true, nil
}

// joinChunk joins the next chunk of a send log.
func (j *Joiner) joinChunk(l *sendLog) error {
	n := l.next
	b, from, to, err := l.take(j.found.chunkRows)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s changed while it was read", l.in.log.Name())
	}
	if err != nil {
		return err
	}
	l.codes.learn(j.out, b)
	j.progress(int64(to - from))
	return j.joinRows(l, b, n, from, to)
}

func (j *Joiner) joinOrphans(n int32) error { return j.joinRows(nil, nil, n, 0, 0) }

func (j *Joiner) joinRows(l *sendLog, b *format.Send, n int32, from, to int) error {
	d, err := j.store.take(n)
	if err != nil {
		return err
	}
	w := &j.work
	w.log, w.b, w.d, w.chunk = l, b, d, n
	if w.d == nil {
		w.d = j.store.buffer()
	}
	var run int32
	if b != nil {
		run = int32(slices.Index(b.Run.Values, j.run))
	}
	j.matcher.match(j, b, run, from, to, w.d, j.store.chunks[n].order)
	j.emit(run, from, to)
	w.part = partOf(w.out.len())
	if w.out.len() == 0 {
		j.finishWork()
	}
	return nil
}

// partOf divides rows into batches of about equal size, so that each is a page
// of what is written. All but the last are a multiple of 8, as bits are packed.
func partOf(rows int) int {
	batches := max((rows+format.BatchRows-1)/format.BatchRows, 1)
	return ((rows+batches-1)/batches + 7) &^ 7
}

// Rewind starts over at the first row.
func (j *Joiner) Rewind() error {
	for _, l := range j.sends {
		if err := l.rewind(); err != nil {
			return err
		}
	}
	for _, l := range j.recvs {
		if err := l.end(); err != nil {
			return err
		}
	}
	j.restart()
	return nil
}

// Close closes the logs and removes temporary files.
func (j *Joiner) Close() error {
	var errs []error
	for _, l := range j.sends {
		errs = append(errs, l.close())
	}
	for _, l := range j.recvs {
		errs = append(errs, l.close())
	}
	return errors.Join(append(errs, j.store.close(), closeInputs(j.ins.sends), closeInputs(j.ins.recvs))...)
}

// inputs returns all logs, send logs first.
func (j *Joiner) inputs() []*input {
	all := make([]*input, 0, len(j.sends)+len(j.recvs))
	for _, l := range j.sends {
		all = append(all, l.in)
	}
	for _, l := range j.recvs {
		all = append(all, l.in)
	}
	return all
}
