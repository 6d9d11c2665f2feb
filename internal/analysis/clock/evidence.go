package clock

import (
	"fmt"
	"math"

	"amqpperf/format"
)

// Evidence is what checks C14 to C16 judge, and what a merged log carries in
// its metadata. C17 is in [Causality], since it needs the messages.
type Evidence struct {
	Processes []ProcessEvidence `json:"processes"`
	Pairs     []PairEvidence    `json:"pairs,omitempty"`
	Loops     []Loop            `json:"loops,omitempty"`
	Warnings  []string          `json:"warnings,omitempty"`
}

// ProcessEvidence is about one process and its host's clock.
type ProcessEvidence struct {
	Name   string `json:"name"`
	Source Source `json:"source"` // how it is aligned with the reference
	// MaxErrorNS is the largest maxerror of its kernel; nil if not logged.
	MaxErrorNS *int64 `json:"maxerror_ns,omitempty"`
	// AdjustmentPPM is the largest |freq + tick| of its kernel.
	AdjustmentPPM float64 `json:"adjustment_ppm"`
	// StepNS is the largest jump of its wall clock against its monotonic clock
	// beyond what freq explains, StepAt when it was seen; 0 without any.
	StepNS int64 `json:"step_ns"`
	StepAt int64 `json:"step_at,omitempty"`
	// Probed tells that exchanges tie it to another process.
	Probed   bool `json:"probed"`
	Rejected int  `json:"rejected,omitempty"`
}

// PairEvidence is about the exchanges of two processes.
type PairEvidence struct {
	A          string  `json:"a"`
	B          string  `json:"b"`
	Limits     int     `json:"limits"`
	BoundNS    int64   `json:"bound_ns"`  // the largest at any exchange
	MedianNS   int64   `json:"median_ns"` // the median over exchanges
	SlopePPM   float64 `json:"slope_ppm"` // the largest of a window, by amount
	Windows    int     `json:"windows"`
	Infeasible int     `json:"infeasible"` // windows that no line fits
	Steps      []Step  `json:"steps,omitempty"`
	Used       bool    `json:"used"` // on the way of a process to the reference
}

// Loop is a self-check: two ways from A to the reference, directly and through
// B, must agree within their bounds.
type Loop struct {
	A          string `json:"a"`
	B          string `json:"b"`
	ResidualNS int64  `json:"residual_ns"` // the largest disagreement
	BoundNS    int64  `json:"bound_ns"`    // what both bounds allowed there
	Broken     bool   `json:"broken"`      // some residual was beyond its bound: the model is wrong
}

// Evidence returns what the solution rests on.
func (s *Solution) Evidence() Evidence {
	e := Evidence{Warnings: s.Warnings}
	for i, p := range s.nodes {
		e.Processes = append(e.Processes, s.process(i, p))
	}
	order := s.canonical()
	for x, i := range order {
		for _, j := range order[x+1:] {
			f := s.fits[[2]int{i, j}]
			if f == nil {
				continue
			}
			used := s.parent[i] == j && s.hops[i].fit != nil || s.parent[j] == i && s.hops[j].fit != nil
			e.Pairs = append(e.Pairs, f.evidence(s.names[i], s.names[j], used))
			if !used && s.models[i].Known() && s.models[j].Known() {
				e.Loops = append(e.Loops, s.loop(i, j, f))
			}
		}
	}
	return e
}

func (s *Solution) process(i int, p *Process) ProcessEvidence {
	e := ProcessEvidence{Name: s.names[i], Source: s.models[i].source, Rejected: p.Rejected}
	states := sortStates(p.States)
	for k, st := range states {
		if st.MaxError != format.Null && (e.MaxErrorNS == nil || *e.MaxErrorNS < st.MaxError) {
			e.MaxErrorNS = &states[k].MaxError
		}
		e.AdjustmentPPM = max(e.AdjustmentPPM, math.Abs(float64(st.adjustment()))/ppm)
		if k == 0 || st.WallOffset == format.Null || states[k-1].WallOffset == format.Null {
			continue
		}
		jump := span(st.WallOffset, states[k-1].WallOffset)
		a := max(st.adjustment(), -st.adjustment())
		jump = max(jump-drift(a, span(st.At, states[k-1].At))-min(max(st.Gap, states[k-1].Gap, 0), far/8), 0)
		if jump > e.StepNS {
			e.StepNS, e.StepAt = jump, st.At
		}
	}
	for pair := range s.fits {
		e.Probed = e.Probed || pair[0] == i
	}
	return e
}

func (f *fit) evidence(a, b string, used bool) PairEvidence {
	e := PairEvidence{A: a, B: b, Windows: len(f.windows), MedianNS: f.median, Steps: f.steps, Used: used}
	for _, w := range f.windows {
		e.Limits += w.Limits
		if math.Abs(w.Slope) > math.Abs(e.SlopePPM)/1e6 {
			e.SlopePPM = w.Slope * 1e6
		}
		if w.Infeasible() {
			e.Infeasible++
		}
	}
	for _, k := range f.knots {
		_, bound, _ := f.at(k.t)
		e.BoundNS = max(e.BoundNS, bound)
	}
	return e
}

// loop compares both ways at up to 1,000 exchanges, evenly chosen.
func (s *Solution) loop(i, j int, f *fit) Loop {
	l := Loop{A: s.names[i], B: s.names[j]}
	const most = 1000
	for k := 0; k < len(f.knots); k += len(f.knots)/most + 1 {
		t := f.knots[k].t
		direct, b1, source := s.models[i].At(t)
		step, b2, ok := f.at(t)
		rest, b3, source2 := s.models[j].At(add(t, step))
		if !ok || source == Unknown || source2 == Unknown {
			continue
		}
		residual := clamp(add(step, rest)) - clamp(direct)
		allowed := add(b1, chain(b2, b3, s.models[j].rate()))
		l.Broken = l.Broken || max(residual, -residual) > allowed
		if max(residual, -residual) >= max(l.ResidualNS, -l.ResidualNS) {
			l.ResidualNS, l.BoundNS = residual, allowed
		}
	}
	return l
}

func (s *Solution) name(i int) string {
	p := s.nodes[i]
	if p.Host != "" {
		return fmt.Sprintf("%s/%d", p.Host, p.Anchor.Offset())
	}
	return fmt.Sprintf("%016x/%d", p.Anchor.ClockID, p.Anchor.Offset())
}
