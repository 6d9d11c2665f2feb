package perfreport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"amqpperf/format"
	"amqpperf/internal/analysis/compare"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/cli"
)

// outputs are all files of a report. They are opened before anything is read,
// so that what stands in the way is found early, and become visible only when
// they are whole.
type outputs struct {
	o        *options
	main     io.Writer
	file     *format.File // of the report; nil on standard output
	hlog     *format.File
	hgrm     *format.File
	junit    *format.File
	bench    *compare.Bench // of format benchfmt
	written  int            // reports and comparisons
	pictured []*format.File
}

// pictureNames are the files of --png.
func pictureNames() []string {
	return []string{"percentiles.png", "latency.png", "rates.png", "backlog.png"}
}

func openOutputs(env *cli.Env, o *options) (*outputs, error) {
	out := &outputs{o: o, main: env.Stdout}
	open := func(to **format.File, name string) error {
		if name == "" || name == "-" {
			return nil
		}
		f, err := format.CreateFile(name, o.force)
		if err != nil {
			return hint(err)
		}
		*to = f
		return nil
	}
	err := open(&out.file, o.output)
	if err == nil {
		err = open(&out.hlog, o.hlog)
	}
	if err == nil {
		err = open(&out.hgrm, o.hgrm)
	}
	if err == nil {
		err = open(&out.junit, o.junit)
	}
	if err == nil && o.png != "" {
		err = out.openPictures()
	}
	if err != nil {
		return nil, errors.Join(err, out.abort())
	}
	if out.file != nil {
		out.main = out.file
	}
	if o.format == benchfmt {
		out.bench = compare.NewBench(out.main)
	}
	return out, nil
}

func (out *outputs) openPictures() error {
	if err := os.MkdirAll(out.o.png, 0o777); err != nil {
		return fmt.Errorf("--png: %w", err)
	}
	for _, name := range pictureNames() {
		f, err := format.CreateFile(filepath.Join(out.o.png, name), out.o.force)
		if err != nil {
			return hint(err)
		}
		out.pictured = append(out.pictured, f)
	}
	return nil
}

// hint says how to get past a file that exists.
func hint(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w (--force replaces it)", err)
	}
	return err
}

func (out *outputs) wantsHlog() bool { return out.hlog != nil || out.hgrm != nil }

// benchfmt is the format for benchstat: it has no place for a comparison, which
// benchstat makes itself.
const benchfmt = "benchfmt"

// report writes a report.
func (out *outputs) report(r *report.Report) error {
	if out.bench != nil {
		out.bench.Add(r)
		return nil
	}
	return out.piece(r)
}

// piece is what has all forms but benchfmt: a report, a comparison.
type piece interface {
	Text(w io.Writer) error
	Markdown(w io.Writer) error
	JSON(w io.Writer) error
	CSV(w io.Writer, header bool) error
}

// piece writes a report or a comparison, set off from the one before.
func (out *outputs) piece(p piece) error {
	if out.bench != nil {
		return nil
	}
	if err := write(out.main, p, out.o.format, out.written); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	out.written++
	return nil
}

// lines writes text that only people read; the other formats say the same in
// their own way.
func (out *outputs) lines(title string, lines []string) error {
	if len(lines) == 0 || (out.o.format != "text" && out.o.format != "markdown") {
		return nil
	}
	body := title + "\n\n  " + strings.Join(lines, "\n  ") + "\n"
	if out.o.format == "markdown" {
		body = "**" + title + "**\n\n```\n" + strings.ReplaceAll(strings.Join(lines, "\n"), "```", "'''") + "\n```\n"
	}
	if err := gap(out.main, out.written); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if _, err := io.WriteString(out.main, body); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	out.written++
	return nil
}

func (out *outputs) histograms(h *hlog) error {
	if h == nil {
		return nil
	}
	if err := h.ensure(); err != nil {
		return err
	}
	if out.hlog != nil {
		if err := h.collector.WriteLog(out.hlog); err != nil {
			return fmt.Errorf("%s: %w", out.hlog.Name(), err)
		}
	}
	if out.hgrm != nil {
		if err := h.collector.WriteHgrm(out.hgrm, 0); err != nil {
			return fmt.Errorf("%s: %w", out.hgrm.Name(), err)
		}
	}
	return nil
}

// pictures draws the pictures of --png.
func (out *outputs) pictures(m, base *made) error {
	if len(out.pictured) == 0 {
		return nil
	}
	draws := pictures(m, base)
	for i, f := range out.pictured {
		if err := draws[i](f); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	return nil
}

func (out *outputs) all() []*format.File {
	var files []*format.File
	for _, f := range append([]*format.File{out.file, out.hlog, out.hgrm, out.junit}, out.pictured...) {
		if f != nil {
			files = append(files, f)
		}
	}
	return files
}

// finish makes all files visible.
func (out *outputs) finish() error {
	if out.bench != nil {
		if err := out.bench.Flush(); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	}
	for _, f := range out.all() {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// abort removes what was not finished.
func (out *outputs) abort() error {
	var errs []error
	for _, f := range out.all() {
		errs = append(errs, f.Abort())
	}
	return errors.Join(errs...)
}
