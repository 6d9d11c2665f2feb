package perfsend_test

import (
	"encoding/json"
	"strings"
	"testing"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/load/live"
)

// One object each second and one at the end, which add up to the rows, and
// nothing for people beside them.
func TestStatsJSON(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	if code := s.run("-u " + url + " --stats json -r 200 -d 1200ms --warmup 500ms --tx 10 -o " + s.log + " queue://a"); code != 0 || s.stderr.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	list := objects(t, s.stdout.String())
	var sent int64
	for i, o := range list[:len(list)-1] {
		sent += o.Counts.Sent
		if o.Schema != live.Schema || o.Kind != live.KindSecond || o.Totals.Sent != sent || o.Warmup != (i == 0) {
			t.Errorf("object %d: %+v", i, o)
		}
	}
	o := list[len(list)-1]
	if len(list) < 2 || o.Kind != live.KindSummary || o.Stop != "duration" || o.Totals.Sent != 240 || o.Totals.Committed != 24 || sent > 240 ||
		o.Metrics["service"].N != 140 || o.Metrics["send_delay"].N != 140 || o.Metrics["commit"].N != 24 {
		t.Errorf("%d objects, summary after %d sent: %+v", len(list), sent, o)
	}
	piped := newSession(t)
	if code := piped.run("-u " + url + " --stats json -n 5 -o - queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &piped.stderr)
	}
	if list := objects(t, piped.stderr.String()); list[len(list)-1].Totals.Sent != 5 {
		t.Errorf("with the log on standard output: %s", &piped.stderr)
	}
}

// object is what a line of --stats json says.
type object struct {
	Schema  string                  `json:"schema"`
	Kind    string                  `json:"kind"`
	Stop    string                  `json:"stop"`
	Warmup  bool                    `json:"warmup"`
	Counts  live.Send               `json:"counts"`
	Totals  live.Send               `json:"totals"`
	Metrics map[string]live.Latency `json:"metrics"`
}

func objects(t *testing.T, out string) (list []object) {
	t.Helper()
	for line := range strings.Lines(out) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		t.Fatal("no objects")
	}
	return list
}
