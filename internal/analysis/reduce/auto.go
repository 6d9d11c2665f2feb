package reduce

import (
	"fmt"
	"math"
	"time"

	"amqpperf/internal/analysis/stats"
)

// AutoWarmup is what Options.WarmupAuto did.
type AutoWarmup struct {
	stats.Truncation
	// Used says that the warm-up is the one that was found.
	Used bool
}

// chooseAuto reads the rows once and leaves out what MSER-5 finds.
func (r *reducer) chooseAuto() error {
	line := newTimeline(r.opt)
	first := int64(math.MaxInt64)
	err := r.pass(func(v *view) {
		for i, at := range v.Intended {
			first = min(first, at)
			if v.Primary[i] && v.outcome(i) != Unlogged && v.Attempt[i] == 0 {
				line.add(v, i)
			}
		}
	})
	if err != nil {
		return err
	}
	r.readSetup()
	if first == math.MaxInt64 {
		return r.rows.Rewind()
	}
	from, to := first+int64(r.opt.From), int64(math.MaxInt64)
	if r.opt.To > 0 {
		to = first + int64(r.opt.To)
	}
	var busy *stats.Busy
	if line.bins == nil {
		busy = stats.NewBusy(line.rows, 0, 0)
	}
	cut, end := line.truncation(from, to, busy)
	auto := &AutoWarmup{Truncation: cut, Used: cut.OK}
	warmup := time.Duration(end - first)
	if !cut.OK {
		warmup = r.data.MarkedWarmup
		why := fmt.Sprintf("the responses are steady in less than half of the run (MSER-5 cuts %.0f %%)", 100*cut.Share)
		if cut.Batches == 0 || cut.Share <= 0.5 {
			why = fmt.Sprintf("there are too few responses (%d batches)", cut.Batches)
		}
		r.autoWarning = fmt.Sprintf("no warm-up was found: %s; the marked one of %s is used", why, warmup)
	}
	if cut.OK && end == from {
		warmup = 0 // what From leaves out is no warm-up
	}
	r.cutAt(first, warmup)
	r.data.Auto = auto
	return r.rows.Rewind()
}
