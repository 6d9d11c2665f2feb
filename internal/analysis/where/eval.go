package where

import (
	"cmp"
	"math"
	"slices"

	"amqpperf/format"
)

// Predicate is an expression ready for use on batches. It keeps memory of its
// own between batches and is not safe for concurrent use.
type Predicate struct {
	src   string
	root  node
	reads []string
	mask  []bool
}

// Columns returns the names of the columns of merged/1 that the expression
// reads, sorted.
func (p *Predicate) Columns() []string { return slices.Clone(p.reads) }

// Mask returns for every row whether it is chosen. The slice is used again by
// the next call. It works column by column: a string is compared once for each
// value of the batch's dictionary, and rows compare codes.
func (p *Predicate) Mask(b *format.Merged) []bool {
	p.mask = resize(p.mask, b.Len())
	p.root.eval(b, p.mask)
	return p.mask
}

// Keep removes the rows from b that are not chosen.
func (p *Predicate) Keep(b *format.Merged) { compact(b, p.Mask(b)) }

func resize[T any](s []T, n int) []T {
	return slices.Grow(s[:0], n)[:n]
}

// node writes its truth for every row.
type node interface {
	eval(b *format.Merged, out []bool)
}

type orNode struct {
	left, right node
	scratch     []bool
}

func (n *orNode) eval(b *format.Merged, out []bool) {
	n.scratch = resize(n.scratch, len(out))
	n.left.eval(b, out)
	n.right.eval(b, n.scratch)
	for i, v := range n.scratch {
		out[i] = out[i] || v
	}
}

type andNode struct {
	left, right node
	scratch     []bool
}

func (n *andNode) eval(b *format.Merged, out []bool) {
	n.scratch = resize(n.scratch, len(out))
	n.left.eval(b, out)
	n.right.eval(b, n.scratch)
	for i, v := range n.scratch {
		out[i] = out[i] && v
	}
}

type notNode struct{ of node }

func (n *notNode) eval(b *format.Merged, out []bool) {
	n.of.eval(b, out)
	for i, v := range out {
		out[i] = !v
	}
}

type op int

const (
	opEqual op = iota
	opUnequal
	opLess
	opAtMost
	opMore
	opAtLeast
)

func opOf(s string) op { return op(slices.Index(comparisons(), s)) }

// numberNode compares a column with a value or with another column.
type numberNode struct {
	left, right *column // right may be nil
	value       int64
	op          op
	a, b        []int64
}

func (n *numberNode) eval(b *format.Merged, out []bool) {
	n.a = resize(n.a, len(out))
	n.left.load(b, n.a)
	if n.right == nil {
		n.within(out)
		return
	}
	n.b = resize(n.b, len(out))
	n.right.load(b, n.b)
	for i, x := range n.a {
		y := n.b[i]
		c := cmp.Compare(x, y)
		out[i] = x != format.Null && y != format.Null && n.op.holds(c)
	}
}

// within compares with a value: every comparison but != asks for a range, which
// never has the smallest integer in it, and that is NULL.
func (n *numberNode) within(out []bool) {
	lo, hi := format.Null+1, int64(math.MaxInt64)
	switch v := n.value; {
	case n.op == opUnequal:
		for i, x := range n.a {
			out[i] = x != v && x != format.Null
		}
		return
	case n.op == opEqual:
		lo, hi = max(lo, v), v
	case n.op == opAtMost:
		hi = v
	case n.op == opAtLeast:
		lo = max(lo, v)
	case n.op == opLess && v == math.MinInt64, n.op == opMore && v == math.MaxInt64:
		clear(out)
		return
	case n.op == opLess:
		hi = v - 1
	case n.op == opMore:
		lo = v + 1
	}
	for i, x := range n.a {
		out[i] = x >= lo && x <= hi
	}
}

// holds reports whether the operator allows the outcome of a comparison.
func (o op) holds(c int) bool {
	switch o {
	case opEqual:
		return c == 0
	case opUnequal:
		return c != 0
	case opLess:
		return c < 0
	case opAtMost:
		return c <= 0
	case opMore:
		return c > 0
	}
	return c >= 0
}

// stringNode compares a string with a value.
type stringNode struct {
	column *column
	value  string
	equal  bool
	codes  []bool // truth by code
}

func (n *stringNode) eval(b *format.Merged, out []bool) {
	s := n.column.strings(b)
	n.codes = n.codes[:0]
	for _, v := range s.Values {
		n.codes = append(n.codes, (v == n.value) == n.equal)
	}
	for i, c := range s.Codes[:len(out)] {
		out[i] = c >= 0 && n.codes[c]
	}
}

// sameStringNode compares two string columns.
type sameStringNode struct {
	left, right *column
	equal       bool
}

func (n *sameStringNode) eval(b *format.Merged, out []bool) {
	l, r := n.left.strings(b), n.right.strings(b)
	for i := range out {
		x, ok := l.At(i)
		y, too := r.At(i)
		out[i] = ok && too && (x == y) == n.equal
	}
}

type boolNode struct {
	column *column
	want   bool
}

func (n *boolNode) eval(b *format.Merged, out []bool) {
	for i, v := range n.column.bools(b)[:len(out)] {
		out[i] = v == n.want
	}
}

type sameBoolNode struct {
	left, right *column
	equal       bool
}

func (n *sameBoolNode) eval(b *format.Merged, out []bool) {
	r := n.right.bools(b)
	for i, v := range n.left.bools(b)[:len(out)] {
		out[i] = (v == r[i]) == n.equal
	}
}

type nullNode struct {
	column *column
	values []int64
}

func (n *nullNode) eval(b *format.Merged, out []bool) {
	switch n.column.kind {
	case kindBool:
		clear(out)
	case kindString:
		for i, c := range n.column.strings(b).Codes[:len(out)] {
			out[i] = c < 0
		}
	default:
		n.values = resize(n.values, len(out))
		n.column.load(b, n.values)
		for i, v := range n.values {
			out[i] = v == format.Null
		}
	}
}

// compact removes the rows from b whose mask is false.
func compact(b *format.Merged, mask []bool) {
	all := true
	for _, keep := range mask {
		all = all && keep
	}
	if all {
		return
	}
	for _, c := range b.Columns() {
		switch c := c.(type) {
		case *[]int32:
			*c = squeeze(*c, mask)
		case *[]int64:
			*c = squeeze(*c, mask)
		case *[]bool:
			*c = squeeze(*c, mask)
		case *format.Strings:
			c.Codes = squeeze(c.Codes, mask)
		}
	}
}

func squeeze[T any](s []T, mask []bool) []T {
	n := 0
	for i, v := range s {
		if mask[i] {
			s[n] = v
			n++
		}
	}
	return s[:n]
}
