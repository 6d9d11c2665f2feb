package consume_test

import (
	"context"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// full always has as many deliveries as are asked for, of two runs by turns.
type full struct {
	clock  *timestamp.Clock
	bodies [2][]byte
	next   uint64
}

func (f *full) Receive(ctx context.Context, dst []amqp.Delivery) (int, error) {
	now := f.clock.Now()
	for i := range dst {
		dst[i] = amqp.Delivery{ID: f.next, Received: now, Body: f.bodies[f.next%2], BrokerIn: format.Null}
		f.next++
	}
	return len(dst), ctx.Err()
}

func (f *full) Settle(uint64, uint64, amqp.State) (int64, error) { return f.clock.Now(), nil }
func (f *full) Flush(context.Context) error                      { return nil }
func (f *full) Stop(context.Context) error {
	f.bodies = [2][]byte{}
	return nil
}
func (f *full) Close(context.Context) error { return nil }

// over is a link on which nothing comes after its Stop.
type over struct{ full }

func (o *over) Receive(ctx context.Context, dst []amqp.Delivery) (int, error) {
	if o.bodies[0] == nil {
		return 0, context.DeadlineExceeded
	}
	return o.full.Receive(ctx, dst)
}

func receive(t testing.TB, n int64) (rows int64) {
	clock := timestamp.NewClock()
	group := consume.NewGroup(t.Context(), clock, consume.Limits{Count: n}, 1)
	run(t, consume.Config{
		Credit: 1000, Clock: clock, Group: group, Foreign: consume.ForeignStop,
		Write: func(*recorder.RecvRow) { rows++ },
	})
	return rows
}

func receiveWith(t testing.TB, cfg consume.Config) (rows []recorder.RecvRow) {
	t.Helper()
	cfg.Write = func(row *recorder.RecvRow) { rows = append(rows, *row) }
	run(t, cfg)
	return rows
}

func run(t testing.TB, cfg consume.Config) {
	t.Helper()
	clock := cfg.Clock
	l := &over{full{clock: clock}}
	for i, run := range []string{"0198c2a4-9f6b-7c3e-8a51-0d6f1e2b3c4d", "nightly"} {
		s := timestamp.Stamp{Run: run, Seq: 1, Intended: clock.Now(), Sent: clock.Now(), ClockID: clock.Anchor().ClockID, Offset: clock.Anchor().Offset()}
		l.bodies[i] = append(s.Append(nil), make([]byte, 1024)...)
	}
	c, err := consume.New(cfg)
	if err == nil {
		defer c.Close()
		err = c.Run(l, 0, "")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNoAllocationPerMessage(t *testing.T) {
	const n = 20_000
	var rows int64
	allocations := testing.AllocsPerRun(1, func() { rows = receive(t, n) })
	if rows < n {
		t.Errorf("%d rows of %d messages", rows, n)
	}
	if allocations > 500 {
		t.Errorf("%g allocations for %d messages", allocations, n)
	}
}

// BenchmarkMessage is the tool's own cost of a delivery, without a link.
func BenchmarkMessage(b *testing.B) {
	b.ReportAllocs()
	receive(b, int64(b.N))
}
