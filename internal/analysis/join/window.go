package join

import (
	"math"

	"amqpperf/format"
)

// clip keeps the rows that Options.From and To select.
func (j *Joiner) clip(b *format.Merged) {
	if !j.opt.windowed() || b.Len() == 0 {
		return
	}
	from, to := j.found.first+int64(j.opt.From), int64(math.MaxInt64)
	if j.opt.To > 0 {
		to = j.found.first + int64(j.opt.To)
	}
	j.kept = j.kept[:0]
	for i, at := range b.Intended {
		if at >= from && at < to {
			j.kept = append(j.kept, int32(i))
		}
	}
	if len(j.kept) == b.Len() {
		return
	}
	for _, column := range b.Columns() {
		switch c := column.(type) {
		case *[]int32:
			*c = keep(*c, j.kept)
		case *[]int64:
			*c = keep(*c, j.kept)
		case *[]bool:
			*c = keep(*c, j.kept)
		case *format.Strings:
			c.Codes = keep(c.Codes, j.kept)
		}
	}
}

// keep moves the values of some rows, ascending, to the front.
func keep[T any](s []T, rows []int32) []T {
	for k, i := range rows {
		s[k] = s[i]
	}
	return s[:len(rows)]
}
