package perfsend_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/load/schedule"
)

// arrival is what a row says about the schedule.
type arrival struct {
	offset      int64
	destination string
	size        int32
}

// arrivals returns those of a log, and the start that its configuration tells.
func (r *rows) arrivals(t *testing.T) (out []arrival, spec schedule.Spec) {
	t.Helper()
	var c struct {
		StartNS  int64           `json:"start_ns"`
		Schedule json.RawMessage `json:"schedule"`
		Hash     string          `json:"schedule_hash"`
	}
	if _, err := r.meta.JSON(format.KeyConfig, &c); err != nil {
		t.Fatal(err)
	}
	spec, err := schedule.ParseSpec(c.Schedule)
	if err != nil || spec.Hash() != c.Hash {
		t.Fatalf("%v; hash %s, want %s", err, c.Hash, spec.Hash())
	}
	for i := range r.b.Len() {
		destination, _ := r.b.Destination.At(i)
		out = append(out, arrival{r.b.Intended[i] - c.StartNS, destination, r.b.Size[i]})
	}
	slices.SortFunc(out, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.destination, b.destination), cmp.Compare(a.size, b.size))
	})
	return out, spec
}

// The schedule in the log makes the intended instants again, to the nanosecond,
// and a replay of the log reproduces them exactly: arrivals, sizes, destinations.
func TestReplayOfALog(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	code := s.run("-u " + url + " -r 2k --arrivals poisson -d 200ms --producers 2 -s 100..4k -o " + s.log + " queue://a queue://b")
	if code != 0 || !strings.Contains(s.stderr.String(), "perf-send: --seed ") {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	recorded, spec := s.read(t).arrivals(t)
	whole, err := spec.Build(nil)
	if err != nil || whole.N() != int64(len(recorded)) || len(recorded) < 200 {
		t.Fatalf("%v, %d rows", err, len(recorded))
	}
	sizes := map[int32]bool{}
	for i, a := range recorded {
		if a.offset != whole.At(int64(i)) {
			t.Fatalf("message %d is intended at %d, the schedule says %d", i, a.offset, whole.At(int64(i)))
		}
		sizes[a.size] = true
	}
	if len(sizes) < 100 {
		t.Errorf("%d sizes", len(sizes))
	}
	for _, speed := range []int64{1, 2} {
		again := newSession(t)
		if code := again.run(fmt.Sprintf("-u %s --replay %s --speed %dx -o %s", url, s.log, speed, again.log)); code != 0 {
			t.Fatalf("exit %d: %s", code, &again.stderr)
		}
		got, spec := again.read(t).arrivals(t)
		if spec.Kind != schedule.KindReplay || len(got) != len(recorded) {
			t.Fatalf("%d messages of %d, %+v", len(got), len(recorded), spec)
		}
		for i, want := range recorded {
			want.offset = (want.offset - recorded[0].offset) / speed
			if got[i] != want {
				t.Fatalf("speed %d: message %d is %+v, recorded as %+v", speed, i, got[i], want)
			}
		}
	}
}

// What a dry run prints is all it does.
func TestDryRunNeedsNoBroker(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	if code := s.run("-u amqp://127.0.0.1:1 --dry-run -r 10 -d 5s -o " + s.log + " queue://a"); code != 0 || !strings.HasPrefix(s.stdout.String(), "constant 10/s, for 5s\nsha256:") {
		t.Errorf("exit %d: %s%s", code, &s.stdout, &s.stderr)
	}
}
