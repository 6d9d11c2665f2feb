package format

import (
	"errors"
	"fmt"
	"math"
)

// parseGroups reads the row groups and keeps the chunks of the leaves in keep.
func (m *fileMeta) parseGroups(r *thriftReader, keep []int) {
	n := r.list(tStruct)
	if n > math.MaxInt16 || n*max(len(keep), 1) > maxChunks {
		r.fail(fmt.Errorf("%d row groups", n))
		return
	}
	slot := make([]int, m.leaves) // leaf → 1 + index in keep
	for i, leaf := range keep {
		slot[leaf] = i + 1
	}
	for i := 0; i < n && r.err == nil; i++ {
		m.parseGroup(r, slot, len(keep))
		if r.err != nil {
			r.err = fmt.Errorf("row group %d: %w", i, r.err)
		}
	}
}

func (m *fileMeta) parseGroup(r *thriftReader, slot []int, kept int) {
	chunks := make([]chunk, kept)
	columns, rows := 0, int64(-1)
	r.fields(func(id int16, typ byte) {
		switch {
		case id == 1 && r.want(id, typ, tList):
			columns = r.list(tStruct)
			if columns != m.leaves {
				r.fail(fmt.Errorf("%d columns, the schema has %d", columns, m.leaves))
			}
			for i := 0; i < columns && r.err == nil; i++ {
				if slot[i] == 0 {
					r.skip(tStruct, true)
				} else {
					chunks[slot[i]-1] = parseChunk(r)
				}
			}
		case id == 3 && r.want(id, typ, tI64):
			rows = r.int()
		default:
			r.skip(typ, false)
		}
	})
	switch {
	case r.err != nil:
	case rows < 0:
		r.fail(fmt.Errorf("%d rows", rows))
	case columns != m.leaves:
		r.fail(errors.New("no columns"))
	}
	m.groupRows = append(m.groupRows, rows)
	m.chunks = append(m.chunks, chunks)
}

func parseChunk(r *thriftReader) (c chunk) {
	found := false
	r.fields(func(id int16, typ byte) {
		switch {
		case id == 1:
			r.fail(errors.New("the data is in another file"))
		case id == 3 && r.want(id, typ, tStruct):
			c = parseChunkMeta(r)
			found = true
		case id == 8 || id == 9:
			r.fail(errors.New("a column is encrypted"))
		default:
			r.skip(typ, false)
		}
	})
	if r.err == nil && !found {
		r.fail(errors.New("a column without metadata"))
	}
	return c
}

func parseChunkMeta(r *thriftReader) (c chunk) {
	var data, dict int64
	c.values, c.size = -1, -1
	r.fields(func(id int16, typ byte) {
		switch {
		case id == 1 && r.want(id, typ, tI32):
			c.phys = r.int32()
		case id == 4 && r.want(id, typ, tI32):
			c.codec = r.int32()
		case id == 5 && r.want(id, typ, tI64):
			c.values = r.int()
		case id == 7 && r.want(id, typ, tI64):
			c.size = r.int()
		case id == 9 && r.want(id, typ, tI64):
			data = r.int()
		case id == 11 && r.want(id, typ, tI64):
			dict = r.int()
		default:
			r.skip(typ, false)
		}
	})
	c.offset = data
	// Some writers set 0, some an offset behind the data when there is none.
	if dict > 0 && dict < data {
		c.offset = dict
	}
	return c
}

// check compares what the footer says with itself and with the file; limit is
// where the footer begins. names are those of the kept columns.
func (m *fileMeta) check(limit int64, names []string) error {
	if m.rows < 0 {
		return fmt.Errorf("footer: %d rows", m.rows)
	}
	var sum int64
	for g, rows := range m.groupRows {
		if rows > m.rows-sum {
			return fmt.Errorf("row group %d: more rows than the %d of the file", g, m.rows)
		}
		sum += rows
		for i, c := range m.chunks[g] {
			if err := c.check(rows, limit); err != nil {
				return fmt.Errorf("row group %d: column %s: %w", g, names[i], err)
			}
		}
	}
	if sum != m.rows {
		return fmt.Errorf("footer: %d rows, the row groups have %d", m.rows, sum)
	}
	return nil
}

func (c chunk) check(rows, limit int64) error {
	switch {
	case c.values != rows:
		return fmt.Errorf("%d values in a row group of %d rows", c.values, rows)
	case rows == 0:
		return nil
	case c.size <= 0 || c.offset < int64(len(parquetMagic)) || c.offset > limit-c.size:
		return fmt.Errorf("%d bytes at offset %d, the data ends at %d", c.size, c.offset, limit)
	}
	return nil
}
