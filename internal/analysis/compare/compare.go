package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// leastChange is the smallest change that is called one.
const leastChange = 0.02

// Verdict is what a comparison says of a number.
type Verdict string

// The verdicts.
const (
	Better      Verdict = "better"
	Worse       Verdict = "worse"
	NoDiff      Verdict = "no difference found"
	Impossible  Verdict = "cannot be significant"
	TooSmall    Verdict = "too small to call a change"
	NotCompared Verdict = "not compared"
)

// Row is one number of both sides.
type Row struct {
	Metric  string    `json:"metric"`
	Unit    string    `json:"unit"`
	Higher  bool      `json:"higher_is_better"`
	Base    []float64 `json:"base"` // a run each
	New     []float64 `json:"new"`
	Verdict Verdict   `json:"verdict"`
	Why     string    `json:"why,omitempty"` // of not compared

	// Change is ratio − 1, the Hodges–Lehmann estimate; Low and High its 95 %
	// interval, nil: unlimited.
	Change *float64 `json:"change"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	P      *float64 `json:"p"`
	// Adjusted is Holm's p over all rows that are compared.
	Adjusted *float64 `json:"p_adjusted"`
	// Detectable is the smallest change found four times out of five; nil when
	// no data could be significant.
	Detectable *float64 `json:"detectable"`
	tool       float64
}

// Result is a comparison of two sides.
type Result struct {
	Schema string `json:"schema"`
	Base   string `json:"base"`
	New    string `json:"new"`
	Runs   [2]int `json:"runs"`
	Rows   []Row  `json:"rows"`
	// Smallest is the smallest adjusted p that any data of so many runs and
	// numbers can have.
	Smallest float64 `json:"smallest_p"`
	// Between are the differences of labels and settings between the sides: what
	// is compared, if nothing else changed.
	Between  []Difference `json:"between"`
	Warnings []string     `json:"warnings"`
	Verdict  string       `json:"verdict"`
	// Clients is the table of rates by client, best first.
	Clients []Rates `json:"clients"`
	// Within is set for one run a side.
	Within *Within `json:"within_run,omitempty"`
}

// Schema names the JSON form.
const Schema = "compare/1"

// Check refuses a side whose runs are not repetitions of one another.
func (s Side) Check(ignore []string) error {
	diffs := Differences(s.Runs, ignore)
	if len(diffs) == 0 {
		return nil
	}
	var out []string
	for _, d := range diffs {
		out = append(out, d.String())
	}
	return fmt.Errorf("the runs of %s are not repetitions of one another, they differ in %s (--ignore KEY if that does not matter)", s.Name, strings.Join(out, "; "))
}

// Compare compares two sides. It refuses a side whose runs differ in labels or
// settings other than those in ignore.
func Compare(base, other Side, ignore []string) (*Result, error) {
	for _, s := range []Side{base, other} {
		if len(s.Runs) == 0 {
			return nil, fmt.Errorf("%s has no runs", s.Name)
		}
		if err := s.Check(ignore); err != nil {
			return nil, err
		}
	}
	r := &Result{
		Schema: Schema, Base: base.Name, New: other.Name, Runs: [2]int{len(base.Runs), len(other.Runs)},
		Between: Differences(slices.Concat(base.Runs, other.Runs), ignore), Warnings: []string{},
	}
	for _, name := range metrics(base, other) {
		r.Rows = append(r.Rows, row(name, base.Runs, other.Runs))
	}
	r.warn(slices.Concat(base.Runs, other.Runs))
	r.judge()
	r.Clients = rates([]Side{base, other})
	r.Verdict = r.verdict()
	return r, nil
}

// warn tells of checks that failed in runs.
func (r *Result) warn(all []Run) {
	times := map[string]int{}
	for _, run := range all {
		for _, id := range run.Failed {
			times[id]++
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(times), byNumber) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s failed in %d of %s: what is compared of them is INVALID", id, times[id], runs(len(all))))
	}
}

// byNumber orders C2 before C10.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// metrics lists the numbers that any run has, in the order of the first one.
func metrics(sides ...Side) []string {
	var out []string
	for _, s := range sides {
		for _, run := range s.Runs {
			for _, v := range run.Values {
				if !slices.Contains(out, v.Metric) {
					out = append(out, v.Metric)
				}
			}
		}
	}
	return out
}

// row estimates the change of one number.
func row(name string, base, other []Run) Row {
	r := Row{Metric: name, Verdict: NoDiff}
	var logs [2][]float64
	for side, runs := range [][]Run{base, other} {
		for _, run := range runs {
			i := slices.IndexFunc(run.Values, func(v Value) bool { return v.Metric == name })
			if i < 0 {
				r.refuse("%s does not have it", run.Name)
				continue
			}
			v := run.Values[i]
			r.Unit, r.Higher, r.tool = v.Unit, v.Higher, max(r.tool, v.Tool)
			switch {
			case v.Missing != "":
				r.refuse("%s: %s", run.Name, v.Missing)
				continue
			case !(v.V > 0) || math.IsInf(v.V, 0):
				r.refuse("%s: it is %g, and only numbers above 0 have a ratio", run.Name, v.V)
			}
			if side == 0 {
				r.Base = append(r.Base, v.V)
			} else {
				r.New = append(r.New, v.V)
			}
			logs[side] = append(logs[side], math.Log(v.V))
		}
	}
	if r.Verdict == NotCompared {
		return r
	}
	s := ShiftOf(logs[0], logs[1])
	r.Change, r.P = ratio(s.Estimate), &s.P
	r.Low, r.High = ratio(s.Low), ratio(s.High)
	return r
}

// refuse takes a number out of the comparison; the first reason stays.
func (r *Row) refuse(format string, args ...any) {
	if r.Verdict != NotCompared {
		r.Verdict, r.Why = NotCompared, fmt.Sprintf(format, args...)
	}
}

// ratio turns a difference of logarithms into a relative change; nil if infinite.
func ratio(log float64) *float64 {
	if math.IsInf(log, 0) || math.IsNaN(log) {
		return nil
	}
	v := math.Expm1(log)
	return &v
}

// judge adjusts the p-values and decides.
func (r *Result) judge() {
	var ps []float64
	for _, row := range r.Rows {
		if row.P != nil {
			ps = append(ps, *row.P)
		}
	}
	adjusted := Holm(ps)
	r.Smallest = min(1, float64(max(1, len(ps)))*SmallestP(r.Runs[0], r.Runs[1]))
	for i, k := 0, 0; i < len(r.Rows); i++ {
		row := &r.Rows[i]
		if row.P == nil {
			continue
		}
		row.Adjusted = &adjusted[k]
		k++
		row.decide(r.Smallest, Alpha/float64(len(ps)))
	}
}

func (r *Row) decide(smallest, level float64) {
	if smallest > Alpha {
		r.Verdict = Impossible
		return
	}
	if r.Detectable = ratio(Detectable(pooled(logs(r.Base), logs(r.New)), len(r.Base), len(r.New), level)); r.Detectable != nil {
		*r.Detectable = max(*r.Detectable, leastChange, r.tool) // less is not called a change
	}
	excludes := (r.Low != nil && *r.Low > 0) || (r.High != nil && *r.High < 0)
	switch {
	case *r.Adjusted > Alpha || !excludes:
		r.Verdict = NoDiff
	case math.Abs(*r.Change) < max(leastChange, r.tool):
		r.Verdict = TooSmall
	case (*r.Change > 0) == r.Higher:
		r.Verdict = Better
	default:
		r.Verdict = Worse
	}
}

func logs(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Log(v)
	}
	return out
}
