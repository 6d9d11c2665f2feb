package live_test

import (
	"testing"

	"amqpperf/internal/load/live"
)

func TestPrint(t *testing.T) {
	t.Parallel()
	var h live.Histogram
	if h.Short() != "-" || h.Long() != "-" {
		t.Errorf("%q, %q", h.Short(), h.Long())
	}
	for v := range int64(20) {
		h.Record(v + 1)
	}
	if got, want := h.Short(), "p50 10ns p99 20ns max 20ns"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := h.Long(), "mean 10ns p50 10ns p90 18ns p99 20ns p99.9 20ns p99.99 20ns max 20ns"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Adding keeps counters and values of both, and resetting one half keeps the other.
func TestSums(t *testing.T) {
	t.Parallel()
	one := live.Send{Sent: 2, Unsent: 3, Due: 1}
	one.Delay.Record(5)
	var sum live.Send
	sum.Add(&one)
	sum.Add(&one)
	if sum.Sent != 4 || sum.Unsent != 6 || sum.Due != 2 || sum.Delay.N() != 2 {
		t.Errorf("%+v", sum)
	}
	sum.ResetCounters()
	if sum.Sent != 0 || sum.Delay.N() != 2 {
		t.Errorf("%+v", sum)
	}
	sum.ResetHistograms()
	if sum.Delay.N() != 0 {
		t.Errorf("%+v", sum)
	}
	got := live.Recv{Received: 1}
	got.E2E.Record(1)
	var all live.Recv
	all.Add(&got)
	all.Add(&got)
	if all.Received != 2 || all.E2E.N() != 2 {
		t.Errorf("%+v", all)
	}
	all.ResetCounters()
	all.ResetHistograms()
	if all.Received != 0 || all.E2E.N() != 0 {
		t.Errorf("%+v", all)
	}
}
