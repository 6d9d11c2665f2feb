package reduce

import (
	"slices"

	"amqpperf/format"
)

// chunkRows is how many rows are looked at together. Most chunks of most runs
// are plain: their columns are added up without a look at single rows.
const chunkRows = 1024

// chunk is a stretch of rows of a batch.
type chunk struct {
	from, to int // rows
	// plain: all rows are first attempts that were accepted and arrived, with all
	// their instants.
	plain       bool
	first, last int64 // intended
}

// divide finds the chunks of a batch.
func (v *view) divide(size int) {
	v.chunks = v.chunks[:0]
	accepted := int32(-2) // no code
	for code, o := range v.outcomes {
		if o == Accepted {
			accepted = int32(code)
			break
		}
	}
	for from := 0; from < v.Len(); from += size {
		v.divideRows(from, min(from+size, v.Len()), accepted)
	}
}

// leastRows is how many rows are not divided any further.
const leastRows = 32

// divideRows makes chunks of rows: of those among which some are not plain, the
// halves are looked at.
func (v *view) divideRows(from, to int, accepted int32) {
	c := chunk{from: from, to: to, plain: v.plain(from, to, accepted)}
	if half := (to - from) / 2; !c.plain && half >= leastRows {
		v.divideRows(from, from+half, accepted)
		v.divideRows(from+half, to, accepted)
		return
	}
	c.first, c.last = extremes(v.Intended[from:to])
	v.chunks = append(v.chunks, c)
}

// plain reports whether all of the rows are.
func (v *view) plain(from, to int, accepted int32) bool {
	for _, flag := range v.Primary[from:to] {
		if !flag {
			return false
		}
	}
	for _, code := range v.Outcome.Codes[from:to] {
		if code != accepted {
			return false
		}
	}
	odd := int32(0)
	for _, n := range v.Attempt[from:to] {
		odd |= n
	}
	for _, n := range v.Copy[from:to] {
		odd |= n
	}
	if odd != 0 {
		return false
	}
	return v.allInstants(from, to)
}

// allInstants reports whether no row has NULL for an instant. It is the smallest
// number: where none is negative it need not be looked for.
func (v *view) allInstants(from, to int) bool {
	ready, sent, acked := v.Ready[from:to], v.Sent[from:to], v.Acked[from:to]
	received, started, settled := v.Received[from:to], v.Started[from:to], v.Settled[from:to]
	signs := int64(0)
	for i, at := range ready {
		signs |= at | sent[i] | acked[i] | received[i] | started[i] | settled[i]
	}
	if signs >= 0 {
		return true
	}
	for _, column := range [][]int64{ready, sent, acked, received, started, settled} {
		if slices.Contains(column, format.Null) {
			return false
		}
	}
	return true
}

// selects reports whether all rows of a chunk are selected.
func (w window) selectsAll(c chunk) bool {
	return c.first >= w.warm && c.first >= w.from && c.last < w.to
}

// eachRow calls row for the rows of all chunks, but for those of plain and
// selected chunks that are taken as a whole.
func (r *reducer) eachRow(v *view, whole func(c chunk), row func(i int)) {
	for _, c := range v.chunks {
		if c.plain && r.win.selectsAll(c) && !r.opt.byRow {
			whole(c)
			continue
		}
		for i := c.from; i < c.to; i++ {
			row(i)
		}
	}
}

// runs calls f for each run of equal numbers among rows.
func runs[T comparable](column []T, from, to int, f func(from, to int)) {
	for i := from; i < to; {
		k := i + 1
		for k < to && column[k] == column[i] {
			k++
		}
		f(i, k)
		i = k
	}
}

// extremes are the smallest and the largest of a column's rows; there must be one.
func extremes(column []int64) (lowest, highest int64) {
	lowest, highest = column[0], column[0]
	l, h := lowest, highest
	for ; len(column) >= 2; column = column[2:] { // two at a time depend less on one another
		lowest, highest = min(lowest, column[0]), max(highest, column[0])
		l, h = min(l, column[1]), max(h, column[1])
	}
	for _, v := range column {
		l, h = min(l, v), max(h, v)
	}
	return min(lowest, l), max(highest, h)
}
