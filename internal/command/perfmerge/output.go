package perfmerge

import (
	"errors"
	"io"

	"amqpperf/format"
	"amqpperf/internal/analysis/export"
	"amqpperf/internal/cli"
)

// output is where merged rows go: a log (Parquet, Arrow) or text.
type output struct {
	log  format.Writer
	text export.Writer
	// selection is nil when all columns are written.
	selection *export.Selection
	file      *textFile // of text and streams
}

func openOutput(env *cli.Env, o options) (*output, error) {
	schema := format.MergedSchema()
	if o.selection != nil {
		schema = o.selection.Schema()
	}
	if o.format == "parquet" {
		w, err := format.CreateParquet(o.output, schema, format.ParquetOptions{CreatedBy: "perf-merge " + cli.Version(), Force: o.force})
		if err != nil {
			return nil, err
		}
		return &output{log: w, selection: o.selection}, nil
	}
	file, err := openText(env, o)
	if err != nil {
		return nil, err
	}
	out := &output{file: file, selection: o.selection}
	switch o.format {
	case "arrow":
		out.log = format.NewStreamWriter(file, schema, nil)
	case "csv":
		csv := export.NewCSV(file)
		if err := csv.Header(schema); err != nil {
			return nil, errors.Join(err, file.abort())
		}
		out.text = csv
	case "jsonl":
		out.text = export.NewJSONLines(file)
	case "log":
		out.text = export.NewLines(file)
	}
	return out, nil
}

func (o *output) rows(m *format.Merged) error {
	var b format.Batch = m
	if o.selection != nil {
		b = o.selection.Of(m)
	}
	if o.log != nil {
		return o.log.Write(b)
	}
	return o.text.Write(b)
}

// table writes a side table where the format has a place for it.
func (o *output) table(b format.Batch) error {
	if o.log != nil {
		return o.log.Table(b)
	}
	if lines, ok := o.text.(*export.Lines); ok {
		if events, ok := b.(*format.Event); ok {
			return lines.WriteEvents(events)
		}
	}
	return nil
}

func (o *output) finish(meta format.Meta) error {
	if o.log != nil {
		meta[format.KeyComplete] = "true"
		o.log.SetMeta(meta)
		if err := o.log.Close(); err != nil {
			return err
		}
	} else if err := o.text.Flush(); err != nil {
		return err
	}
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// abort leaves nothing half-written under the output's name.
func (o *output) abort() error {
	if p, ok := o.log.(*format.ParquetWriter); ok {
		return p.Abort()
	}
	return o.file.abort()
}

// textFile is standard output, or a file that becomes visible when it is whole.
type textFile struct {
	io.Writer
	file *format.File
}

func openText(env *cli.Env, o options) (*textFile, error) {
	if o.output == "-" {
		return &textFile{Writer: env.Stdout}, nil
	}
	f, err := format.CreateFile(o.output, o.force)
	if err != nil {
		return nil, err
	}
	return &textFile{Writer: f, file: f}, nil
}

// Close makes the file visible.
func (t *textFile) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

func (t *textFile) abort() error {
	if t.file == nil {
		return nil
	}
	return t.file.Abort()
}
