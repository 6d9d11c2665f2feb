package where

import (
	"encoding/json"
	"errors"
	"io"
	"math"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
)

// Filter returns the rows of r that p chooses; nil chooses all. Its metadata
// says that it is a part, see reduce.Accounting.
func Filter(r reduce.Rows, p *Predicate) reduce.Rows {
	if p == nil {
		return r
	}
	return &filtered{rows: r, p: p}
}

// filtered also knows the first intended instant of all rows, chosen or not: what
// counts from the start of the run does not move with the selection.
type filtered struct {
	rows  reduce.Rows
	p     *Predicate
	first int64
	known bool
}

// Next implements reduce.Rows; batches without a chosen row are skipped.
func (f *filtered) Next(b *format.Merged) error {
	for {
		if err := f.rows.Next(b); err != nil {
			return err
		}
		f.p.Keep(b)
		if b.Len() > 0 {
			return nil
		}
	}
}

// Rewind implements reduce.Rows.
func (f *filtered) Rewind() error { return f.rows.Rewind() }

// Meta implements reduce.Rows.
func (f *filtered) Meta() format.Meta { return part(f.rows.Meta()) }

// Table implements reduce.Tabler.
func (f *filtered) Table(b format.Batch) error { return sideTable(f.rows, b) }

// sideTable hands on what the rows have; nothing if they have none.
func sideTable(rows reduce.Rows, b format.Batch) error {
	if t, ok := rows.(reduce.Tabler); ok {
		return t.Table(b)
	}
	return nil
}

// FirstIntended implements reduce.Spanner.
func (f *filtered) FirstIntended() (int64, bool) {
	if f.known {
		return f.first, true
	}
	at, ok, err := firstIntended(f.rows)
	if err != nil || !ok {
		return 0, false
	}
	f.first, f.known = at, true
	return at, true
}

// firstIntended finds the first intended instant; it leaves rows at their start.
func firstIntended(rows reduce.Rows) (first int64, ok bool, err error) {
	if s, can := rows.(reduce.Spanner); can {
		if first, ok = s.FirstIntended(); ok {
			return first, true, nil
		}
	}
	first = math.MaxInt64
	err = each(rows, func(b *format.Merged) error {
		for _, at := range b.Intended {
			first = min(first, at)
		}
		return nil
	})
	return first, first != math.MaxInt64, err
}

// each calls use for all batches and goes back to the first row.
func each(rows reduce.Rows, use func(*format.Merged) error) error {
	var b format.Merged
	for {
		err := rows.Next(&b)
		if errors.Is(err, io.EOF) {
			return rows.Rewind()
		}
		if err == nil {
			err = use(&b)
		}
		if err != nil {
			return err
		}
	}
}

// part returns a copy that marks the accounting as that of more than these rows.
func part(meta format.Meta) format.Meta {
	out := meta.Clone()
	var acc map[string]json.RawMessage
	if ok, err := meta.JSON(format.KeyAccounting, &acc); !ok || err != nil || acc == nil {
		return out // what is wrong with it is said by who reads it
	}
	acc["part"] = json.RawMessage("true")
	_ = out.SetJSON(format.KeyAccounting, acc) // it has been JSON before
	return out
}
