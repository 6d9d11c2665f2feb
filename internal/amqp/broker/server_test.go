package broker

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const ms = int64(time.Millisecond)

// responses runs n arrivals, every T, through a server.
func responses(s Service, stalls []Stall, n int, every time.Duration) []int64 {
	v := newServer(s, "queue://q")
	spans := spansFrom(0, stalls)
	out := make([]int64, n)
	for i := range out {
		at := int64(i) * int64(every)
		_, due := v.serve(spans, at)
		out[i] = due - at
	}
	return out
}

// D/D/1 with T = 1 ms, s = 0.5 ms, and a stall of 100 ms at message 500: 200
// messages are slow, the slowest 100.5 ms, together 10 050 ms too slow.
func TestStallOfABusyServer(t *testing.T) {
	t.Parallel()
	s := 500 * time.Microsecond
	r := responses(Service{Mean: s}, []Stall{{At: 500 * time.Millisecond, For: 100 * time.Millisecond}}, 2000, time.Millisecond)
	slow, excess := 0, int64(0)
	for k, v := range r {
		want := int64(s)
		if k >= 500 && k < 700 {
			want += 100*ms - int64(k-500)*(ms-int64(s))
		}
		if v != want {
			t.Fatalf("message %d: %d ns, want %d", k, v, want)
		}
		if v > int64(s) {
			slow++
			excess += v - int64(s)
		}
	}
	if slow != 200 || slices.Max(r) != 100*ms+ms/2 || excess != 10_050*ms {
		t.Errorf("%d slow, maximum %d, excess %d", slow, slices.Max(r), excess)
	}
}

// A freeze without service time: 100, 99, … 1 ms.
func TestFreeze(t *testing.T) {
	t.Parallel()
	r := responses(Service{}, []Stall{{At: 3 * time.Second, For: 100 * time.Millisecond}}, 10_000, time.Millisecond)
	sum := int64(0)
	for k, v := range r {
		want := int64(0)
		if k >= 3000 && k < 3100 {
			want = (100 - int64(k-3000)) * ms
		}
		if v != want {
			t.Fatalf("message %d: %d ns, want %d", k, v, want)
		}
		sum += v
	}
	if sum != 5050*ms {
		t.Errorf("sum %d", sum)
	}
}

// 1.2 times more than the server can do: response grows by 0.2 of the elapsed time.
func TestOverload(t *testing.T) {
	t.Parallel()
	r := responses(Service{Mean: 1200 * time.Microsecond}, nil, 5000, time.Millisecond)
	for k, v := range r {
		if want := 1200_000 + int64(k)*200_000; v != want {
			t.Fatalf("message %d: %d, want %d", k, v, want)
		}
	}
}

// A service that a stall interrupts is continued, not begun again.
func TestStallInterruptsService(t *testing.T) {
	t.Parallel()
	spans := spansFrom(1000, []Stall{{At: 50, For: 100}, {At: 300, For: 10}, {At: 120, For: 60}, {At: 310, For: 5}})
	if d := cmp.Diff([]span{{1050, 1180}, {1300, 1315}}, spans, cmp.AllowUnexported(span{})); d != "" {
		t.Fatal(d)
	}
	v := newServer(Service{Mean: 200}, "q")
	for _, c := range [][3]int64{{1000, 1000, 1345}, {1000, 1345, 1545}, {5000, 5000, 5200}} {
		if start, due := v.serve(spans, c[0]); start != c[1] || due != c[2] {
			t.Errorf("arrival %d: %d to %d, want %d to %d", c[0], start, due, c[1], c[2])
		}
	}
}

// Whatever arrives: no overlap, no service inside a freeze, exactly the work done.
func TestServerInvariants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var stalls []Stall
		for range rapid.IntRange(0, 4).Draw(t, "stalls") {
			stalls = append(stalls, Stall{time.Duration(rapid.IntRange(0, 2000).Draw(t, "at")), time.Duration(rapid.IntRange(1, 300).Draw(t, "for"))})
		}
		mean := rapid.IntRange(0, 50).Draw(t, "mean")
		v, spans := newServer(Service{Mean: time.Duration(mean)}, "q"), spansFrom(0, stalls)
		at, last := int64(0), int64(0)
		for range 60 {
			at += int64(rapid.IntRange(0, 60).Draw(t, "gap"))
			start, due := v.serve(spans, at)
			frozen := int64(0)
			for _, s := range spans {
				frozen += max(0, min(due, s.to)-max(start, s.from))
			}
			if start < at || start < last || thawed(spans, start) != start || due-start-frozen != int64(mean) {
				t.Fatalf("arrival %d: %d to %d after %d, %d frozen", at, start, due, last, frozen)
			}
			last = due
		}
	})
}

// Exponential service is what it says, the same for the same seed and name, and
// another for another.
func TestExponentialService(t *testing.T) {
	t.Parallel()
	s := Service{Mean: time.Millisecond, Exponential: true, Seed: 7}
	draw := func(s Service, name string) []int64 {
		v := newServer(s, name)
		out := make([]int64, 20_000)
		for i := range out {
			start, due := v.serve(nil, int64(i)*int64(time.Hour))
			out[i] = due - start
		}
		return out
	}
	a := draw(s, "a")
	if d := cmp.Diff(a, draw(s, "a")); d != "" {
		t.Error("not repeatable")
	}
	if slices.Equal(a, draw(s, "b")) {
		t.Error("two addresses draw the same")
	}
	s.Seed = 8
	if slices.Equal(a, draw(s, "a")) {
		t.Error("two seeds draw the same")
	}
	slices.Sort(a)
	mean := 0.0
	for _, v := range a {
		mean += float64(v) / float64(len(a))
	}
	// Standard errors: of the mean 1/√n = 0.7 %, of these quantiles 0.7 to 3 %.
	if math.Abs(mean/float64(ms)-1) > 0.03 {
		t.Errorf("mean %.0f", mean)
	}
	for _, q := range []float64{0.1, 0.5, 0.9, 0.99} {
		want := -math.Log(1-q) * float64(ms)
		if got := float64(a[int(q*float64(len(a)))]); math.Abs(got/want-1) > 0.1 {
			t.Errorf("quantile %v: %.0f, want %.0f", q, got, want)
		}
	}
}

// Both kinds of alarm fire, not early, can be moved forward, and stop waiting on close.
func TestAlarms(t *testing.T) {
	t.Parallel()
	for _, coarse := range []bool{true, false} {
		a := newAlarm(coarse)
		began := time.Now()
		a.set(time.Hour)
		a.set(3 * time.Millisecond)
		if !a.wait() || time.Since(began) < 3*time.Millisecond {
			t.Errorf("coarse %v: woke after %v", coarse, time.Since(began))
		}
		a.set(-1)
		if !a.wait() {
			t.Errorf("coarse %v: an instant in the past", coarse)
		}
		done := make(chan bool)
		go func() { done <- a.wait() }()
		a.close()
		if <-done {
			t.Errorf("coarse %v: wait is true after close", coarse)
		}
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Config{
		"frame size": {MaxFrameSize: 100}, "user": {RequireUser: true}, "service": {Service: Service{Mean: -1}}, "exponential": {Service: Service{Exponential: true}},
		"delay": {Delay: -1}, "cap": {MaxUnsettledBytes: -1}, "queued": {MaxQueued: -1}, "stall": {Stalls: []Stall{{At: 1}}}, "stall before": {Stalls: []Stall{{At: -1, For: 1}}},
		"address": {Addresses: []string{"queue://"}}, "forbidden": {Forbidden: []string{""}}, "idle": {IdleTimeout: time.Microsecond},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
