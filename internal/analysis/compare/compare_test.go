package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"amqpperf/internal/analysis/reduce"
)

// study makes two sides of n runs with one number each: log-normal, with a
// standard deviation sigma between runs, and a true ratio.
func study(seed uint64, n int, sigma, ratio float64, metrics ...string) (base, other Side) {
	r := rand.New(rand.NewPCG(seed, 42))
	side := func(name string, ratio float64) Side {
		s := Side{Name: name}
		for i := range n {
			run := Run{Name: fmt.Sprintf("%s%d", name, i)}
			for _, m := range metrics {
				run.Values = append(run.Values, Value{Metric: m, Unit: "ns", V: 1e6 * ratio * math.Exp(sigma*r.NormFloat64())})
			}
			s.Runs = append(s.Runs, run)
		}
		return s
	}
	return side("trunk", 1), side("patched", ratio)
}

func compared(t *testing.T, base, other Side) *Result {
	t.Helper()
	r, err := Compare(base, other, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// K29: A/A, 200 independent data sets: at a level of 5 % at most 17 rejections
// (binomial 97.5 %), for one number, and for five under Holm.
func TestK29NoFalseAlarms(t *testing.T) {
	t.Parallel()
	for _, metrics := range [][]string{{"p99"}, {"rate", "p50", "p90", "p99", "p99.9"}} {
		for _, n := range []int{5, 10} {
			rejected := 0
			for seed := range uint64(200) {
				base, other := study(seed, n, .03, 1, metrics...)
				for _, row := range compared(t, base, other).Rows {
					if *row.Adjusted <= Alpha {
						rejected++
						break
					}
				}
			}
			if rejected > 17 {
				t.Errorf("%d numbers, %d runs a side: %d of 200 rejected", len(metrics), n, rejected)
			}
		}
	}
}

// K30: a true change of 5 % with 2 % between runs is found by five runs a side in
// four of five studies; three cannot.
func TestK30Power(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(200) {
		base, other := study(seed, 5, .02, 1.05, "p99")
		row := compared(t, base, other).Rows[0]
		if row.Verdict == Worse {
			found++
		}
		if row.Verdict == Better {
			t.Errorf("seed %d: slower is called better", seed)
		}
	}
	if found < 160 {
		t.Errorf("found in %d of 200", found)
	}
	base, other := study(1, 3, .02, 1.05, "p99")
	r := compared(t, base, other)
	if r.Rows[0].Verdict != Impossible || !strings.Contains(r.Verdict, "no difference can be significant") || !strings.Contains(r.Verdict, "0.100") {
		t.Errorf("three runs a side: %s: %s", r.Rows[0].Verdict, r.Verdict)
	}
}

// A change of less than 2 %, or less than the error of the tool, is none.
func TestTooSmall(t *testing.T) {
	t.Parallel()
	base, other := study(3, 8, .0005, 1.015, "p99")
	if v := compared(t, base, other).Rows[0].Verdict; v != TooSmall {
		t.Errorf("1.5 %%: %s", v)
	}
	base, other = study(3, 8, .0005, 1.05, "p99")
	other.Runs[2].Values[0].Tool = .1
	if v := compared(t, base, other).Rows[0].Verdict; v != TooSmall {
		t.Errorf("5 %% by a tool that is wrong by 10 %%: %s", v)
	}
}

// S1: five runs of trunk against five of the patch, as they stand in the review.
func funnel() (trunk, patched Side) {
	run := func(build string, i int, s1, s2, r1 float64) Run {
		return Run{
			Name: build, Labels: map[string]string{"build": build},
			Senders: []Client{{"S1", s1}, {"S2", s2}}, Receive: []Client{{"R1", r1}},
			Values: []Value{{Metric: "received rate", V: r1, Unit: "per_s", Higher: true}, {Metric: "service p99", V: 1e7 + float64(i), Unit: "ns"}},
		}
	}
	trunk = Side{Name: "build=trunk", Runs: []Run{
		run("trunk", 1, 68135, 68022, 107949), run("trunk", 2, 73144, 72524, 112914), run("trunk", 3, 70000, 70100, 110000),
		run("trunk", 4, 71000, 70500, 111000), run("trunk", 5, 69000, 69100, 109000),
	}}
	patched = Side{Name: "build=patched", Runs: []Run{
		run("patched", 1, 91120, 83278, 133730), run("patched", 3, 85999, 81863, 125575), run("patched", 2, 88000, 82000, 130000),
		run("patched", 5, 87000, 82500, 128000), run("patched", 4, 89000, 83000, 131000),
	}}
	return trunk, patched
}

func TestS1(t *testing.T) {
	t.Parallel()
	trunk, patched := funnel()
	r := compared(t, trunk, patched)
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	table := text[strings.Index(text, "rates by client"):]
	for _, want := range []string{"S1 ::     S2 ::     R1", " 91120 ::  83278 :: 133730", " 73144 ::  72524 :: 112914", "better: received rate +18.0 % [+13.4 % .. +21.6 %]", "a change of 2.0 % would have been found"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if at := strings.Index(table, "133730"); at > strings.Index(table, "125575") || at > strings.Index(table, "112914") {
		t.Errorf("not best first:\n%s", table)
	}
	if len(r.Between) != 1 || r.Between[0].String() != "label build: patched | trunk" {
		t.Errorf("differs %v", r.Between)
	}
	if v := r.Rows[1].Verdict; v != NoDiff || !strings.Contains(text, "no difference found in service p99") {
		t.Errorf("service p99 is %s in\n%s", v, text)
	}
	// The quad of the review had three runs a side.
	trunk.Runs, patched.Runs = trunk.Runs[:3], patched.Runs[:3]
	if r := compared(t, trunk, patched); !strings.Contains(r.Verdict, "smallest adjusted p is 0.200 for 2 numbers; use 5 runs a side") {
		t.Errorf("%s", r.Verdict)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	trunk, patched := funnel()
	patched.Runs[1].Labels = map[string]string{"build": "patched", "rack": "7"}
	_, err := Compare(trunk, patched, nil)
	if err == nil || !strings.Contains(err.Error(), "the runs of build=patched are not repetitions of one another, they differ in label rack: (none) | 7") {
		t.Errorf("%v", err)
	}
	if _, err := Compare(trunk, patched, []string{"rack"}); err != nil {
		t.Errorf("ignored: %v", err)
	}
	trunk.Runs[0].Config = map[string]string{"perf-send max_pending": "1000"}
	trunk.Runs[1].Config = map[string]string{"perf-send max_pending": "100"}
	if _, err := Compare(trunk, trunk, nil); err == nil || !strings.Contains(err.Error(), "perf-send max_pending: (none) | 100 | 1000") {
		t.Errorf("%v", err)
	}
	if _, err := Compare(trunk, trunk, []string{"max-pending"}); err != nil {
		t.Errorf("ignored: %v", err)
	}
	if _, err := Compare(Side{Name: "a"}, trunk, nil); err == nil {
		t.Error("a side without runs is compared")
	}
	if _, err := ByLabel(trunk.Runs, "flavour"); err == nil || !strings.Contains(err.Error(), `trunk has no label "flavour": its labels are build`) {
		t.Errorf("%v", err)
	}
}

func TestNotCompared(t *testing.T) {
	t.Parallel()
	base, other := study(1, 5, .02, 1.05, "p50", "p99", "p99.9", "blocked")
	base.Runs[3].Values[1] = Value{Metric: "p99", Missing: "infinite"}
	other.Runs[0].Values[3].V = 0
	other.Runs[4].Values = other.Runs[4].Values[:2]
	r := compared(t, base, other)
	for i, want := range []string{"", "trunk3: infinite", "patched4 does not have it", "patched0: it is 0"} {
		if row := r.Rows[i]; !strings.HasPrefix(row.Why, want) || (want == "") != (row.Verdict != NotCompared) {
			t.Errorf("%s: %s, %q", row.Metric, row.Verdict, row.Why)
		}
	}
	base.Runs[0].Failed, base.Runs[1].Failed, other.Runs[0].Failed = []string{"C10", "C8"}, []string{"C8"}, []string{"C8"}
	got := strings.Join(compared(t, base, other).Warnings, "; ")
	if !strings.HasPrefix(got, "C8 failed in 3 of 10 runs: ") || !strings.Contains(got, "; C10 failed in 1 of 10 runs: ") {
		t.Error(got)
	}
	// Only what is compared counts for Holm.
	if *r.Rows[0].Adjusted != *r.Rows[0].P || r.Smallest != SmallestP(5, 5) {
		t.Errorf("p %v adjusted %v smallest %v", *r.Rows[0].P, *r.Rows[0].Adjusted, r.Smallest)
	}
	for _, write := range []func() error{
		func() error { return r.Text(&strings.Builder{}) }, func() error { return r.Markdown(&strings.Builder{}) },
		func() error { return r.JSON(&strings.Builder{}) }, func() error { return r.CSV(&strings.Builder{}, true) },
	} {
		if err := write(); err != nil {
			t.Error(err)
		}
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	last := -1
	for _, v := range []int64{-5, 0, 1, 2, 3, 511, 512, 513, 1000, 1e6, 1e9, 60e9, 4e12} {
		b := bucketOf(v)
		if b < last || b >= infinite {
			t.Errorf("%d is in bucket %d after %d", v, b, last)
		}
		if got := valueOf(b); v > 0 && v < 4e12 && math.Abs(got/float64(v)-1) > 1./1024 {
			t.Errorf("%d is shown as %v", v, got)
		}
		last = b
	}
	if bucketOf(math.MaxInt64) >= infinite || !math.IsInf(valueOf(infinite), 1) {
		t.Error("the top")
	}
}

// sampled makes a run with n values a second of an M/M/1-like scatter.
func sampled(t *testing.T, seed uint64, seconds int, scale float64) *Sampled {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	s := &Sampled{Metric: reduce.Response}
	d := &reduce.Data{}
	d.Window.First, d.Window.Last = 1_000_000, 1_000_000+int64(seconds)*1e9
	if err := s.Begin(d); err != nil {
		t.Fatal(err)
	}
	level := 1.0
	for i := range int64(seconds) * 200 {
		level = .9*level + .1*r.ExpFloat64()
		s.Sample(reduce.Response, d.Window.First+i*5e6, int64(scale*level*1e6), 0)
		s.Sample(reduce.Service, d.Window.First+i*5e6, 1, 0)
	}
	return s
}

func TestShiftFunction(t *testing.T) {
	t.Parallel()
	covered, points := 0, 0
	for seed := range uint64(6) {
		w := ShiftFunction("response", sampled(t, 2*seed, 40, 1), sampled(t, 2*seed+1, 40, 1.2), 1)
		if w.Why != "" || len(w.Points) != 100 || w.Label != WithinOnly {
			t.Fatalf("%+v", w)
		}
		for _, p := range w.Points[:99] {
			if p.Low == nil || p.High == nil || *p.Low > *p.High {
				t.Fatalf("p%s: %+v", p.P, p)
			}
			points++
			if *p.Low <= .2 && *p.High >= .2 {
				covered++
			}
		}
	}
	if share := float64(covered) / float64(points); share < .85 {
		t.Errorf("the true shift is in %.0f %% of the intervals", share*100)
	}
	if w := ShiftFunction("response", sampled(t, 1, 3, 1), sampled(t, 2, 3, 1), 1); w.Why == "" || len(w.Points) == 0 || w.Points[0].Low != nil {
		t.Errorf("three seconds have intervals: %q", w.Why)
	}
	if w := ShiftFunction("response", &Sampled{}, nil, 1); w.Why == "" {
		t.Error("nothing against nothing")
	}
}

// Two of the same runs differ by nothing, and the same seed draws the same.
func TestShiftRepeats(t *testing.T) {
	t.Parallel()
	a, b := ShiftFunction("x", sampled(t, 1, 20, 1), sampled(t, 1, 20, 1), 9), ShiftFunction("x", sampled(t, 1, 20, 1), sampled(t, 1, 20, 1), 9)
	for i := range a.Points {
		if a.Points[i].Change != 0 || *a.Points[i].Low != *b.Points[i].Low {
			t.Fatalf("p%s: %+v %+v", a.Points[i].P, a.Points[i], b.Points[i])
		}
	}
}

// Values that are all infinite, or zero, make no numbers that are none.
func TestShiftOfOdd(t *testing.T) {
	t.Parallel()
	s := sampled(t, 1, 20, 1)
	for i := range int64(4000) {
		s.Infinite(reduce.Response, 1_000_000+i*5e6)
	}
	w := ShiftFunction("response", sampled(t, 1, 20, 1), s, 1)
	for _, p := range w.Points {
		if math.IsInf(p.Change, 0) || math.IsNaN(p.Change) {
			t.Errorf("p%s: %v", p.P, p.Change)
		}
	}
	if err := (&Result{Within: w}).JSON(&strings.Builder{}); err != nil {
		t.Error(err)
	}
}
