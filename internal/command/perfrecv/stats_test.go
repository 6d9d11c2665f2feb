package perfrecv_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
)

// Each second has an object, and the run has one at the end; their counts add up.
func TestStatsJSON(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 200 queue://q")
	s := newSession(t, url)
	if code := s.run("-d 1200ms --stats json --warmup 10s --rate 100 --outcome reject=0.5 queue://q"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	if strings.Contains(s.stderr.String(), "SUMMARY") {
		t.Errorf("standard error: %s", &s.stderr)
	}
	type object struct {
		Schema, Tool, Kind, Stop string
		Warmup                   bool
		Counts, Totals           map[string]int64
		Rates                    map[string]float64
		Metrics                  map[string]struct {
			N           int64
			QuantilesNS map[string]int64 `json:"quantiles_ns"`
		}
	}
	var list []object
	received := int64(0)
	for line := range bytes.Lines(s.stdout.Bytes()) {
		var o object
		d := json.NewDecoder(bytes.NewReader(line))
		if err := d.Decode(&o); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		list = append(list, o)
		if o.Schema != "stats/1" || o.Tool != "perf-recv" {
			t.Errorf("%+v", o)
		}
		if o.Kind == "second" {
			received += o.Counts["received"]
			if !o.Warmup || o.Metrics["e2e"].N != o.Counts["received"] || len(o.Metrics["e2e"].QuantilesNS) != 5 || o.Rates["received_per_s"] <= 0 {
				t.Errorf("%+v", o)
			}
		}
	}
	if len(list) < 2 {
		t.Fatalf("%d objects: %s", len(list), &s.stdout)
	}
	last := list[len(list)-1]
	r := s.read(t)
	total := last.Counts["received"]
	if last.Kind != "summary" || last.Stop != "duration" || total < received || total > 130 || last.Totals["rejected"]+last.Totals["accepted"] != total || last.Counts["rows"] != int64(r.b.Len()) {
		t.Errorf("%+v after %d in seconds, %d rows", last, received, r.b.Len())
	}
	if code := s.run("--stats json -q queue://q"); code != cli.ExitUsage || !strings.Contains(s.stderr.String(), "contradict each other") {
		t.Errorf("exit %d", code)
	}
	if code := s.run("--stats json --progress queue://q"); code != cli.ExitUsage || !strings.Contains(s.stderr.String(), "leave --progress out") {
		t.Errorf("exit %d", code)
	}
	if code := s.run("--stats xml queue://q"); code != cli.ExitUsage {
		t.Errorf("exit %d", code)
	}
}
