package perfreport

import (
	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/cli"
)

// progressive counts rows on a progress bar.
type progressive struct {
	reduce.Rows
	bar *cli.Bar
}

// Next implements reduce.Rows.
func (p progressive) Next(b *format.Merged) error {
	err := p.Rows.Next(b)
	if err == nil {
		p.bar.Add(int64(b.Len()))
	}
	return err
}

// Table implements reduce.Tabler.
func (p progressive) Table(b format.Batch) error {
	if t, ok := p.Rows.(reduce.Tabler); ok {
		return t.Table(b)
	}
	return nil
}

// spanning is progressive for rows that know their first instant.
type spanning struct {
	progressive
	reduce.Spanner
}

// watched shows on a terminal how far the reading is; stop may be called twice.
func watched(env *cli.Env, o *options, s source) (rows reduce.Rows, stop func()) {
	if o.quiet {
		return s, func() {}
	}
	bar := cli.Progress(env, "rows", 2*s.size())
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			bar.Stop()
		}
	}
	p := progressive{s, bar}
	if sp, ok := s.(reduce.Spanner); ok {
		return spanning{p, sp}, stop
	}
	return p, stop
}
