package live_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/load/live"
)

// The object of one second, as text: a format that others read.
func TestStatsLine(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 1, 12, 0, 0, 500, time.UTC)
	s := live.NewStats("perf-recv", live.KindSecond, at, 5*time.Second, 2*time.Second)
	var h, none live.Histogram
	for v := range int64(20) {
		h.Record(v + 1)
	}
	s.Rate("received_per_s", 33)
	s.Metric("e2e", &h)
	s.Metric("transit", &none)
	s.Counts, s.Totals = &live.Recv{Received: 33}, &live.Recv{Received: 100}
	line, err := s.Line()
	if err != nil || line[len(line)-1] != '\n' {
		t.Fatalf("%q, %v", line, err)
	}
	var got map[string]any
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	counts, _ := got["counts"].(map[string]any)
	totals, _ := got["totals"].(map[string]any)
	if counts["received"] != 33.0 || totals["received"] != 100.0 {
		t.Errorf("counts %v, totals %v", counts, totals)
	}
	delete(got, "counts")
	delete(got, "totals")
	want := map[string]any{
		"schema": "stats/1", "tool": "perf-recv", "kind": "second", "at_ns": float64(at.UnixNano()), "time": "2026-05-01T12:00:00.0000005Z",
		"elapsed_ns": 5e9, "interval_ns": 2e9, "warmup": false,
		"rates": map[string]any{"received_per_s": 16.5},
		"metrics": map[string]any{"e2e": map[string]any{
			"n": 20.0, "min_ns": 1.0, "mean_ns": 11.0, "max_ns": 20.0,
			"quantiles_ns": map[string]any{"50": 10.0, "90": 18.0, "99": 20.0, "99.9": 20.0, "99.99": 20.0},
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// What was added since is the difference of every counter.
func TestSince(t *testing.T) {
	t.Parallel()
	var one live.Recv
	counters := []byte(`{"received":1,"other_run":2,"foreign":3,"released":4,"discarded":15,"redelivered":5,"rows":6,"unaligned":7,"accepted":8,"rejected":9,` +
		`"modified":10,"returned":11,"committed":12,"rolled_back":13,"tx_failed":14}`)
	if err := json.Unmarshal(counters, &one); err != nil {
		t.Fatal(err)
	}
	var two live.Recv
	two.Add(&one)
	two.Add(&one)
	got := two.Since(&one)
	text, err := json.Marshal(&got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(counters), string(text)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
