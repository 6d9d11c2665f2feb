package format

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// Foreign is a table of numbers that some other program wrote as Parquet.
type Foreign struct {
	// At are the instants of the rows, in ns since the Unix epoch, in the order of the file.
	At []int64
	// Numbers has the columns that were asked for, each as long as At, NaN for NULL; nil
	// for a column that the file does not have.
	Numbers [][]float64
}

// ReadForeign reads an instant and numbers from a Parquet file of whatever schema. The
// instant is a timestamp of any unit, or a number: ns since the Unix epoch from 10¹⁷ on,
// seconds below. Numbers are integers or floating-point. Columns are flat and found by
// their names; others are not read. A file of more than most rows is refused. Errors
// name the column.
func ReadForeign(name, instant string, numbers []string, most int64) (t *Foreign, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			t, err = nil, fmt.Errorf("%s: %w", name, err)
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readForeign(f, info.Size(), instant, numbers, most)
}

func readForeign(r io.ReaderAt, size int64, instant string, numbers []string, most int64) (t *Foreign, err error) {
	defer recoverTo(&err)
	s, err := openForeign(r, size, append([]string{instant}, numbers...))
	switch {
	case err != nil:
		return nil, err
	case s.inFile[0] < 0:
		return nil, fmt.Errorf("no column %s", instant)
	case s.m.rows > most:
		return nil, fmt.Errorf("more than %d rows", most)
	}
	t = &Foreign{Numbers: make([][]float64, len(numbers))}
	b := &foreignBatch{schema: s.def}
	b.columns = make([]any, len(s.def.Columns))
	for i, c := range s.def.Columns {
		if b.columns[i] = any(&[]int64{}); c.Type == Int32 {
			b.columns[i] = &[]int32{}
		}
	}
	for {
		err := s.read(b)
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		if err := t.add(s, b); err != nil {
			return nil, err
		}
	}
}

// foreignBatch has columns of numbers as they stand in the file: floating-point ones by
// their bits.
type foreignBatch struct {
	schema  *Schema
	columns []any
}

func (b *foreignBatch) Schema() *Schema { return b.schema }
func (b *foreignBatch) Columns() []any  { return b.columns }

func (b *foreignBatch) Len() int {
	if v, ok := b.columns[0].(*[]int64); ok {
		return len(*v)
	}
	return len(*b.columns[0].(*[]int32))
}

// openForeign opens columns of whatever type; those that are not there have no place in
// inFile.
func openForeign(r io.ReaderAt, size int64, columns []string) (*parquetSource, error) {
	return openColumns(r, size, func(s *parquetSource, m *fileMeta) ([]int, error) {
		s.def = &Schema{Name: "foreign"}
		return s.chooseForeign(m, columns)
	})
}

// chooseForeign is choose for columns of numbers. The bits of a floating-point number
// are read as those of an integer of the same width, whose encodings are the same.
func (s *parquetSource) chooseForeign(m *fileMeta, columns []string) (keep []int, err error) {
	for i, name := range columns {
		s.inFile = append(s.inFile, -1)
		c := Column{Name: name, Type: Int64, Nullable: true}
		at := slices.IndexFunc(m.columns, func(f fileColumn) bool { return f.name == name })
		if at >= 0 {
			f := m.columns[at]
			if f.phys == physInt32 || f.phys == physFloat {
				c.Type = Int32
			}
			if err := fitsForeign(f, i == 0); err != nil {
				return nil, fmt.Errorf("column %s: %w", name, err)
			}
			s.inFile[i] = len(keep)
			s.fileCols, s.present, keep = append(s.fileCols, f), append(s.present, name), append(keep, f.leaf)
		}
		s.def.Columns = append(s.def.Columns, c)
	}
	return keep, nil
}

// fitsForeign reports why a column is not one of instants, or of numbers.
func fitsForeign(f fileColumn, instants bool) error {
	if err := single(f); err != nil {
		return err
	}
	ok := f.phys == physInt32 || f.phys == physInt64 || f.phys == physFloat || f.phys == physDouble
	switch f.kind {
	case "", "INTEGER", "UNSIGNED INTEGER":
	default:
		ok = ok && instants && foreignUnits()[f.kind] > 0
	}
	if ok {
		return nil
	}
	wanted := "a number"
	if instants {
		wanted = "a timestamp or a number"
	}
	return fmt.Errorf("its type is %s, wanted is %s", fileType(f), wanted)
}

// foreignUnits are the ns of the units of timestamps.
func foreignUnits() map[string]int64 {
	return map[string]int64{"TIMESTAMP(NANOS)": 1, "TIMESTAMP(MICROS)": 1_000, "TIMESTAMP(MILLIS)": 1_000_000}
}

// add appends the rows of a batch.
func (t *Foreign) add(s *parquetSource, b *foreignBatch) error {
	for i, col := range b.columns {
		if s.inFile[i] < 0 {
			continue
		}
		f := s.fileCols[s.inFile[i]]
		for row := range b.Len() {
			n, v := foreignValue(f.phys, col, row)
			if i > 0 {
				t.Numbers[i-1] = append(t.Numbers[i-1], v)
				continue
			}
			at, err := foreignInstant(n, v, foreignUnits()[f.kind])
			if err != nil {
				return fmt.Errorf("column %s, row %d: %w", f.name, len(t.At), err)
			}
			t.At = append(t.At, at)
		}
	}
	return nil
}

// foreignValue returns a value as an integer, Null if it is none, and as a number, NaN if NULL.
func foreignValue(phys int32, col any, row int) (n int64, v float64) {
	n = Null
	switch c := col.(type) {
	case *[]int64:
		n = (*c)[row]
	case *[]int32:
		if (*c)[row] != Null32 {
			n = int64((*c)[row])
		}
	}
	switch {
	case n == Null:
		return n, math.NaN()
	case phys == physDouble:
		return Null, math.Float64frombits(uint64(n))
	case phys == physFloat:
		return Null, float64(math.Float32frombits(uint32(n)))
	}
	return n, float64(n)
}

// foreignInstant makes ns since the Unix epoch of a value; unit is 0 for a plain number.
func foreignInstant(n int64, v float64, unit int64) (int64, error) {
	const second, nanoseconds = 1e9, 1e17 // from there on a plain number is ns
	switch {
	case math.IsNaN(v):
		return 0, errors.New("NULL")
	case unit > 0 && n > 0 && n <= math.MaxInt64/unit:
		return n * unit, nil
	case unit == 0 && n >= nanoseconds:
		return n, nil
	case unit == 0 && v > 0 && v < math.MaxInt64/second:
		return int64(v * second), nil
	}
	return 0, fmt.Errorf("%v is not an instant after 1970", v)
}
