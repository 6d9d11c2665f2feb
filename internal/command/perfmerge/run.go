package perfmerge

import (
	"errors"
	"fmt"
	"io"

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
	j, err := join.Open(names, join.Options{Run: o.run})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if o.check {
		if err := drain(j); err != nil {
			return err
		}
		return report(env.Stdout, j)
	}
	out, err := openOutput(env, o)
	if err != nil {
		return err
	}
	if err := write(j, out); err != nil {
		return errors.Join(err, out.abort())
	}
	if o.quiet {
		return nil
	}
	return report(env.Stderr, j)
}

// runLive prints the deliveries of a single receive log as they come: with a
// pipe nobody wants to wait for its end.
func runLive(env *cli.Env, o options, names []string) (bool, error) {
	if o.format != "log" || len(names) != 1 || o.run != "" {
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
	var b format.Merged
	for {
		err := j.Next(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := out.rows(&b); err != nil {
			return err
		}
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
