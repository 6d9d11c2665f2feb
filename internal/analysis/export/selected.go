package export

import (
	"fmt"
	"strings"

	"amqpperf/format"
)

// SelectedName is the schema name of a log of some columns. Our own readers
// refuse it: they could not know what is missing.
const SelectedName = "selected/1"

// Selection is some columns of a schema, in an order of their own.
type Selection struct {
	schema *format.Schema
	from   []int // columns of the source
}

// Select chooses columns by name.
func Select(s *format.Schema, names []string) (*Selection, error) {
	sel := &Selection{schema: &format.Schema{Name: SelectedName}}
	for _, name := range names {
		at, known := -1, make([]string, len(s.Columns))
		for i, c := range s.Columns {
			if known[i] = c.Name; c.Name == name {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("no column %q; there are %s", name, strings.Join(known, ", "))
		}
		for _, i := range sel.from {
			if i == at {
				return nil, fmt.Errorf("column %s twice", name)
			}
		}
		sel.from = append(sel.from, at)
		sel.schema.Columns = append(sel.schema.Columns, s.Columns[at])
	}
	return sel, nil
}

// Schema returns the schema of the selection.
func (s *Selection) Schema() *format.Schema { return s.schema }

// Of returns the selected columns of a batch; they share its memory.
func (s *Selection) Of(b format.Batch) format.Batch {
	columns := b.Columns()
	out := &selected{schema: s.schema, of: b}
	for _, i := range s.from {
		out.columns = append(out.columns, columns[i])
	}
	return out
}

type selected struct {
	schema  *format.Schema
	columns []any
	of      format.Batch
}

// Schema implements format.Batch.
func (s *selected) Schema() *format.Schema { return s.schema }

// Columns implements format.Batch.
func (s *selected) Columns() []any { return s.columns }

// Len implements format.Batch.
func (s *selected) Len() int { return s.of.Len() }
