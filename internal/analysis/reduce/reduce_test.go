package reduce_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/stats"
)

const (
	us  = synth.Microsecond
	ms  = synth.Millisecond
	sec = synth.Second
)

func run(t *testing.T, l *synth.Log, opt reduce.Options) *reduce.Data {
	t.Helper()
	d, err := reduce.Reduce(l.Reader(997), opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// quantile returns the exact quantile, or Infinity.
func quantile(t *testing.T, d *reduce.Data, m reduce.Metric, p string) int64 {
	t.Helper()
	for _, q := range d.Metrics[m].Quantiles {
		if q.Percentile.String() != p {
			continue
		}
		if q.Status == stats.Infinite {
			return reduce.Infinity
		}
		return q.Observed
	}
	t.Fatalf("%s has no p%s", m, p)
	return 0
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// near compares floating-point numbers with a relative tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !cmp.Equal(got, want, cmpopts.EquateApprox(tolerance, 0)) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// K1: D/D/1, T = 1 ms, s = 0.5 ms, a stall of 100 ms at message 500. Method §6:
// R_k = S+s−k(T−s), ⌈S/(T−s)⌉ messages above s, excess Σ(S−k(T−s)).
func TestK1StallWithQueue(t *testing.T) {
	t.Parallel()
	q := synth.Queue{N: 2000, Interval: 1e6, Service: ms / 2, StallAt: 500 * ms, StallFor: 100 * ms, Serial: true, Transit: -1}
	d := run(t, q.Run(), reduce.Options{})
	r := d.Metrics[reduce.Response]
	equal(t, "max", r.Max(), 100*ms+ms/2)
	near(t, "excess", (r.Mean()-5e5)*2000, 10_050e6, 1e-12)
	slow := int64(0)
	for _, row := range q.Run().Rows {
		if row.Acked-row.Intended > ms/2 {
			slow++
		}
	}
	equal(t, "slow", slow, int64(200))
	// The last of the 200, at 1.0 ms, is not above twice the median.
	equal(t, "stalls", d.Stalls, []reduce.Stall{{
		Start: 500 * ms, Length: 198*ms + 3*ms/2, Messages: 199, Of: 199, ShareOfTop: 1, CarriedBy: reduce.ByBroker,
	}})
	// The service view of a closed loop shows one slow message.
	q.Window = 1
	d = run(t, q.Run(), reduce.Options{Percentiles: stats.MustPercentiles("99.95")})
	equal(t, "closed: service p99.95", quantile(t, d, reduce.Service, "99.95"), ms/2)
	equal(t, "closed: service max", d.Metrics[reduce.Service].Max(), 100*ms+ms/2)
	equal(t, "closed: response max", d.Metrics[reduce.Response].Max(), 100*ms+ms/2)
	near(t, "closed: response excess", (d.Metrics[reduce.Response].Mean()-5e5)*2000, 10_050e6, 1e-12)
	equal(t, "closed: stalls", d.Stalls[0].CarriedBy, reduce.ByWindow)
}

// K2: freeze, s = 0, T = 1 ms, S = 100 ms, N = 10,000.
func TestK2Freeze(t *testing.T) {
	t.Parallel()
	q := synth.Queue{N: 10_000, Interval: 1e6, StallAt: 5000 * ms, StallFor: 100 * ms, Serial: true, Transit: -1}
	d := run(t, q.Run(), reduce.Options{})
	equal(t, "p99", quantile(t, d, reduce.Response, "99"), int64(0))
	equal(t, "p99.9", quantile(t, d, reduce.Response, "99.9"), 90*ms)
	equal(t, "max", d.Metrics[reduce.Response].Max(), 100*ms)
	near(t, "mean", d.Metrics[reduce.Response].Mean(), 0.505e6, 1e-12)
	equal(t, "tail", d.Tail.N, int64(100))
	equal(t, "stalls", d.Stalls, []reduce.Stall{{
		Start: 5000 * ms, Length: 100 * ms, Messages: 100, Of: 100, ShareOfTop: 1, CarriedBy: reduce.ByBroker,
	}})

	q.Window = 1
	d = run(t, q.Run(), reduce.Options{})
	equal(t, "window 1: response p99.9", quantile(t, d, reduce.Response, "99.9"), 90*ms)
	equal(t, "window 1: service p99.99", quantile(t, d, reduce.Service, "99.99"), int64(0))
	equal(t, "window 1: service max", d.Metrics[reduce.Service].Max(), 100*ms)
	near(t, "window 1: mean blocked of the tail", d.Tail.Blocked[reduce.WaitWindow], 49.5e6, 1e-12)
	near(t, "window 1: mean service of the tail", d.Tail.Service, 1e6, 1e-12)
	equal(t, "window 1: carried by", d.Stalls[0].CarriedBy, reduce.ByWindow)
	equal(t, "window 1: blocked for more than 1 ms", d.Waits[reduce.WaitWindow], int64(98))
}

// Slow messages all over the run are one episode by the rule, with how many
// they are among.
func TestScatteredSlowMessages(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 20_000, Interval: 1e6, Service: ms, Transit: -1}.Run()
	for i := 5; i < len(l.Rows); i += 100 {
		l.Rows[i].Acked += 9*ms + int64(i)
	}
	d := run(t, l, reduce.Options{})
	if len(d.Stalls) != 1 {
		t.Fatalf("%+v", d.Stalls)
	}
	s := d.Stalls[0]
	if s.Messages*20 > s.Of {
		t.Errorf("%+v", s)
	}
}

// K3: constant latency of ten intervals, open loop.
func TestK3ConstantLatency(t *testing.T) {
	t.Parallel()
	d := run(t, synth.Queue{N: 5000, Interval: 1e6, Service: 10 * ms, Transit: -1}.Run(), reduce.Options{})
	for _, m := range []reduce.Metric{reduce.Response, reduce.Service} {
		equal(t, m.String()+" count", d.Metrics[m].N(), int64(5000))
		near(t, m.String()+" mean", d.Metrics[m].Mean(), 10e6, 0)
		for _, q := range d.Metrics[m].Quantiles {
			equal(t, m.String()+" p"+q.Percentile.String(), q.Observed, 10*ms)
		}
	}
	equal(t, "stalls", d.Stalls, []reduce.Stall(nil))
}

// K4 (scylla-bench#46): a 10 ms stall, T = 1 ms, s = 0.1 ms, catch-up: 12
// messages above s, 10.1 − 0.9k, k = 0…11.
func TestK4CatchUp(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 1000, Interval: 1e6, Service: ms / 10, StallAt: 500 * ms, StallFor: 10 * ms, Serial: true, Transit: -1}.Run()
	ps := stats.MustPercentiles("98.8,98.9,99,99.1,99.2,99.3,99.4,99.5,99.6,99.7,99.8,99.9,100")
	d := run(t, l, reduce.Options{Percentiles: ps})
	equal(t, "count", d.Metrics[reduce.Response].N(), int64(1000))
	equal(t, "rank 988", quantile(t, d, reduce.Response, "98.8"), ms/10)
	for i, p := range ps[1:] {
		k := int64(11 - i)
		equal(t, "p"+p.String(), quantile(t, d, reduce.Response, p.String()), 10*ms+ms/10-k*9*ms/10)
	}
}

// K5: overload of D/D/1, λ = 1.2 μ: R = s + 0.2·t_intended, the backlog grows by 0.2 μ.
func TestK5Overload(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 12_000, Interval: 1e9 / 1200.0, Service: ms, Serial: true, Transit: -1}.Run()
	d := run(t, l, reduce.Options{})
	for _, row := range l.Rows {
		want := float64(ms) + 0.2*float64(row.Intended-synth.Start)
		if got := float64(row.Acked - row.Intended); math.Abs(got-want) > 2 { // intended is a whole ns
			t.Fatalf("seq %d: response %v, want %v", row.Seq, got, want)
		}
	}
	equal(t, "max", d.Metrics[reduce.Response].Max(), 12_000*ms-(l.Rows[11_999].Intended-synth.Start))
	near(t, "slope", d.Backlog.Slope, 200, 1e-9)
	near(t, "deficit", d.Backlog.Deficit, 1.0/6, 1e-3)
	near(t, "capacity", d.Backlog.Capacity, 1000, 1e-3)
	for q, deficit := range d.Backlog.Quarters {
		near(t, "deficit of quarter", deficit, 1.0/6, 2e-3)
		_ = q
	}
}

// K6: the server dies 5 s before the end of a run of 60 s.
func TestK6ServerDies(t *testing.T) {
	t.Parallel()
	d := run(t, synth.Queue{N: 60_000, Interval: 1e6, Network: 100 * us, DieAt: 55 * sec, Transit: 200 * us}.Run(), reduce.Options{})
	r := d.Metrics[reduce.Response]
	equal(t, "infinite", r.Infinite(), int64(5000))
	equal(t, "p90", quantile(t, d, reduce.Response, "90"), 200*us)
	equal(t, "p99", quantile(t, d, reduce.Response, "99"), reduce.Infinity)
	equal(t, "service p99", quantile(t, d, reduce.Service, "99"), reduce.Infinity)
	// The fate of a message without answer that did not arrive is unknown, not
	// lost; for who waits for it, it is infinitely late.
	equal(t, "e2e p99", quantile(t, d, reduce.E2E, "99"), reduce.Infinity)
	equal(t, "lost", d.Counts.Lost, int64(0))
	equal(t, "unknown", d.Counts.Unknown, int64(5000))
	equal(t, "unsettled", d.Counts.Outcomes[reduce.Unsettled], int64(5000))
	equal(t, "unfinished", d.Integrity.Unfinished, int64(5000))
	equal(t, "age of the oldest", d.Integrity.Oldest, 4999*ms) // until the last was sent
}

// K7: 0.2 % lost.
func TestK7Loss(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 10_000, Interval: 1e6, Network: 100 * us, Transit: 200 * us}.Run()
	for i := 250; i < len(l.Rows); i += 500 {
		l.Rows[i] = l.Rows[i].Lose()
	}
	d := run(t, l, reduce.Options{})
	equal(t, "lost", d.Counts.Lost, int64(20))
	for _, m := range []reduce.Metric{reduce.E2E, reduce.Transit} {
		equal(t, m.String()+" p99", quantile(t, d, m, "99"), 300*us)
		equal(t, m.String()+" p99.9", quantile(t, d, m, "99.9"), reduce.Infinity)
	}
	equal(t, "response p99.9", quantile(t, d, reduce.Response, "99.9"), 200*us)
}

// K12: window 10, RTT 2 ms, offered 8000/s: 5000/s are reached, and sent −
// intended = 0.6·t_intended = 0.375·t_sent… of each batch of ten.
func TestK12Window(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 80_000, Interval: 125_000, Service: 2 * ms, Window: 10, Transit: -1}.Run()
	d := run(t, l, reduce.Options{})
	near(t, "rate", d.Rates.Acked, 5000, 1e-3)
	near(t, "offered", d.Rates.Offered, 8000, 1e-9)
	equal(t, "lag", d.Metrics[reduce.Lag].Max(), int64(0))
	equal(t, "service min", d.Metrics[reduce.Service].Min(), 2*ms)
	equal(t, "service max", d.Metrics[reduce.Service].Max(), 2*ms)
	last := l.Rows[len(l.Rows)-1]
	near(t, "blocked at the end", float64(d.Metrics[reduce.Blocked].Max()), 0.6*float64(last.Intended-synth.Start), 1e-3)
	near(t, "of the time sent", float64(last.Sent-last.Intended)/float64(last.Sent-synth.Start), 0.375, 1e-3)
	equal(t, "in flight", d.Integrity.MaxInFlight, int64(10))
	if share := float64(d.Waits[reduce.WaitWindow]) / float64(d.Window.N); share < 0.99 {
		t.Errorf("share waiting for the window %v", share)
	}
}

// K17: the receiver's clock is 5 ms behind and nothing is known about it.
func TestK17NegativeOneWay(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 1000, Interval: 1e6, Network: 100 * us, Transit: 200 * us}.Run()
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Received, r.Started, r.Settled, r.Bound = r.Received-5*ms, r.Started-5*ms, r.Settled-5*ms, synth.Null
	}
	d := run(t, l, reduce.Options{})
	tr := d.Metrics[reduce.Transit]
	equal(t, "count", tr.N(), int64(1000))
	equal(t, "negative", tr.Negative, int64(1000))
	equal(t, "min", tr.Min(), 300*us-5*ms)
	equal(t, "max", tr.Max(), 300*us-5*ms)
	equal(t, "clock", d.Clock, reduce.Clock{Arrivals: 1000, Unknown: 1000, MinTransit: 300*us - 5*ms, Negative: 1000, Impossible: 1000})
}

// K21: {10, 20, 30, 40, 50} by nearest rank.
func TestK21Rank(t *testing.T) {
	t.Parallel()
	l := &synth.Log{}
	for i, s := range []int64{30, 10, 50, 40, 20} {
		l.Rows = append(l.Rows, synth.Message(int64(i), synth.Start+int64(i)*ms, s))
	}
	d := run(t, l, reduce.Options{Percentiles: stats.MustPercentiles("25,50,90")})
	equal(t, "p25", quantile(t, d, reduce.Service, "25"), int64(20))
	equal(t, "p50", quantile(t, d, reduce.Service, "50"), int64(30))
	equal(t, "p90", quantile(t, d, reduce.Service, "90"), int64(50))
}

// K22: the order of rows and the size of batches change nothing.
func TestK22Order(t *testing.T) {
	t.Parallel()
	l := messy()
	want := run(t, l, reduce.Options{Warmup: span(time.Second)})
	for seed := range uint64(3) {
		d, err := reduce.Reduce(l.Shuffle(seed).Reader(int(100+seed*977)), reduce.Options{Warmup: span(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(synth.SameDistribution)
		if diff := cmp.Diff(want, d, same, cmpopts.EquateNaNs(),
			cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Errorf("seed %d (-want +got):\n%.4000s", seed, diff)
		}
	}
}

func span(d time.Duration) *time.Duration { return &d }

// messy is a run with everything in it: stall, window, losses, duplicates,
// negative and missing answers, two producers, messages that were sent again.
func messy() *synth.Log {
	l := synth.Queue{N: 8000, Interval: 5e5, Service: 100 * us, Network: 50 * us, StallAt: 2 * sec, StallFor: 200 * ms, Serial: true, Window: 100, Transit: 300 * us}.Run()
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Producer, r.Seq = int32(i%2), int64(i/2)
		r.Ready += int64(i%7) * us
		r.Sent = max(r.Sent, r.Ready)
		switch {
		case i%1000 == 10:
			*r = r.Lose()
		case i%1000 == 20:
			r.Outcome = format.Rejected
			r.Received, r.Started, r.Settled, r.RecvOutcome = synth.Null, synth.Null, synth.Null, ""
		case i%1000 == 30:
			twin := *r
			twin.Copy, twin.Secondary, twin.DeliveryCount = 1, true, 1
			twin.Received += ms
			l.Rows = append(l.Rows, twin)
		case i%1000 == 40:
			again := *r
			again.Attempt, again.Sent, again.Acked, again.Received = 1, r.Sent+ms, r.Acked+ms, r.Received+ms
			*r = r.Unanswered(format.Failed).Lose()
			r.RecvOutcome = format.Unknown
			l.Rows = append(l.Rows, again)
		case i%1000 == 50:
			*r = r.Unanswered(format.Unsent).Lose()
			r.RecvOutcome = ""
		}
	}
	l.Meta = synth.Config(map[string]any{"rate": "2k", "max-pending": 100}, map[string]any{"build": "trunk"}, "messy")
	return l
}
