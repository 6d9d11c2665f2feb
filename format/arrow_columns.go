package format

import "slices"

// gatherer appends rows of batches to one batch, translating string codes.
// Unlike a log, what it gathers keeps strings whole and uncounted.
type gatherer struct {
	dst   Batch
	cols  []any
	dicts []*codebook
}

func newGatherer(dst Batch) *gatherer {
	g := &gatherer{dst: dst, cols: dst.Columns()}
	g.dicts = make([]*codebook, len(g.cols))
	for i, c := range g.cols {
		if s, ok := c.(*Strings); ok {
			g.dicts[i] = newCodebook(false)
			g.dicts[i].adopt(s.Values)
		}
	}
	return g
}

// add appends the rows [from, to) of src, a batch of the same schema.
func (g *gatherer) add(src Batch, from, to int) {
	for i, c := range src.Columns() {
		switch s := c.(type) {
		case *[]int32:
			d := g.cols[i].(*[]int32)
			*d = append(*d, (*s)[from:to]...)
		case *[]int64:
			d := g.cols[i].(*[]int64)
			*d = append(*d, (*s)[from:to]...)
		case *[]bool:
			d := g.cols[i].(*[]bool)
			*d = append(*d, (*s)[from:to]...)
		case *Strings:
			d := g.cols[i].(*Strings)
			d.Codes = append(d.Codes, g.dicts[i].codes(&Strings{Values: s.Values, Codes: s.Codes[from:to]})...)
			d.Values = g.dicts[i].values
		}
	}
}

// pick appends the rows of src that index names, in its order.
func (g *gatherer) pick(src Batch, index []int32) {
	for i, c := range src.Columns() {
		switch s := c.(type) {
		case *[]int32:
			pick(g.cols[i].(*[]int32), *s, index)
		case *[]int64:
			pick(g.cols[i].(*[]int64), *s, index)
		case *[]bool:
			pick(g.cols[i].(*[]bool), *s, index)
		case *Strings:
			d := g.cols[i].(*Strings)
			if g.dicts[i].adopt(s.Values) {
				pick(&d.Codes, s.Codes, index)
			} else {
				pick(&d.Codes, g.dicts[i].codes(s), index)
			}
			d.Values = g.dicts[i].values
		}
	}
}

func pick[T any](dst *[]T, src []T, index []int32) {
	n := len(*dst)
	d := slices.Grow(*dst, len(index))[:n+len(index)]
	out := d[n:]
	for j, i := range index {
		out[j] = src[i]
	}
	*dst = d
}

// reset empties the batch and keeps its memory and dictionaries.
func (g *gatherer) reset() { truncateBatch(g.dst) }

// truncateBatch empties a batch; dictionaries keep their values.
func truncateBatch(b Batch) {
	for _, c := range b.Columns() {
		switch d := c.(type) {
		case *[]int32:
			*d = (*d)[:0]
		case *[]int64:
			*d = (*d)[:0]
		case *[]bool:
			*d = (*d)[:0]
		case *Strings:
			d.Codes = d.Codes[:0]
		}
	}
}

// newBatch returns an empty batch of a schema of ours, nil for any other.
func newBatch(schema string) Batch {
	switch schema {
	case "send/1":
		return &Send{}
	case "recv/1":
		return &Recv{}
	case "merged/1":
		return &Merged{}
	case "event/1":
		return &Event{}
	case "sample/1":
		return &Sample{}
	case "clock/1":
		return &ClockRow{}
	case "meta/1":
		return &metaRows{}
	}
	return nil
}

// metaRows is a batch of meta/1.
type metaRows struct{ Key, Value Strings }

// Schema implements Batch.
func (b *metaRows) Schema() *Schema { return MetaSchema() }

// Len implements Batch.
func (b *metaRows) Len() int { return len(b.Key.Codes) }

// Columns implements Batch.
func (b *metaRows) Columns() []any { return []any{&b.Key, &b.Value} }

// add appends one row.
func (b *metaRows) add(key, value string) {
	b.Key.Codes = append(b.Key.Codes, int32(len(b.Key.Values)))
	b.Key.Values = append(b.Key.Values, key)
	b.Value.Codes = append(b.Value.Codes, int32(len(b.Value.Values)))
	b.Value.Values = append(b.Value.Values, value)
}

// emptyColumns returns columns without rows for any schema.
func emptyColumns(s *Schema) []any {
	cols := make([]any, len(s.Columns))
	for i, c := range s.Columns {
		switch c.Type {
		case Int32:
			cols[i] = new([]int32)
		case Int64:
			cols[i] = new([]int64)
		case Bool:
			cols[i] = new([]bool)
		case String:
			cols[i] = new(Strings)
		}
	}
	return cols
}
