package format

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

// chunkInfo is what the footer says about one column of one row group.
type chunkInfo struct {
	meta pq.ColumnMetaData
}

// footerBuilder collects the row groups of a file.
type footerBuilder struct {
	createdBy string
	groups    []pq.RowGroup
}

func (f *footerBuilder) addGroup(chunks []chunkInfo, rows, offset, compressed int64) {
	g := pq.RowGroup{
		NumRows:             rows,
		FileOffset:          offset,
		TotalCompressedSize: compressed,
		Ordinal:             int16(len(f.groups)), // endRowGroup counts
	}
	for _, c := range chunks {
		g.TotalByteSize += c.meta.TotalUncompressedSize
		g.Columns = append(g.Columns, pq.ColumnChunk{MetaData: c.meta})
	}
	f.groups = append(f.groups, g)
}

// encode returns the footer with its length and the closing magic.
func (f *footerBuilder) encode(s *Schema, meta Meta, rows int64) ([]byte, error) {
	md := pq.FileMetaData{
		Version:   2, // of the Parquet format: data pages are v2
		Schema:    thriftSchema(s),
		NumRows:   rows,
		RowGroups: f.groups,
		CreatedBy: f.createdBy,
	}
	if md.RowGroups == nil {
		md.RowGroups = []pq.RowGroup{}
	}
	for _, k := range slices.Sorted(maps.Keys(meta)) {
		md.KeyValueMetadata = append(md.KeyValueMetadata, pq.KeyValue{Key: k, Value: meta[k]})
	}
	for range s.Columns {
		// Without an order readers must ignore min and max.
		md.ColumnOrders = append(md.ColumnOrders, pq.ColumnOrder{Value: &pq.TypeDefinedOrder{}})
	}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &md)
	if err != nil {
		return nil, err
	}
	if len(b) > math.MaxInt32 {
		return nil, fmt.Errorf("%d bytes", len(b))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(b)))
	return append(b, parquetMagic...), nil
}

func thriftSchema(s *Schema) []pq.SchemaElement {
	elems := []pq.SchemaElement{{
		Name:        "log",
		NumChildren: thrift.New(int32(len(s.Columns))), // some dozens
	}}
	for _, c := range s.Columns {
		e := pq.SchemaElement{Name: c.Name, Type: thrift.New(physical(c.Type)), RepetitionType: thrift.New(pq.Required)}
		if c.Nullable {
			e.RepetitionType = thrift.New(pq.Optional)
		}
		if c.Type == String {
			e.ConvertedType = thrift.New(deprecated.UTF8)
			e.LogicalType = pq.LogicalType{Value: &pq.StringType{}}
		}
		elems = append(elems, e)
	}
	return elems
}

func physical(t Type) pq.Type {
	switch t {
	case Int32:
		return pq.Int32
	case Int64:
		return pq.Int64
	case Bool:
		return pq.Boolean
	default:
		return pq.ByteArray
	}
}
