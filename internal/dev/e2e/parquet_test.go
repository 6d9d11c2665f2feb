package e2e

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"amqpperf/format"
)

// newBatch returns an empty batch of a schema.
func newBatch(schema string) (format.Batch, error) {
	for _, b := range []format.Batch{&format.Send{}, &format.Recv{}, &format.Merged{}} {
		if b.Schema().Name == schema {
			return b, nil
		}
	}
	return nil, fmt.Errorf("no such schema: %s", schema)
}

// makeParquet is the script command mkparquet SCHEMA CSV OUT [KEY=VALUE...].
func makeParquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: mkparquet SCHEMA CSV OUT [KEY=VALUE...]")
	}
	rows, err := csv.NewReader(strings.NewReader(ts.ReadFile(args[1]))).ReadAll()
	ts.Check(err)
	b, err := newBatch(args[0])
	ts.Check(err)
	ts.Check(fill(b, rows))
	w, err := format.CreateParquet(ts.MkAbs(args[2]), b.Schema(), format.ParquetOptions{CreatedBy: "mkparquet"})
	ts.Check(err)
	meta := format.Meta{format.KeySchema: args[0], format.KeyComplete: "true"}
	for _, a := range args[3:] {
		key, value, ok := strings.Cut(a, "=")
		if !ok {
			ts.Fatalf("not KEY=VALUE: %s", a)
		}
		meta[key] = value
	}
	w.SetMeta(meta)
	ts.Check(w.Write(b))
	ts.Check(w.Close())
}

// fill appends rows, the first of which names the columns; others stay NULL or zero.
func fill(b format.Batch, rows [][]string) error {
	columns, targets := b.Schema().Columns, b.Columns()
	for _, name := range rows[0] {
		if !slices.ContainsFunc(columns, func(c format.Column) bool { return c.Name == name }) {
			return fmt.Errorf("no column %s in %s", name, b.Schema().Name)
		}
	}
	for i, c := range columns {
		at := slices.Index(rows[0], c.Name)
		for n, row := range rows[1:] {
			field := ""
			if at >= 0 {
				field = row[at]
			}
			if err := add(targets[i], c, field); err != nil {
				return fmt.Errorf("row %d: %s: %w", n, c.Name, err)
			}
		}
	}
	return nil
}

func add(target any, c format.Column, field string) error {
	null := field == ""
	if null && !c.Nullable {
		field = map[format.Type]string{format.Int32: "0", format.Int64: "0", format.Bool: "false"}[c.Type]
		null = false
	}
	switch t := target.(type) {
	case *format.Strings:
		if null {
			t.Codes = append(t.Codes, -1)
			return nil
		}
		code := slices.Index(t.Values, field)
		if code < 0 {
			code = len(t.Values)
			t.Values = append(t.Values, field)
		}
		t.Codes = append(t.Codes, int32(code))
		return nil
	case *[]bool:
		v, err := strconv.ParseBool(field)
		*t = append(*t, v)
		return err
	case *[]int32:
		v := int64(format.Null32)
		var err error
		if !null {
			v, err = strconv.ParseInt(field, 10, 32)
		}
		*t = append(*t, int32(v))
		return err
	case *[]int64:
		v := format.Null
		var err error
		if !null {
			v, err = strconv.ParseInt(field, 10, 64)
		}
		*t = append(*t, v)
		return err
	}
	return fmt.Errorf("unknown column type %T", target)
}

// dumpParquet is the script command dumpparquet LOG OUT.
func dumpParquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: dumpparquet LOG OUT")
	}
	var out strings.Builder
	ts.Check(dump(&out, ts.MkAbs(args[0])))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(out.String()), 0o644))
}

func dump(w io.Writer, name string) (err error) {
	log, err := format.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	b, err := newBatch(log.Schema())
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	var row []string
	for _, c := range b.Schema().Columns {
		row = append(row, c.Name)
	}
	if err := out.Write(row); err != nil {
		return err
	}
	for {
		if err := log.Read(b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		for i := range b.Len() {
			row = row[:0]
			for _, c := range b.Columns() {
				row = append(row, field(c, i))
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// field returns row i of a column as text, "" for NULL.
func field(column any, i int) string {
	switch c := column.(type) {
	case *format.Strings:
		s, _ := c.At(i)
		return s
	case *[]bool:
		return strconv.FormatBool((*c)[i])
	case *[]int32:
		if v := (*c)[i]; v != format.Null32 {
			return strconv.FormatInt(int64(v), 10)
		}
	case *[]int64:
		if v := (*c)[i]; v != format.Null {
			return strconv.FormatInt(v, 10)
		}
	}
	return ""
}
