package stats_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"amqpperf/internal/analysis/stats"
)

// queue is a FIFO server in virtual time, in the order of arrival. pause, if
// any, is [from, until) on the clock: the server does nothing then.
func queue(arrivals, services []int64, from, until int64) []int64 {
	order := make([]int, len(arrivals))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(max(arrivals[a]-arrivals[b], -1), 1)) })
	done := make([]int64, len(arrivals))
	var free int64
	for _, i := range order {
		begin := max(arrivals[i], free)
		if begin >= from && begin < until {
			begin = until
		}
		end := begin + services[i]
		if begin < from && end > from {
			end += until - from
		}
		done[i], free = end, end
	}
	return done
}

// setting is a run of an M/M/1 queue, mean service 1 ms, with a generator that is late.
type setting struct {
	n     int
	rho   float64
	share float64 // of messages that are late
	mean  float64 // of their lateness, in service times
}

func (s setting) run(seed uint64) (arrivals []stats.Arrival, ideal []int64) {
	const service = 1e6
	rng := rand.New(rand.NewPCG(seed, 11))
	intended, ready, services := make([]int64, s.n), make([]int64, s.n), make([]int64, s.n)
	at, last := 0.0, int64(0)
	for i := range intended {
		at += rng.ExpFloat64() * service / s.rho
		intended[i], services[i] = int64(at), int64(rng.ExpFloat64()*service)
		ready[i] = intended[i]
		if rng.Float64() < s.share {
			ready[i] += int64(rng.ExpFloat64() * s.mean * service)
		}
		ready[i] = max(ready[i], last) // one pacer hands over in order
		last = ready[i]
	}
	done := queue(ready, services, -1, -1)
	ideal = queue(intended, services, -1, -1)
	for i := range intended {
		arrivals = append(arrivals, stats.Arrival{Intended: intended[i], Ready: ready[i], Done: done[i]})
		ideal[i] -= intended[i]
	}
	return arrivals, ideal
}

func settings() []setting {
	return []setting{{100_000, 0.5, 0.01, 0.3}, {100_000, 0.8, 1, 0.05}, {100_000, 0.5, 0.02, 3}, {100_000, 0.95, 0.1, 1}}
}

const median20 = int64(30e6) // twenty medians of the response, and more

// K11: the truth lies inside for every message, by rows and by bins.
func TestK11Inside(t *testing.T) {
	t.Parallel()
	for i, s := range settings() {
		arrivals, ideal := s.run(uint64(i))
		b := stats.NewBusy(slices.Clone(arrivals), 0, 20*median20)
		bins := stats.NewBusyBins(arrivals)
		bins.Close(0, 20*median20)
		looser := int64(0)
		for k, a := range arrivals {
			response, m := a.Done-a.Intended, b.Lateness(a)
			if ideal[k] > response || ideal[k] < response-m {
				t.Fatalf("setting %d message %d: %d is not in [%d, %d]", i, k, ideal[k], response-m, response)
			}
			if loose := bins.Lateness(a); loose < m {
				t.Fatalf("setting %d message %d: M is %d by bins and %d by rows", i, k, loose, m)
			} else if loose > m {
				looser++
			}
		}
		if b.Overtaken != 0 || b.Early != 0 || len(b.Pauses) != 0 {
			t.Errorf("setting %d: overtaken %d, early %d, pauses %d", i, b.Overtaken, b.Early, len(b.Pauses))
		}
		if share := float64(looser) / float64(len(arrivals)); share > 0.02 {
			t.Errorf("setting %d: %v of the messages are looser by bins", i, share)
		}
	}
}

// acked − ready is no lower bound: the test of the method would notice.
func TestK11AckedMinusReadyIsNoBound(t *testing.T) {
	t.Parallel()
	arrivals, ideal := settings()[2].run(2)
	wrong := 0
	for i, a := range arrivals {
		if a.Done-a.Ready > ideal[i] {
			wrong++
		}
	}
	if wrong == 0 {
		t.Error("no message below acked − ready")
	}
}

// K11: a pause of the server that is tied to the clock, and a message that is
// late across its start: the bound breaks and a Pause says so.
func TestK11WallClockPause(t *testing.T) {
	t.Parallel()
	const n, ms = 1000, int64(1e6)
	var intended, ready, services []int64
	for i := range int64(n) {
		intended, ready, services = append(intended, i*ms), append(ready, i*ms), append(services, ms/2)
	}
	from, until := 500*ms+ms*6/10, 600*ms+ms*6/10
	ready[500] += ms * 7 / 10 // intended before the pause, handed over in it
	done, ideal := queue(ready, services, from, until), queue(intended, services, from, until)
	var arrivals []stats.Arrival
	for i := range intended {
		arrivals = append(arrivals, stats.Arrival{Intended: intended[i], Ready: ready[i], Done: done[i]})
	}
	b := stats.NewBusy(slices.Clone(arrivals), 0, 10*ms)
	below := 0
	for i, a := range arrivals {
		if ideal[i]-intended[i] < a.Done-a.Intended-b.Lateness(a) {
			below++
		}
	}
	if below == 0 {
		t.Fatal("the counterexample is none")
	}
	if len(b.Pauses) != 1 || b.Pauses[0].From < 499*ms || b.Pauses[0].From > 502*ms {
		t.Errorf("pauses %+v", b.Pauses)
	}
	punctual := slices.Clone(arrivals)
	punctual[500].Ready = punctual[500].Intended
	if b := stats.NewBusy(punctual, 0, 10*ms); len(b.Pauses) != 0 {
		t.Errorf("without lateness nothing breaks: %+v", b.Pauses)
	}
}

// K11: two producers of which one lags invert the order.
func TestK11TwoProducers(t *testing.T) {
	t.Parallel()
	const ms = int64(1e6)
	rng := rand.New(rand.NewPCG(11, 2))
	var intended, ready, services []int64
	for i := range int64(20_000) {
		intended, ready = append(intended, i*ms), append(ready, i*ms)
		services = append(services, int64(rng.ExpFloat64()*0.7e6))
		if i%2 == 1 && i%40 == 1 {
			ready[i] += 5 * ms
		}
	}
	done, ideal := queue(ready, services, -1, -1), queue(intended, services, -1, -1)
	var arrivals []stats.Arrival
	for i := range intended {
		arrivals = append(arrivals, stats.Arrival{Intended: intended[i], Ready: ready[i], Done: done[i]})
	}
	b := stats.NewBusy(slices.Clone(arrivals), 0, 0)
	above := 0
	for i, a := range arrivals {
		if ideal[i]-a.Intended > a.Done-a.Intended {
			above++
		}
	}
	if above == 0 {
		t.Fatal("the counterexample is none")
	}
	if b.Overtaken < 400 { // every message that was handed over late
		t.Errorf("%d overtaken", b.Overtaken)
	}
	bins := stats.NewBusyBins(arrivals)
	bins.Close(0, 0)
	var overtaken int64
	for _, a := range arrivals {
		if bins.Overtaken(a) {
			overtaken++
		}
	}
	if overtaken == 0 || overtaken > b.Overtaken {
		t.Errorf("%d overtaken by bins, %d by rows", overtaken, b.Overtaken)
	}
}

// A message without an answer keeps the busy period open for ever.
func TestBusyUnanswered(t *testing.T) {
	t.Parallel()
	all := []stats.Arrival{{0, 5, 10}, {100, 100, stats.Never}, {200, 207, 210}, {300, 300, 310}}
	b := stats.NewBusy(slices.Clone(all), 0, 0)
	for i, want := range []int64{5, 0, 7, 7} {
		if got := b.Lateness(all[i]); got != want {
			t.Errorf("message %d: M %d, want %d", i, got, want)
		}
	}
	if b.Overtaken != 1 || b.Periods != 2 {
		t.Errorf("overtaken %d, periods %d", b.Overtaken, b.Periods)
	}
	// Clocks that may be off by 91 ns do not show that the system was empty.
	if b := stats.NewBusy(slices.Clone(all), 91, 0); b.Lateness(all[1]) != 5 {
		t.Error("tolerance ignored")
	}
}

// The bins are the same whatever the order in which the messages come.
func TestBusyBinsOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	var all []stats.Arrival
	for range 5000 {
		at := rng.Int64N(3600e9)
		done := at + 2e6 + rng.Int64N(1e9)
		if rng.IntN(50) == 0 {
			done = stats.Never
		}
		all = append(all, stats.Arrival{Intended: at, Ready: at + rng.Int64N(1e6), Done: done})
	}
	want := stats.NewBusyBins(all)
	for k := range 4 {
		other := slices.Clone(all)
		rng.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		got := stats.NewBusyBins(other[:1+k*1000])
		if k%2 == 0 {
			for _, a := range other[1+k*1000:] {
				got.Add(a)
			}
		} else {
			var intended, ready, done []int64
			for _, a := range other[1+k*1000:] {
				intended, ready, done = append(intended, a.Intended), append(ready, a.Ready), append(done, a.Done)
			}
			half := len(done) / 2
			got.AddColumns(intended[:half], ready[:half], done[:half])
			got.AddColumns(intended[half:], ready[half:], done[half:])
		}
		if got.Width() != want.Width() {
			t.Fatalf("width %d and %d", got.Width(), want.Width())
		}
		a, startA := want.Sums()
		b, startB := got.Sums()
		var na, nb []stats.BatchMean
		for i := range a {
			if a[i].N > 0 {
				na = append(na, a[i])
			}
			if b[i].N > 0 {
				nb = append(nb, b[i])
			}
		}
		if !slices.Equal(na, nb) {
			t.Errorf("sums differ (starts %d, %d)", startA, startB)
		}
		got.Close(0, 0)
		ref := stats.NewBusyBins(all)
		ref.Close(0, 0)
		for _, a := range all {
			if got.Lateness(a) != ref.Lateness(a) || got.Overtaken(a) != ref.Overtaken(a) {
				t.Fatalf("%+v differs", a)
			}
		}
	}
}
