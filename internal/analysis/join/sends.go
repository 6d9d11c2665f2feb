package join

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"amqpperf/format"
)

// producers is what a first look at the send logs finds.
type producers struct {
	run          *string  // that is joined; nil while it is not known
	runs         []string // in order of appearance
	destinations map[string]bool
	to           map[producerKey]map[string]bool // destinations by producer
	lanes        *lanes
	intended     bool  // the first intended instant is wanted
	first        int64 // that instant
	progress     func(rows int64)
	chunkRows    int   // rows of a chunk of a send log
	chunks       int32 // of all send logs
}

// sendLog reads one send log chunk by chunk. The rows of a producer stand by
// (seq, attempt): as they are in the log, or in a sorted copy of it.
type sendLog struct {
	in     *input
	wanted []string // columns; nil: all
	copy   *tempLog // sorted; nil: the log is in order
	lowest int32    // lowest sender id
	lanes  []*lane
	clock  *processClock
	codes  logCodes // of the rows' strings in the output
	rows   int64
	first  int32 // its first chunk
	limit  int32 // behind its last one

	next   int32       // chunk
	handle *format.Log // open while rows are read
	reader *ahead[*format.Send]
	batch  *format.Send
	at     int // rows of batch that were taken
}

// scanSends looks through all send logs: runs, producers, destinations, which
// chunk holds what, and that no message is in them twice.
func scanSends(sends []*input, found *producers, opt Options) (logs []*sendLog, err error) {
	owner := newOwners[int32]("sender")
	defer func() {
		if err == nil {
			return
		}
		for _, l := range logs {
			err = errors.Join(err, l.close())
		}
	}()
	for _, in := range sends {
		l := &sendLog{in: in, wanted: opt.sendColumns(), first: found.chunks, lowest: math.MaxInt32}
		logs = append(logs, l)
		if err := l.prepare(found, owner, opt); err != nil {
			return logs, err
		}
		l.limit = l.first + int32((l.rows+int64(found.chunkRows)-1)/int64(found.chunkRows)) //nolint:gosec // rows fit
		found.chunks, l.next = l.limit, l.first
	}
	slices.SortStableFunc(logs, func(x, y *sendLog) int { return cmp.Compare(x.lowest, y.lowest) })
	return logs, nil
}

// prepare scans the log, and makes a sorted copy where the rows are not in
// order, or cannot be read twice.
func (l *sendLog) prepare(found *producers, owner *owners[int32], opt Options) (err error) {
	s := &scan{log: l, found: found, owner: owner}
	rows := l.in.log
	if rows.Kind() == format.Parquet {
		err := l.scanFile(s, found)
		if !errors.Is(err, errDisorder) {
			return err
		}
		if rows, err = format.Open(l.in.log.Name()); err != nil {
			return err
		}
		defer func(unsorted *format.Log) { err = errors.Join(err, unsorted.Close()) }(rows)
	}
	for _, by := range []compareSends{byTime, byIdentity} {
		sorted, err := sortSends(rows, opt, by)
		if err != nil {
			return err
		}
		err = l.copy.close()
		l.copy, rows = sorted, sorted.log
		if err == nil {
			err = s.all(rows)
		}
		if !errors.Is(err, errDisorder) {
			return err
		}
		if err := rows.Rewind(); err != nil {
			return err
		}
	}
	return errDisorder // sorted by what is compared: cannot happen
}

// scanFile reads only the identities, through a handle of its own.
func (l *sendLog) scanFile(s *scan, found *producers) (err error) {
	log, err := format.Open(l.in.log.Name())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := identities(log, found.intended); err != nil {
		return err
	}
	return s.all(log)
}

// byTime is the order in which rows are intended, which for a schedule is that
// of seq. Of several producers it keeps those together that arrive together.
func byTime(x *format.Send, i int, y *format.Send, k int) int {
	return cmp.Or(cmp.Compare(x.Intended[i], y.Intended[k]), byIdentity(x, i, y, k))
}

func byIdentity(x *format.Send, i int, y *format.Send, k int) int {
	return cmp.Or(cmp.Compare(x.Sender[i], y.Sender[k]), cmp.Compare(x.Producer[i], y.Producer[k]),
		cmp.Compare(x.Seq[i], y.Seq[k]), cmp.Compare(x.Attempt[i], y.Attempt[k]))
}

// open starts over at the first chunk. A log has a handle only while it is read.
func (l *sendLog) open(chunkRows int) (err error) {
	l.next, l.batch, l.at = l.first, nil, 0
	if l.copy != nil {
		l.handle, err = l.copy.open()
	} else {
		l.handle, err = format.Open(l.in.log.Name())
	}
	if err == nil && l.wanted != nil {
		err = l.handle.Select(l.wanted...)
	}
	if err != nil {
		return err
	}
	l.reader = readAhead(l.handle, chunkRows, &format.Send{}, &format.Send{})
	return nil
}

// take returns the rows of the next chunk: a batch, and which part of it. They
// are valid until the next call.
func (l *sendLog) take(chunkRows int) (b *format.Send, from, to int, err error) {
	if l.reader == nil {
		if err := l.open(chunkRows); err != nil {
			return nil, 0, 0, err
		}
	}
	if l.batch == nil || l.at == l.batch.Len() {
		if l.batch, err = l.reader.next(); err != nil {
			return nil, 0, 0, err
		}
		l.at = 0
	}
	from = l.at
	l.at = min(l.at+chunkRows, l.batch.Len())
	l.next++
	return l.batch, from, l.at, nil
}

// stop ends reading.
func (l *sendLog) stop() error {
	if l.reader != nil {
		l.reader.close()
		l.reader = nil
	}
	l.batch, l.at = nil, 0
	h := l.handle
	l.handle = nil
	if h == nil {
		return nil
	}
	return h.Close()
}

// rewind starts over at the first chunk.
func (l *sendLog) rewind() error {
	l.next = l.first
	return l.stop()
}

func (l *sendLog) close() error { return errors.Join(l.stop(), l.copy.close()) }

// sendCodes translates the dictionary codes of one log into those of another.
type sendCodes struct {
	run, destination, outcome, wait, err remap
}

func (c *sendCodes) append(m, b *format.Send, i int) {
	c.run.append(&m.Run, &b.Run, i)
	c.destination.append(&m.Destination, &b.Destination, i)
	c.outcome.append(&m.Outcome, &b.Outcome, i)
	c.wait.append(&m.Wait, &b.Wait, i)
	c.err.append(&m.Error, &b.Error, i)
	m.Sender = append(m.Sender, b.Sender[i])
	m.Producer = append(m.Producer, b.Producer[i])
	m.Seq = append(m.Seq, b.Seq[i])
	m.Attempt = append(m.Attempt, b.Attempt[i])
	m.Size = append(m.Size, b.Size[i])
	m.Intended = append(m.Intended, b.Intended[i])
	m.Ready = append(m.Ready, b.Ready[i])
	m.Sent = append(m.Sent, b.Sent[i])
	m.Acked = append(m.Acked, b.Acked[i])
	m.Connection = append(m.Connection, b.Connection[i])
}
