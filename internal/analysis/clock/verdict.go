package clock

// Status is the verdict of a check.
type Status string

// The verdicts, as perf-report prints them.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip" // nothing to judge
)

const (
	us int64 = 1000
	ms       = 1000 * us
)

func grade(warn, fail bool) Status {
	switch {
	case fail:
		return Fail
	case warn:
		return Warn
	}
	return OK
}

// Synchronised is check C14 over all processes: the largest maxerror (nil if no
// kernel was asked) and |freq + tick|. An unsynchronised kernel fails only a run
// whose hosts were not probed.
func (e Evidence) Synchronised() (maxErrorNS *int64, adjustmentPPM float64, status Status) {
	status = Skip
	for _, p := range e.Processes {
		if p.MaxErrorNS == nil {
			continue
		}
		if maxErrorNS == nil || *p.MaxErrorNS > *maxErrorNS {
			maxErrorNS = p.MaxErrorNS
		}
		adjustmentPPM = max(adjustmentPPM, p.AdjustmentPPM)
		aligned := p.Probed || p.Source == SameBoot || p.Source == SameProcess && len(e.Processes) == 1
		status = worst(status, grade(*p.MaxErrorNS > ms || p.AdjustmentPPM > 500, *p.MaxErrorNS >= unsynchronised && !aligned))
	}
	return maxErrorNS, adjustmentPPM, status
}

// Steps is check C15: the largest step in ns, of a wall clock against its
// monotonic clock or of one host against another. It fails beyond 1 ms when
// several hosts are compared.
func (e Evidence) Steps() (ns int64, status Status) {
	status = Skip
	across := len(e.Pairs) > 0
	for _, p := range e.Processes {
		across = across || p.Source == MaxError || p.Source == Given || p.Source == Unknown
		ns = max(ns, p.StepNS)
		if p.MaxErrorNS != nil || p.StepNS > 0 {
			status = OK
		}
	}
	for _, p := range e.Pairs {
		for _, s := range p.Steps {
			ns = max(ns, s.Size, -s.Size)
		}
		status = OK
	}
	if status == Skip {
		return 0, Skip
	}
	return ns, grade(ns > 20*us, ns > ms && across)
}

// Offset is check C16: the bound boundNS that the rows of the run carry against
// the median of the one-way times. A loop that does not close within its bounds
// fails whatever the bound is.
func (e Evidence) Offset(boundNS, medianNS int64) Status {
	for _, l := range e.Loops {
		if l.Broken {
			return Fail
		}
	}
	if boundNS < 0 {
		return Fail // unknown
	}
	// In floats: products of hostile values must not overflow.
	share := float64(boundNS) / float64(max(medianNS, 1))
	return grade(share > 0.10, share > 0.25)
}

// LargestBound returns the largest bound at any exchange between processes
// whose alignment rests on it, in ns; 0 if none does.
func (e Evidence) LargestBound() int64 {
	var most int64
	for _, p := range e.Pairs {
		if p.Used {
			most = max(most, p.BoundNS)
		}
	}
	return most
}

func worst(a, b Status) Status {
	rank := map[Status]int{Skip: 0, OK: 1, Warn: 2, Fail: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// Causality is check C17 and, where no bound is known, all that messages alone
// can say: a message cannot come before it was sent. The zero value is ready.
type Causality struct {
	Rows     int64 `json:"rows"`     // one-way times seen
	Negative int64 `json:"negative"` // received before sent, after correction
	Beyond   int64 `json:"beyond"`   // of those, by more than the bound
	Unknown  int64 `json:"unknown"`  // negative without a bound
	MinNS    int64 `json:"min_ns"`   // the smallest one-way time; 0 without rows
}

// Add counts a corrected received − sent in ns with its bound, format.Null or
// less than 0 if that is unknown. Nothing is dropped, clamped or folded.
func (c *Causality) Add(delay, bound int64) {
	if c.Rows == 0 || delay < c.MinNS {
		c.MinNS = delay
	}
	c.Rows++
	if delay >= 0 {
		return
	}
	c.Negative++
	switch {
	case bound < 0:
		c.Unknown++
	case delay < -bound:
		c.Beyond++
	}
}

// Merge adds what another has counted.
func (c *Causality) Merge(o Causality) {
	if o.Rows == 0 {
		return
	}
	if c.Rows == 0 || o.MinNS < c.MinNS {
		c.MinNS = o.MinNS
	}
	c.Rows, c.Negative, c.Beyond, c.Unknown = c.Rows+o.Rows, c.Negative+o.Negative, c.Beyond+o.Beyond, c.Unknown+o.Unknown
}

// Status is the verdict: a negative within its bound warns, one beyond it, or
// without a bound, proves that the clocks are not aligned.
func (c *Causality) Status() Status {
	if c.Rows == 0 {
		return Skip
	}
	return grade(c.Negative > 0, c.Beyond > 0 || c.Unknown > 0)
}

// Ahead returns the one-sided bound that causality gives on uncorrected
// instants: the receiver's clock is ahead of the sender's by at most this, in
// ns. It is shown, never applied.
func (c *Causality) Ahead() (ns int64, ok bool) { return c.MinNS, c.Rows > 0 }
