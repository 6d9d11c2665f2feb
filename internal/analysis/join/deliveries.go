package join

import "amqpperf/format"

// deliveries are rows of the receive logs, in memory. The instants are as
// logged, on the clocks of their processes.
type deliveries struct {
	seq, intended, sent, brokerIn, received, started, settled, row []int64
	lane, attempt, receiver, consumer, sub, outcome, size          []int32
	deliveryCount, connection, input                               []int32
}

// deliveryBytes is the memory of a row: eight columns of 8 and ten of 4 bytes.
const deliveryBytes = 8*8 + 10*4

func (d *deliveries) wide() []*[]int64 {
	return []*[]int64{&d.seq, &d.intended, &d.sent, &d.brokerIn, &d.received, &d.started, &d.settled, &d.row}
}

func (d *deliveries) narrow() []*[]int32 {
	return []*[]int32{&d.lane, &d.attempt, &d.receiver, &d.consumer, &d.sub, &d.outcome, &d.size, &d.deliveryCount, &d.connection, &d.input}
}

func (d *deliveries) len() int { return len(d.seq) }

// bytes is the memory that the rows have room for.
func (d *deliveries) bytes() int64 { return int64(cap(d.seq)) * deliveryBytes }

// grow makes room for n more rows, in steps that double it up to most rows.
func (d *deliveries) grow(n, most int) {
	need := d.len() + n
	if need <= cap(d.seq) {
		return
	}
	room := max(min(max(2*cap(d.seq), 1024), most), need)
	for _, c := range d.wide() {
		*c = append(make([]int64, 0, room), *c...)
	}
	for _, c := range d.narrow() {
		*c = append(make([]int32, 0, room), *c...)
	}
}

func (d *deliveries) empty() {
	for _, c := range d.wide() {
		*c = (*c)[:0]
	}
	for _, c := range d.narrow() {
		*c = (*c)[:0]
	}
}

// incoming is a batch of a receive log with what the join knows of its rows.
type incoming struct {
	b      *format.Recv
	input  int32
	first  int64   // number of the first row in its log
	lane   []int32 // by row
	sub    []int32
	chunk  []int32 // −1: the row is no delivery of the run
	result []int32 // outcomes by code of the batch
}

// take appends rows of a batch. There must be room.
func (d *deliveries) take(in *incoming, t *touched) {
	b, before := in.b, d.len()
	d.seq = pick(d.seq, b.Seq, t)
	d.intended = pick(d.intended, b.Intended, t)
	d.sent = pick(d.sent, b.Sent, t)
	d.brokerIn = pick(d.brokerIn, b.BrokerIn, t)
	d.received = pick(d.received, b.Received, t)
	d.started = pick(d.started, b.Started, t)
	d.settled = pick(d.settled, b.Settled, t)
	d.lane = pick(d.lane, in.lane, t)
	d.attempt = pick(d.attempt, b.Attempt, t)
	d.receiver = pick(d.receiver, b.Receiver, t)
	d.consumer = pick(d.consumer, b.Consumer, t)
	d.sub = pick(d.sub, in.sub, t)
	d.size = pick(d.size, b.Size, t)
	d.deliveryCount = pick(d.deliveryCount, b.DeliveryCount, t)
	d.connection = pick(d.connection, b.Connection, t)
	d.outcome = pick(d.outcome, b.Outcome.Codes, t)
	for k, c := range d.outcome[before:] {
		d.outcome[before+k] = in.result[c]
	}
	d.input, d.row = d.input[:d.len()], d.row[:d.len()]
	fillWith(d.input[before:], in.input)
	rows := d.row[before:]
	for _, s := range t.in {
		for i := s.from; i < s.to; i++ {
			rows[i-s.from] = in.first + int64(i)
		}
		rows = rows[s.to-s.from:]
	}
}

// pick appends the values of some rows.
func pick[T int32 | int64](dst, src []T, t *touched) []T {
	n := len(dst)
	dst = dst[:n+t.rows]
	out := dst[n:]
	for _, s := range t.in {
		if s.to-s.from == 1 { // what is interleaved comes row by row
			out[0] = src[s.from]
			out = out[1:]
			continue
		}
		out = out[copy(out, src[s.from:s.to]):]
	}
	return dst
}

// appendAll appends the rows of another; there must be room.
func (d *deliveries) appendAll(o *deliveries) {
	to, from := d.wide(), o.wide()
	for i := range to {
		*to[i] = append(*to[i], *from[i]...)
	}
	to32, from32 := d.narrow(), o.narrow()
	for i := range to32 {
		*to32[i] = append(*to32[i], *from32[i]...)
	}
}
