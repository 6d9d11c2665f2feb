package format

import (
	"errors"
	"fmt"
	"unsafe"
)

// The numbers of the Parquet format that the reader knows by name
// (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift).
const (
	physBool      = 0
	physInt32     = 1
	physInt64     = 2
	physFloat     = 4
	physDouble    = 5
	physByteArray = 6

	repRequired = 0
	repOptional = 1

	encPlain           = 0
	encPlainDictionary = 2
	encRLE             = 3
	encDelta           = 5
	encDeltaLength     = 6
	encDeltaByteArray  = 7
	encRLEDictionary   = 8

	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3
)

// maxFileColumns bounds the columns of a file, ours and unknown ones.
const maxFileColumns = 10_000

// maxChunks bounds what a reader must remember: row groups × columns.
const maxChunks = 1 << 20

// fileColumn is a leaf directly below the root of a file's schema.
type fileColumn struct {
	name       string
	leaf       int // its index among all leaves: that of its chunk
	phys       int32
	repetition int32
	kind       string // logical type, "" if none, as messages name it
	group      bool   // not a leaf: a nested column
}

// chunk is one column of one row group.
type chunk struct {
	offset, size int64 // of all its pages, the dictionary page first
	values       int64
	phys, codec  int32
}

// fileMeta is the part of a footer that reading a log needs.
type fileMeta struct {
	columns   []fileColumn
	leaves    int
	rows      int64
	groupRows []int64
	chunks    [][]chunk // by row group, then by the columns that keep asked for
	meta      Meta
	createdBy string
}

// parseFooter walks a footer. Once schema and metadata are known, choose
// decides for which leaves the chunks are kept. Damage is told apart from what
// choose has to say.
func parseFooter(b []byte, choose func(*fileMeta) (keep []int, err error)) (m *fileMeta, damage, err error) {
	m = &fileMeta{meta: Meta{}}
	r := &thriftReader{b: b}
	sawSchema, sawGroups := false, false
	groupsAt := 0
	r.fields(func(id int16, typ byte) {
		switch {
		case id == 2 && r.want(id, typ, tList):
			m.parseSchema(r)
			sawSchema = true
		case id == 3 && r.want(id, typ, tI64):
			m.rows = r.int()
		case id == 4 && r.want(id, typ, tList):
			// The row groups refer to the schema and, for the choice of columns, to
			// the metadata, which follows: come back to them at the end.
			if sawGroups {
				r.fail(errors.New("row groups given twice"))
			}
			sawGroups = true
			groupsAt = r.pos
			r.skipList()
		case id == 5 && r.want(id, typ, tList):
			m.parseKeyValues(r)
		case id == 6 && r.want(id, typ, tBinary):
			m.createdBy = string(r.bytes())
		case id == 8:
			r.fail(errors.New("the file is encrypted"))
		default:
			r.skip(typ, false)
		}
	})
	if r.err == nil && (!sawSchema || !sawGroups) {
		r.fail(errors.New("no schema or no row groups"))
	}
	if r.err != nil {
		return nil, fmt.Errorf("byte %d: %w", r.pos, r.err), nil
	}
	keep, err := choose(m)
	groups := &thriftReader{b: b, pos: groupsAt}
	m.parseGroups(groups, keep)
	return m, groups.err, err
}

func (m *fileMeta) parseSchema(r *thriftReader) {
	n := r.list(tStruct)
	if n > 2*maxFileColumns {
		r.fail(fmt.Errorf("%d schema elements", n))
		return
	}
	// open counts the children still to come on every level below the root.
	var open []int32
	for i := 0; i < n && r.err == nil; i++ {
		c, children := parseSchemaElement(r)
		if r.err != nil {
			return
		}
		if i == 0 {
			open = append(open, children)
			continue
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) == 0 || len(open) > thriftDepth {
			r.fail(errors.New("schema: children do not add up or nest too deep"))
			return
		}
		open[len(open)-1]--
		c.leaf, c.group = m.leaves, children > 0
		if len(open) == 1 {
			m.columns = append(m.columns, c)
		}
		if children > 0 {
			open = append(open, children)
		} else {
			m.leaves++
		}
	}
	for _, left := range open {
		if left != 0 {
			r.fail(errors.New("schema: children are missing"))
		}
	}
}

func parseSchemaElement(r *thriftReader) (c fileColumn, children int32) {
	r.fields(func(id int16, typ byte) {
		switch {
		case id == 1 && r.want(id, typ, tI32):
			c.phys = r.int32()
		case id == 3 && r.want(id, typ, tI32):
			c.repetition = r.int32()
		case id == 4 && r.want(id, typ, tBinary):
			c.name = string(r.bytes())
		case id == 5 && r.want(id, typ, tI32):
			children = r.int32()
		case id == 6 && r.want(id, typ, tI32):
			if k := convertedKind(r.int32()); c.kind == "" {
				c.kind = k
			}
		case id == 10 && r.want(id, typ, tStruct):
			if k := parseLogicalType(r); k != "" {
				c.kind = k
			}
		default:
			r.skip(typ, false)
		}
	})
	if children < 0 || children > maxFileColumns {
		r.fail(fmt.Errorf("schema: %d children", children))
	}
	return c, children
}

// parseLogicalType returns the name of a logical type, with its unit.
func parseLogicalType(r *thriftReader) (kind string) {
	r.fields(func(id int16, typ byte) {
		kind = logicalKind(id)
		if typ != tStruct || (kind != "TIMESTAMP" && kind != "INTEGER") {
			r.skip(typ, false)
			return
		}
		r.fields(func(id int16, typ byte) {
			switch {
			case kind == "INTEGER" && id == 2 && typ == tFalse:
				kind = "UNSIGNED INTEGER"
			case kind == "TIMESTAMP" && id == 2 && typ == tStruct:
				r.fields(func(id int16, typ byte) {
					if id >= 1 && id <= 3 {
						kind = []string{"", "TIMESTAMP(MILLIS)", "TIMESTAMP(MICROS)", "TIMESTAMP(NANOS)"}[id]
					}
					r.skip(typ, false)
				})
			default:
				r.skip(typ, false)
			}
		})
	})
	return kind
}

func logicalKind(id int16) string {
	switch id {
	case 1:
		return "STRING"
	case 4:
		return "ENUM"
	case 5:
		return "DECIMAL"
	case 6:
		return "DATE"
	case 7:
		return "TIME"
	case 8:
		return "TIMESTAMP"
	case 10:
		return "INTEGER"
	case 12:
		return "JSON"
	default:
		return "OTHER"
	}
}

// convertedKind is the same for the deprecated converted types.
func convertedKind(t int32) string {
	switch {
	case t == 0:
		return "STRING"
	case t == 4:
		return "ENUM"
	case t == 9:
		return "TIMESTAMP(MILLIS)"
	case t == 10:
		return "TIMESTAMP(MICROS)"
	case t >= 11 && t <= 14:
		return "UNSIGNED INTEGER"
	case t >= 15 && t <= 18:
		return "INTEGER"
	case t == 19:
		return "JSON"
	default:
		return "OTHER"
	}
}

func (m *fileMeta) parseKeyValues(r *thriftReader) {
	n := r.list(tStruct)
	for i := 0; i < n && r.err == nil; i++ {
		var key, value string
		r.fields(func(id int16, typ byte) {
			switch {
			case id == 1 && r.want(id, typ, tBinary):
				key = string(r.bytes())
			case id == 2 && r.want(id, typ, tBinary):
				// Side tables can be most of a footer, which nobody changes: no copy.
				b := r.bytes()
				value = unsafe.String(unsafe.SliceData(b), len(b))
			default:
				r.skip(typ, false)
			}
		})
		m.meta[key] = value
	}
}
