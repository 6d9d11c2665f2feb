package join_test

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
	"amqpperf/internal/analysis/join/synth"
)

// situation is one in which deliveries pile up, and must not do so in memory.
type situation struct {
	name  string
	spec  synth.Spec
	spill bool // temporary files are needed
}

const second = int64(time.Second)

func situations(messages int) []situation {
	span := int64(messages) * 10_000
	return []situation{
		{"in order", synth.Spec{Messages: messages, Loss: 10_000, Duplicate: 10_000, Later: 1000}, false},
		{"a backlog of all", synth.Spec{Messages: messages, Backlog: true}, false},
		{"one in ten lost", synth.Spec{Messages: messages, Loss: 10}, false},
		{"duplicates much later", synth.Spec{Messages: messages, Duplicate: 1000, Later: 10 * span}, true},
		{"one subscription lags", synth.Spec{Messages: messages / 100, Subscriptions: 100, Producers: 10, Receivers: 2, Lag: span}, true},
		{"queues with other backlogs", synth.Spec{Messages: messages, Lag: span}, true},
		{"five hosts", synth.Spec{Messages: messages, Senders: 5, Receivers: 5, Loss: 1000, Duplicate: 1000}, false},
		{"duplicates of five hosts", synth.Spec{Messages: messages, Senders: 5, Receivers: 5, Duplicate: 100, Later: 3600 * second}, true},
	}
}

// What is held of deliveries stays within its budget in every situation, and
// the accounting is that of the generator.
func TestBudget(t *testing.T) {
	t.Parallel()
	const messages, chunk = 12_000, 256
	for _, s := range situations(messages) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			names, truth, err := s.spec.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			j, err := join.Open(names, join.WithChunk(join.Options{Memory: 4 << 20}, chunk))
			if err != nil {
				t.Fatal(err)
			}
			drainQuietly(t, j, func() {})
			checkTruth(t, j, truth)
			peak, budget := j.Held()
			if budget > 1<<20 {
				t.Fatalf("the budget is %d: nothing is tested", budget)
			}
			// A batch is added before it is looked at what is over.
			if batch := int64(2 * format.BatchRows * 110); peak > budget+batch {
				t.Errorf("held %d bytes of deliveries, the budget is %d", peak, budget)
			}
			if s.spill && !j.Spilled() {
				t.Error("nothing went to a temporary file: the situation is not what it should be")
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The heap of a whole join stays within --max-memory, at a size where that
// matters. It runs alone, so that the heap is its own.
func TestHeapWithinMemory(t *testing.T) { //nolint:paralleltest // measures the heap of the process
	if os.Getenv("SOAK") == "" {
		t.Skip("SOAK is not set")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const memory = 192 << 20
	for _, s := range situations(4_000_000) {
		t.Run(s.name, func(t *testing.T) {
			names, truth, err := s.spec.Write(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			peak := uint64(0)
			look := func() { peak = max(peak, heap()) }
			j, err := join.Open(names, join.Options{Memory: memory, Progress: func(int64, int64) { look() }})
			if err != nil {
				t.Fatal(err)
			}
			drainQuietly(t, j, look)
			checkTruth(t, j, truth)
			t.Logf("%d MiB of heap, spilled %v", peak>>20, j.Spilled())
			if peak > memory {
				t.Errorf("the heap reached %d MiB, --max-memory is %d MiB", peak>>20, memory>>20)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func drainQuietly(t *testing.T, j *join.Joiner, look func()) {
	t.Helper()
	var b format.Merged
	for {
		err := j.Next(&b)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		look()
	}
}

func checkTruth(t *testing.T, j *join.Joiner, want synth.Truth) {
	t.Helper()
	acc := j.Accounting()
	if err := acc.Check(); err != nil {
		t.Error(err)
	}
	if got := (synth.Truth{Intended: acc.Intended, Received: acc.Received, Lost: acc.Lost, Duplicate: acc.Duplicate}); got != want {
		t.Errorf("the join found %+v, the logs hold %+v", got, want)
	}
}
