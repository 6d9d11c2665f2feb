package join

import (
	"errors"
	"io"
	"math"
	"slices"

	"amqpperf/format"
)

// recvLog reads one receive log, twice: its rows, or a copy of them where they
// cannot be read again, or may have become more.
type recvLog struct {
	in    *input
	index int32
	copy  *tempLog
	first int64 // the earliest arrival, on the reference clock

	handle *format.Log // open while rows are read
	reader *ahead[*format.Recv]
	at     incoming
	done   bool
	cache  subCache
	rows   int64 // taken so far
}

// openRecvs makes the logs readable twice.
func openRecvs(ins []*input, opt Options) (logs []*recvLog, err error) {
	defer func() {
		if err == nil {
			return
		}
		for _, l := range logs {
			err = errors.Join(err, l.close())
		}
	}()
	for i, in := range ins {
		l := &recvLog{in: in, index: int32(i), first: math.MaxInt64}
		logs = append(logs, l)
		if in.log.Kind() == format.Parquet {
			continue
		}
		if l.copy, err = newTempLog(in.log.Name(), format.RecvSchema(), opt); err != nil {
			return logs, err
		}
		if err := l.copyRows(); err != nil {
			return logs, err
		}
	}
	return logs, nil
}

func (l *recvLog) copyRows() error {
	a := readAhead(l.in.log, format.BatchRows, &format.Recv{}, &format.Recv{})
	defer a.close()
	for {
		b, err := a.next()
		if errors.Is(err, io.EOF) {
			return l.copy.finish()
		}
		if err == nil {
			err = l.copy.write(b)
		}
		if err != nil {
			return err
		}
	}
}

// size returns the number of rows.
func (l *recvLog) size() int64 {
	if l.copy != nil {
		return l.copy.log.NumRows()
	}
	return l.in.log.NumRows()
}

// begin starts over at the first row. A log has a handle only while it is
// read: page buffers of a thousand logs would be too much.
func (l *recvLog) begin(most int, columns ...string) (err error) {
	l.rows, l.done = 0, false
	l.cache.forget()
	l.at.result = nil
	if l.copy != nil {
		l.handle, err = l.copy.open()
	} else {
		l.handle, err = format.Open(l.in.log.Name())
	}
	if err == nil && len(columns) > 0 {
		err = l.handle.Select(columns...)
	}
	if err != nil {
		return err
	}
	l.reader = readAhead(l.handle, most, &format.Recv{}, &format.Recv{})
	return l.next()
}

func (l *recvLog) end() error {
	if l.reader != nil {
		l.reader.close()
		l.reader = nil
	}
	h := l.handle
	l.handle, l.at.b = nil, nil
	if h == nil {
		return nil
	}
	return h.Close()
}

func (l *recvLog) close() error {
	return errors.Join(l.end(), l.copy.close())
}

// next reads the next batch into at; done says that there was none.
func (l *recvLog) next() error {
	b, err := l.reader.next()
	if errors.Is(err, io.EOF) {
		l.done = true
		return l.end()
	}
	if err != nil {
		return err
	}
	l.at.b, l.at.input, l.at.first = b, l.index, l.rows
	l.rows += int64(b.Len())
	return nil
}

// classify finds out what the rows of the batch are: of which producer, in
// which subscription, of which chunk. other and returned count rows that are no
// deliveries of the run.
func (l *recvLog) classify(j *Joiner) (other, returned int64) {
	in, b := &l.at, l.at.b
	n := b.Len()
	in.lane, in.sub, in.chunk = room(in.lane, n), room(in.sub, n), room(in.chunk, n)
	run := int32(slices.Index(b.Run.Values, j.run))
	released := int32(slices.Index(b.Outcome.Values, format.Released))
	for len(in.result) < len(b.Outcome.Values) {
		in.result = append(in.result, intern(&j.results, b.Outcome.Values[len(in.result)]))
	}
	// Mostly all rows are deliveries of the run, and of one subscription.
	pure := uniform(b.Run.Codes) && b.Run.Codes[0] == run && !slices.Contains(b.Outcome.Codes, released)
	one := pure && uniform(b.Destination.Codes) && uniform(b.Subscription.Codes)
	var destination, subscription, sub int32 = -1, -2, -1
	if one {
		fillWith(in.sub, l.cache.of(j.subs, b, 0))
	}
	found := j.found.lanes
	for i, seq := range b.Seq {
		if !pure {
			if b.Run.Codes[i] != run {
				other++
				in.chunk[i] = -1
				continue
			}
			// What a receiver that stopped gave back untouched is neither an arrival
			// nor, when it comes again, the first of two copies.
			if b.Outcome.Codes[i] == released && b.Started[i] == format.Null {
				returned++
				in.chunk[i] = -1
				continue
			}
		}
		p := found.of(b.Sender[i], b.Producer[i])
		lane := found.list[p]
		in.lane[i] = p
		if !one {
			if b.Destination.Codes[i] != destination || b.Subscription.Codes[i] != subscription {
				destination, subscription = b.Destination.Codes[i], b.Subscription.Codes[i]
				sub = l.cache.of(j.subs, b, i)
			}
			in.sub[i] = sub
		}
		if len(lane.spans) > 0 {
			in.chunk[i] = lane.chunk(seq, b.Attempt[i])
		} else {
			in.chunk[i] = j.orphans.chunk(lane, seq, &j.store)
		}
	}
	return other, returned
}

func room(s []int32, n int) []int32 {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]int32, n)
}

// subCache knows the subscriptions of a log by the codes of its strings.
type subCache struct{ known [][]int32 }

func (c *subCache) forget() { c.known = nil }

func (c *subCache) of(subs *subscriptions, b *format.Recv, i int) int32 {
	d, s := int(b.Destination.Codes[i]), int(b.Subscription.Codes[i])+1
	if d < len(c.known) && s < len(c.known[d]) && c.known[d][s] > 0 {
		return c.known[d][s] - 1
	}
	for d >= len(c.known) {
		c.known = append(c.known, nil)
	}
	for s >= len(c.known[d]) {
		c.known[d] = append(c.known[d], 0)
	}
	sub := subs.of(b, i)
	c.known[d][s] = sub + 1
	return sub
}

// orphans divides messages of producers that no send log has into chunks, by
// blocks of producers and of seq.
type orphans struct {
	blocks map[orphanBlock]int32
	rest   int32 // the first of the chunks for blocks beyond count; 0: none
}

type orphanBlock struct {
	sender, producers int32
	seq               int64
}

const (
	blockShift = 10      // messages of a producer in a block
	laneShift  = 6       // producers in a block
	maxBlocks  = 1 << 18 // what comes after is divided by a hash
	restChunks = 1 << 10
)

func (o *orphans) chunk(l *lane, seq int64, s *store) int32 {
	block := seq >> blockShift
	if l.block == block && l.blockKnown {
		return l.orphans
	}
	l.block, l.blockKnown = block, true
	l.orphans = o.find(orphanBlock{l.key.sender, l.key.producer >> laneShift, block}, s)
	return l.orphans
}

func (o *orphans) find(b orphanBlock, s *store) int32 {
	if n, ok := o.blocks[b]; ok {
		return n
	}
	if len(o.blocks) < maxBlocks {
		n := s.addChunk(b.seq)
		o.blocks[b] = n
		return n
	}
	if o.rest == 0 {
		o.rest = s.addChunk(noOrder)
		for range restChunks - 1 {
			s.addChunk(noOrder)
		}
	}
	h := uint64(b.seq)*0x9E3779B97F4A7C15 + uint64(b.producers)*0xC2B2AE3D27D4EB4F + uint64(b.sender)*0x165667B19E3779F9
	return o.rest + int32(h>>54)
}

func (s *store) addChunk(order int64) int32 {
	s.chunks = append(s.chunks, chunk{order: order})
	return int32(len(s.chunks) - 1)
}
