package consume_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/pace"
	"amqpperf/timestamp"
)

func TestWorkText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want, err string }{
		{"5ms", "5ms", ""},
		{"exp(5ms)", "exp(5ms)", ""},
		{"lognormal(5ms,2)", "lognormal(5ms,2)", ""},
		{"lognormal( 1s , 1.5 )", "lognormal(1s,1.5)", ""},
		{"", "", "want a time such as 5ms"},
		{"5", "", "want a time such as 5ms"},
		{"0s", "", "the time must be above 0"},
		{"-5ms", "", "the time must be above 0"},
		{"2h", "", "at most 1h"},
		{"exp(5ms", "", "want a time"},
		{"constant(5ms)", "", "want a time"},
		{"uniform(5ms)", "", "want a time"},
		{"lognormal(5ms)", "", "want a time"},
		{"lognormal(5ms,x)", "", "want lognormal(MEDIAN,SPREAD)"},
		{"lognormal(5ms,1)", "", "the spread is a factor above 1"},
		{"lognormal(5ms,NaN)", "", "the spread is a factor above 1"},
	} {
		var w consume.Work
		err := w.Set(tt.text)
		if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.err)
		}
		if err == nil && (w.String() != tt.want || w.None()) {
			t.Errorf("%q prints as %q, want %q", tt.text, w.String(), tt.want)
		}
	}
}

func FuzzWork(f *testing.F) {
	for _, s := range []string{"5ms", "exp(5ms)", "lognormal(5ms,2)", "lognormal(,)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var w, again consume.Work
		if w.Set(text) != nil {
			return
		}
		if err := again.Set(w.String()); err != nil || again != w {
			t.Errorf("%q prints as %q, which reads as %v, %v", text, w.String(), again, err)
		}
	})
}

// Mean and median are those asked for, and the same seed gives the same times.
func TestWorkDistributions(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for _, tt := range []struct {
		text         string
		mean, median float64 // ms
	}{
		{"5ms", 5, 5},
		{"exp(5ms)", 5, 5 * math.Ln2},
		{"lognormal(5ms,2)", 5 * math.Exp(math.Ln2*math.Ln2/2), 5},
	} {
		var w consume.Work
		if err := w.Set(tt.text); err != nil {
			t.Fatal(err)
		}
		draw := func() []int64 {
			r := rand.New(rand.NewPCG(1, 2))
			out := make([]int64, n)
			for i := range out {
				out[i] = consume.Draw(&w, r)
			}
			return out
		}
		times := draw()
		if !slices.Equal(times, draw()) {
			t.Errorf("%s: other times with the same seed", tt.text)
		}
		sum := 0.0
		for _, x := range times {
			sum += float64(x) / 1e6
		}
		slices.Sort(times)
		if mean, median := sum/n, float64(times[n/2])/1e6; math.Abs(mean/tt.mean-1) > 0.02 || math.Abs(median/tt.median-1) > 0.02 {
			t.Errorf("%s: mean %.3f ms, median %.3f ms, want %.3f and %.3f", tt.text, mean, median, tt.mean, tt.median)
		}
	}
}

func (r *rig) slow(t *testing.T, work string, interval time.Duration) {
	t.Helper()
	r.config.Tempo = consume.Tempo{Seed: 7, Interval: interval, NewTimer: func() (pace.Timer, error) { return pace.NewRuntimeTimer(r.clock), nil }}
	if work != "" {
		if err := r.config.Tempo.Work.Set(work); err != nil {
			t.Fatal(err)
		}
	}
}

// times returns "queued work" of the rows in ms.
func (r *rig) times() (out []string) {
	for _, row := range r.rows {
		out = append(out, fmt.Sprintf("%d %d", (row.Started-row.Received)/1e6, (row.Settled-row.Started)/1e6))
	}
	return out
}

// Four messages arrive together; each takes 5 ms and is answered by itself. The
// idle time, shorter than the work that waits, counts from when nothing is left.
func TestWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "5ms", 0)
		r.limits.Idle = 4 * ms
		start := r.clock.Now()
		r.queue.put(r.bodies("r", 4)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0 5", "5 5", "10 5", "15 5"}, r.times()); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if d := cmp.Diff([]string{"0-0 accepted", "1-1 accepted", "2-2 accepted", "3-3 accepted"}, r.queue.answers); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if took := time.Duration(r.clock.Now() - start); took != 24*ms+100*ms {
			t.Errorf("it took %v", took)
		}
	})
}

// Two are answered together, after the work on both.
func TestWorkAckEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "5ms", 0)
		r.config.AckEvery = 2
		r.limits.Count = 4
		r.queue.put(r.bodies("r", 4)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0 10", "5 5", "10 10", "15 5"}, r.times()); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// At most 100 a second: one every 10 ms, and none at once after a pause.
func TestRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "", 10*ms)
		r.limits.Idle = 200 * ms
		r.queue.put(r.bodies("r", 3)...)
		time.AfterFunc(100*ms, func() { r.queue.put(r.bodies("r", 3)...) })
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0 0", "10 0", "20 0", "0 0", "10 0", "20 0"}, r.times()); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// The end comes while one message is worked on, one waits for its turn and one
// more is in the prefetch: the first is finished and accepted, the others go back.
func TestWorkInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "20ms", 30*ms)
		r.limits.Duration = 10 * ms
		start := r.clock.Now()
		r.queue.put(r.bodies("r", 3)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if got, want := r.outcomes(t), "0 accepted, 1 released, 2 released"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if took := time.Duration(r.clock.Now() - start); took != 20*ms+100*ms {
			t.Errorf("it took %v", took)
		}
	})
}

// A message of another run is neither worked on nor waited with.
func TestWorkOtherRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "5ms", 0)
		r.config.Run = "r"
		r.limits.Count = 1
		r.queue.put(r.body("old"), r.body("old"), r.body("r"))
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0 0", "0 0", "0 5"}, r.times()); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// lateTimer is a runtime timer that is always late by the same.
type lateTimer struct {
	pace.Timer
	late int64
}

func (l lateTimer) Wait(instant int64) error { return l.Timer.Wait(instant + l.late) }

// A timer that is late by 1 ms each time makes no message slower than the one
// before it: 100 times 5 ms take 501 ms, not 600.
func TestNoDrift(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		work     string
		interval time.Duration
	}{{"5ms", 0}, {"", 5 * ms}, {"4ms", 5 * ms}, {"", ms / 2}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig()
			r.slow(t, tt.work, tt.interval)
			r.config.Tempo.NewTimer = func() (pace.Timer, error) { return lateTimer{pace.NewRuntimeTimer(r.clock), int64(ms)}, nil }
			const n = 101
			r.config.Credit, r.limits.Count = n, n
			r.queue.put(r.bodies("r", n)...)
			if err := r.run(t); err != nil {
				t.Error(err)
			}
			each := max(tt.interval, 5*ms)
			if tt.interval > 0 {
				each = tt.interval
			}
			span := time.Duration(r.rows[n-1].Started - r.rows[0].Started)
			if span < (n-1)*each || span > (n-1)*each+ms {
				t.Errorf("work %q, interval %v: %d messages were begun with within %v", tt.work, tt.interval, n, span)
			}
		})
	}
}

// One in four goes back and comes again until it is accepted, and the run ends.
func TestRedelivered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.queue.redeliver = true
		if err := r.config.Outcomes.Set("release=0.25,reject=0.25"); err != nil {
			t.Fatal(err)
		}
		r.limits.Idle = time.Second
		r.queue.put(r.bodies("r", 8)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		n := map[string]int{}
		final := map[int64]string{}
		for _, row := range r.rows {
			n[row.Outcome]++
			final[row.Seq] = row.Outcome
		}
		// 8 deliveries: 2 released; 2 more: none; 10 in all, of which a quarter rejected.
		want := map[string]int{format.Accepted: 5, format.Released: 3, format.Rejected: 3}
		if d := cmp.Diff(want, n); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		for seq, outcome := range final {
			if outcome == format.Released {
				t.Errorf("message %d never came back", seq)
			}
		}
		if reason, err := r.group.Reason(); reason != consume.StopIdle || err != nil || len(final) != 8 {
			t.Errorf("stopped by %s, %v; %d messages", reason, err, len(final))
		}
	})
}

// A link is lost and another takes its place: what was unsettled stays so, and
// comes again with the connection's number.
func TestAnotherLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.AckEvery = 4
		r.limits.Count = 10
		second := newRig()
		second.clock, second.queue.clock = r.clock, r.clock
		bodies := r.bodies("r", 6)
		r.queue.put(bodies...)
		time.AfterFunc(50*ms, func() { r.queue.die(errCut) })
		second.queue.free = 10
		second.queue.put(bodies[4:]...)
		second.queue.put(r.bodies("r", 2)...)
		r.next = second.queue
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		want := "0 accepted 0, 1 accepted 0, 2 accepted 0, 3 accepted 0, 4 unsettled 0, 5 unsettled 0, 4 accepted 1, 5 accepted 1, 6 accepted 1, 7 accepted 1"
		var got []string
		for _, row := range r.rows {
			got = append(got, fmt.Sprintf("%d %s %d", row.Seq, row.Outcome, row.Connection))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
		}
		if reason, err := r.group.Reason(); reason != consume.StopCount || err != nil {
			t.Errorf("stopped by %s, %v", reason, err)
		}
	})
}

// The timers are those of the host: some milliseconds of work take at least that long.
func TestRealTimer(t *testing.T) {
	t.Parallel()
	clock := timestamp.NewClock()
	tempo := consume.Tempo{NewTimer: func() (pace.Timer, error) { return pace.NewTimer(clock) }}
	if err := tempo.Work.Set("2ms"); err != nil {
		t.Fatal(err)
	}
	group := consume.NewGroup(t.Context(), clock, consume.Limits{Count: 5}, 1)
	rows := receiveWith(t, consume.Config{Credit: 10, Clock: clock, Group: group, Tempo: tempo})
	if span := rows[4].Settled - rows[0].Started; len(rows) < 5 || span < int64(10*ms) {
		t.Errorf("%d messages of 2 ms took %v", len(rows), time.Duration(span))
	}
}

// While a consumer is away the idle time stands still; it counts from its return.
func TestAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.limits.Idle = time.Second
		start := r.clock.Now()
		r.queue.put(r.body("r"))
		r.later = func() {
			back := r.group.Away()
			time.AfterFunc(5*time.Second, back)
		}
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		// Looked at once in the idle time, which began 5.7 s after the start.
		if took := time.Duration(r.clock.Now() - start); took < 6700*ms+100*ms || took > 7700*ms+100*ms {
			t.Errorf("it took %v", took)
		}
	})
}
