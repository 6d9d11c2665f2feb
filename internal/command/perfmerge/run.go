package perfmerge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"amqpperf/format"
	"amqpperf/internal/analysis/export"
	"amqpperf/internal/analysis/join"
	"amqpperf/internal/cli"
)

func run(env *cli.Env, o options, names []string) (err error) {
	if !o.check && o.output == "-" && o.format == "arrow" {
		if err := cli.RefuseTerminal(env.Stdout, "an Arrow stream"); err != nil {
			return err
		}
	}
	if live, err := runLive(env, o, names); live || err != nil {
		return err
	}
	// Batches are reused, so there is little garbage; letting it grow to the size
	// of what is in use would only double the memory.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	var bar *progress
	if !o.quiet {
		bar = &progress{env: env}
	}
	defer bar.stop()
	j, err := join.Open(names, o.join(bar))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if o.check {
		if err := drain(j); err != nil {
			return err
		}
		bar.stop()
		return check(env.Stdout, j, o.format)
	}
	out, err := openOutput(env, o)
	if err != nil {
		return err
	}
	if err := write(j, out); err != nil {
		return errors.Join(err, out.abort())
	}
	bar.stop()
	if o.quiet {
		return nil
	}
	return report(env.Stderr, j)
}

// join returns the options of the join.
func (o *options) join(bar *progress) join.Options {
	opt := join.Options{Run: o.run, Memory: int64(o.memory), Clock: o.clock, From: o.from, To: o.to}
	switch {
	case o.check:
		opt.Columns = []string{}
	case o.selection != nil:
		opt.Columns = o.columns
	}
	if bar != nil {
		opt.Progress = bar.add
	}
	return opt
}

// progress is a bar that appears when it is known how much there is to do.
type progress struct {
	env     *cli.Env
	bar     *cli.Bar
	started bool
}

func (p *progress) add(rows, total int64) {
	if !p.started {
		p.started = true
		p.bar = cli.Progress(p.env, "rows", total)
	}
	p.bar.Add(rows)
}

// stop removes the bar, so that something else can be printed.
func (p *progress) stop() {
	if p != nil {
		p.bar.Stop()
		p.bar = nil
	}
}

// check prints what became of the messages, and what is known of the clocks.
func check(w io.Writer, j *join.Joiner, format string) error {
	if format != "json" {
		acc := j.Accounting()
		return errors.Join(report(w, j), acc.WriteClocks(w))
	}
	acc := j.Accounting()
	if err := acc.Check(); err != nil {
		return err
	}
	b, err := json.MarshalIndent(&acc, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// runLive prints the deliveries of a single receive log as they come: with a
// pipe nobody wants to wait for its end.
func runLive(env *cli.Env, o options, names []string) (bool, error) {
	if o.format != "log" || len(names) != 1 || o.run != "" || o.from != 0 || o.to != 0 || o.check {
		return false, nil
	}
	log, err := format.Open(names[0])
	if err != nil {
		return true, err
	}
	if log.Schema() != "recv/1" || log.Kind() != format.Stream {
		return false, log.Close()
	}
	out, err := openText(env, o)
	if err != nil {
		return true, errors.Join(err, log.Close())
	}
	lines := export.NewLines(out)
	err = join.Live(log, func(b *format.Merged) error {
		return errors.Join(lines.Write(b), lines.Flush())
	})
	if err == nil {
		var events format.Event
		err = errors.Join(log.Table(&events), lines.WriteEvents(&events), lines.Flush())
	}
	if err != nil {
		return true, errors.Join(err, out.abort(), log.Close())
	}
	for _, w := range log.Warnings() {
		fmt.Fprintf(env.Stderr, "perf-merge: warning: %s\n", w)
	}
	return true, errors.Join(out.Close(), log.Close())
}

func drain(j *join.Joiner) error {
	var b format.Merged
	for {
		if err := j.Next(&b); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// write passes all rows on, then the side tables, then the metadata.
func write(j *join.Joiner, out *output) error {
	if err := pump(j, out.rows); err != nil {
		return err
	}
	var events format.Event
	var samples format.Sample
	var clocks format.ClockRow
	for _, table := range []format.Batch{&events, &samples, &clocks} {
		if err := j.Table(table); err != nil {
			return err
		}
		if err := out.table(table); err != nil {
			return err
		}
	}
	meta, err := j.Meta()
	if err != nil {
		return err
	}
	return out.finish(meta)
}

func report(w io.Writer, j *join.Joiner) error {
	acc := j.Accounting()
	if err := acc.Check(); err != nil {
		return err
	}
	return acc.WriteText(w)
}
