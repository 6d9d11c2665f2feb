package perfreport

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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
	o       *options
	main    io.Writer
	file    *format.File // of the report; nil on standard output
	hlog    *format.File
	hgrm    *format.File
	junit   *format.File
	bench   *compare.Bench // of format benchfmt
	written int            // reports and comparisons
	stdout  io.Writer      // of a picture
}

func openOutputs(env *cli.Env, o *options) (*outputs, error) {
	out := &outputs{o: o, main: env.Stdout, stdout: env.Stdout}
	if o.streamed() {
		if err := cli.RefuseTerminal(env.Stdout, "a picture"); err != nil {
			return nil, err
		}
		out.main = io.Discard // of the report, unless -o names a file
	}
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
		err = out.makeDir()
	}
	for _, p := range o.plots {
		if err == nil {
			err = open(&p.file, p.path)
		}
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

func (out *outputs) makeDir() error {
	if err := os.MkdirAll(out.o.png, 0o777); err != nil {
		return fmt.Errorf("--png: %w", err)
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
	if len(lines) == 0 || !forPeople(out.o.format) {
		return nil
	}
	body := title + "\n\n  " + strings.Join(lines, "\n  ") + "\n"
	if out.o.format != "text" {
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

func (out *outputs) all() []*format.File {
	var files []*format.File
	for _, f := range []*format.File{out.file, out.hlog, out.hgrm, out.junit} {
		if f != nil {
			files = append(files, f)
		}
	}
	for _, p := range out.o.plots {
		if p.file != nil {
			files = append(files, p.file)
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
	if err := out.undrawn(); err != nil {
		return err
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
