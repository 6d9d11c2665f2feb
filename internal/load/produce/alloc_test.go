package produce_test

import (
	"context"
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// echo answers every batch within Submit, before that has returned.
type echo struct {
	p     *produce.Producer
	clock *timestamp.Clock
	body  []byte
}

func (e *echo) Submit(_ context.Context, messages []amqp.Message) (int, error) {
	now := e.clock.Now()
	for i := range messages {
		messages[i].Sent, messages[i].Wait = now, amqp.WaitNone
		e.body = e.p.Append(e.body[:0], &messages[i])
	}
	answer := [1]amqp.Completion{{First: messages[0].ID, Last: messages[len(messages)-1].ID, State: amqp.Accepted, At: now}}
	e.p.Completed(answer[:])
	return len(messages), nil
}

func (e *echo) Close(context.Context) error { return nil }

func closedLoop(t testing.TB, n int64) (rows int64) {
	clock := timestamp.NewClock()
	p := produce.New(produce.Config{
		Run: "r", Clock: clock, Size: 1024, Filler: produce.Filler(1024), Window: 100, Count: n,
		Write: func(*recorder.SendRow) { rows++ },
	})
	p.Begin(clock.Now(), 0)
	if err := p.Run(t.Context(), &echo{p: p, clock: clock}); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestNoAllocationPerMessage(t *testing.T) {
	const n = 100_000
	var rows int64
	allocations := testing.AllocsPerRun(1, func() { rows = closedLoop(t, n) })
	if rows != n {
		t.Errorf("%d rows of %d messages", rows, n)
	}
	if allocations > 500 {
		t.Errorf("%g allocations for %d messages", allocations, n)
	}
}

// BenchmarkMessage is the tool's own cost of a message in a closed loop, with a
// body of 1 KiB and without a link.
func BenchmarkMessage(b *testing.B) {
	b.ReportAllocs()
	closedLoop(b, int64(b.N))
}
