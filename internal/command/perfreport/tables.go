package perfreport

import (
	"amqpperf/format"
)

// Table fills b with a side table of all logs, one after the other.
func (m *mergedLogs) Table(b format.Batch) error {
	if len(m.logs) == 1 {
		return rename(m.logs[0].Table(b), m.names[0].path, m.names[0].name)
	}
	for i, log := range m.logs {
		part := emptyLike(b)
		if part == nil {
			return nil
		}
		if err := log.Table(part); err != nil {
			return rename(err, m.names[i].path, m.names[i].name)
		}
		appendRows(b, part)
	}
	return nil
}

func emptyLike(b format.Batch) format.Batch {
	switch b.(type) {
	case *format.Event:
		return &format.Event{}
	case *format.Sample:
		return &format.Sample{}
	case *format.ClockRow:
		return &format.ClockRow{}
	}
	return nil
}

// appendRows appends the rows of a batch to one of the same kind.
func appendRows(to, from format.Batch) {
	into := to.Columns()
	for i, c := range from.Columns() {
		switch c := c.(type) {
		case *[]int32:
			dst := into[i].(*[]int32)
			*dst = append(*dst, *c...)
		case *[]int64:
			dst := into[i].(*[]int64)
			*dst = append(*dst, *c...)
		case *[]bool:
			dst := into[i].(*[]bool)
			*dst = append(*dst, *c...)
		case *format.Strings:
			appendStrings(into[i].(*format.Strings), c)
		}
	}
}

// appendStrings appends codes into a dictionary of its own.
func appendStrings(to, from *format.Strings) {
	shift := int32(len(to.Values))
	to.Values = append(to.Values, from.Values...)
	for _, c := range from.Codes {
		if c >= 0 {
			c += shift
		}
		to.Codes = append(to.Codes, c)
	}
}
