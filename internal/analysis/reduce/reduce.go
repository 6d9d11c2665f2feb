package reduce

import (
	"fmt"
	"math"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/stats"
)

// reducer holds what both passes share.
type reducer struct {
	opt      Options
	rows     Rows
	names    *names
	data     *Data
	win      window
	run      string
	runKnown bool
	receives bool // there is a receive log
	again    *resent
	place    func(*view) // what the second pass needs of a batch beforehand; nil in the first

	autoWarning string
}

// Reduce reads the rows and returns the numbers of a report. It is an error
// when the rows are of more than one run.
func Reduce(rows Rows, opt Options) (*Data, error) {
	if len(opt.Percentiles) == 0 {
		opt.Percentiles = stats.DefaultPercentiles()
	}
	r := &reducer{opt: opt, rows: rows, names: newNames(), data: &Data{}, again: newResent()}
	r.readSetup()
	if err := r.choose(); err != nil {
		return nil, err
	}
	f := newFirstPass(r)
	if err := r.pass(f.count, f.distribution, f.order); err != nil {
		return nil, err
	}
	f.finish()
	if r.data.Rows == 0 {
		r.readSetup() // of a stream it is whole only now
		return r.data, nil
	}
	s, err := newSecondPass(r, f)
	if err != nil {
		return nil, err
	}
	if err := rows.Rewind(); err != nil {
		return nil, err
	}
	if err := r.pass(s.stages()...); err != nil {
		return nil, err
	}
	return r.data, s.finish()
}

func (r *reducer) readSetup() {
	r.data.Setup, r.data.Warnings = setup(r.rows.Meta())
	if r.autoWarning != "" {
		r.data.Warnings = append(r.data.Warnings, r.autoWarning)
	}
}

// choose turns the selection into instants. Without one, or with marks of a
// warm-up that only the end of a stream tells, rows are looked through first.
func (r *reducer) choose() error {
	r.win = window{from: math.MinInt64, to: math.MaxInt64, warm: math.MinInt64}
	if r.opt.WarmupAuto {
		return r.chooseAuto()
	}
	whole := r.opt.From == 0 && r.opt.To == 0
	if whole && r.opt.Warmup != nil && *r.opt.Warmup == 0 {
		return nil
	}
	if whole && r.opt.Warmup == nil && r.data.MarkedWarmup == 0 && metaWhole(r.rows.Meta()) {
		return nil
	}
	first, ok, err := r.firstIntended()
	if err != nil || !ok {
		return err
	}
	warmup := r.data.MarkedWarmup
	if r.opt.Warmup != nil {
		warmup = *r.opt.Warmup
	}
	r.cutAt(first, warmup)
	return nil
}

// cutAt selects what Options.From and To say, after a warm-up from the first
// intended instant on.
func (r *reducer) cutAt(first int64, warmup time.Duration) {
	r.win.from = first + int64(r.opt.From)
	r.win.warm = first + int64(warmup)
	if r.opt.To > 0 {
		r.win.to = first + int64(r.opt.To)
	}
	r.data.Window = Selection{From: int64(r.opt.From), To: int64(r.opt.To), Warmup: int64(warmup)}
}

// metaWhole reports whether the metadata is that of a log's end, or of a join,
// which knows its inputs; at its start a stream says little.
func metaWhole(m format.Meta) bool {
	return m[format.KeyComplete] != "" || m[format.KeySource] != "" || m[format.KeyConfig] != ""
}

func (r *reducer) firstIntended() (first int64, ok bool, err error) {
	if s, can := r.rows.(Spanner); can {
		if first, ok = s.FirstIntended(); ok {
			return first, true, nil
		}
	}
	first = math.MaxInt64
	err = eachBatch(r.rows, func(b *format.Merged) error {
		for _, at := range b.Intended {
			first = min(first, at)
		}
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	r.readSetup() // here, since going back may forget what the end has told
	return first, first != math.MaxInt64, r.rows.Rewind()
}

// look prepares a batch; rows of another run are an error.
func (r *reducer) look(v *view, b *format.Merged) error {
	if !r.runKnown {
		r.run, _ = b.Run.At(0)
		r.runKnown = true
	}
	v.look(b, r.names, r.run)
	if len(v.runs) != 1 || !v.runs[0] {
		for i := range v.Seq {
			if !v.ours(i) {
				other, _ := b.Run.At(i)
				return fmt.Errorf("rows of two runs, %s and %s: report them one at a time", r.run, other)
			}
		}
	}
	size := chunkRows
	if r.opt.chunk > 0 {
		size = r.opt.chunk
	}
	v.divide(size)
	if r.place != nil {
		r.place(v)
	}
	return nil
}

// Warmed returns the warm-up that was left out.
func (d *Data) Warmed() time.Duration { return time.Duration(d.Window.Warmup) }
