package reduce

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"

	"amqpperf/format"
)

// instants is a batch of merged/1 of the columns that are added up, without the others.
type instants struct {
	schema                          *format.Schema
	columns                         []any
	intended, sent, acked, received []int64
	copies                          []int32
	left                            [3][]int64 // of odd rows
}

func newInstants() *instants {
	b := &instants{schema: format.MergedSchema()}
	for _, c := range b.schema.Columns {
		switch c.Name {
		case "intended":
			b.columns = append(b.columns, &b.intended)
		case "sent":
			b.columns = append(b.columns, &b.sent)
		case "acked":
			b.columns = append(b.columns, &b.acked)
		case "received":
			b.columns = append(b.columns, &b.received)
		case "copy":
			b.columns = append(b.columns, &b.copies)
		default:
			b.columns = append(b.columns, nil)
		}
	}
	return b
}

func (b *instants) Schema() *format.Schema { return b.schema }
func (b *instants) Columns() []any         { return b.columns }
func (b *instants) Len() int               { return len(b.intended) }

// eachInstants shows some columns of the log that PERF_LOG names, whose memory
// is used again. Whoever wants two cores busy calls it twice.
func eachInstants(b *testing.B, use func(*instants), columns ...string) {
	log, err := format.Open(os.Getenv("PERF_LOG"))
	if err != nil {
		b.Error(err)
		return
	}
	defer func() {
		if err := log.Close(); err != nil {
			b.Error(err)
		}
	}()
	if err := log.Select(columns...); err != nil {
		b.Error(err)
		return
	}
	for rows := newInstants(); ; use(rows) {
		if err := log.ReadRows(rows, 1<<12); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Error(err)
			return
		}
	}
}

// all reports whether no row of two columns is NULL and all rows are first arrivals.
func all(copies []int32, x, y []int64) bool {
	y = y[:len(x)]
	signs := int64(0)
	for i, at := range x {
		signs |= at | y[i]
	}
	return signs >= 0 && first(copies) // NULL is the smallest number
}

// first reports whether all rows are first arrivals.
func first(copies []int32) bool {
	odd := int32(0)
	for _, n := range copies {
		odd |= n
	}
	return odd == 0
}

// oddRows is how many rows are looked at one by one when one of them is odd.
const oddRows = 256

// eachPart cuts rows into parts that can be looked at as a whole, and others.
func eachPart(n int, whole func(from, to int) bool, row func(i int)) {
	for from := 0; from < n; from += oddRows {
		to := min(from+oddRows, n)
		if !whole(from, to) {
			for i := from; i < to; i++ {
				row(i)
			}
		}
	}
}

// found writes what a benchmark found to the file that PERF_FOUND names, so that
// it can be compared with what a data base found.
func found(b *testing.B, what any) {
	name := os.Getenv("PERF_FOUND")
	if name == "" {
		return
	}
	text, err := json.Marshal(what)
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}
