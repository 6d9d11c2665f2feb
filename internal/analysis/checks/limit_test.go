package checks_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
)

// capped is a broker that is delay away and lets at most limit bytes of
// deliveries of wire bytes each be unsettled at a consumer. Producers are
// answered after a round trip; the consumer works for a while on each message.
func capped(n int, delay, limit, wire, work int64) *synth.Log {
	l := &synth.Log{Meta: synth.Config(map[string]any{"rate": "20k", "max-pending": 100_000}, nil, "")}
	inFlight := int(limit / wire)
	settled := make([]int64, 0, n)
	free := int64(0)
	for i := range int64(n) {
		at := synth.Start + i*50*us
		r := synth.Message(i, at, 2*delay)
		leave := at + delay
		if int(i) >= inFlight {
			leave = max(leave, settled[int(i)-inFlight]+delay)
		}
		r = r.Arrive(leave + delay)
		r.Started = max(r.Received, free)
		r.Settled = r.Started + work
		free = r.Settled
		settled = append(settled, r.Settled)
		l.Rows = append(l.Rows, r)
	}
	return l
}

func receiving(t *testing.T, l *synth.Log) checks.Observed {
	t.Helper()
	return receivingOf(t, data(t, run(l)))
}

func receivingOf(t *testing.T, d *reduce.Data) checks.Observed {
	t.Helper()
	for _, o := range checks.Observe(d, false) {
		if o.Side == checks.Receiving {
			return o
		}
	}
	t.Fatal("no receiving side")
	return checks.Observed{}
}

// A cap of 64 KiB is found at 10 ms and at 100 ms, and called a cap when both are known.
func TestBrokerCap(t *testing.T) {
	t.Parallel()
	const limit, wire = 64 << 10, 1024 + 70
	near, far := receiving(t, capped(20_000, 5*ms, limit, wire, 0)), receiving(t, capped(10_000, 50*ms, limit, wire, 0))
	for _, runs := range [][]checks.Observed{{near, far}, {far, near}} {
		got := checks.Judge(runs)
		if got.Held != checks.ByBrokerCap || !strings.Contains(got.Evidence, "the same at 2 round trips") {
			t.Errorf("%+v", got)
		}
		if math.Abs(*got.Bytes/limit-1) > 0.1 || math.Abs(*got.Messages-limit/wire) > 1.5 {
			t.Errorf("%.0f bytes, %.1f messages", *got.Bytes, *got.Messages)
		}
	}
	for name, o := range map[string]checks.Observed{"10 ms": near, "100 ms": far} {
		got := checks.Judge([]checks.Observed{o})
		if got.Held != checks.NotDetermined || math.Abs(*got.Bytes/limit-1) > 0.1 || !strings.Contains(got.Evidence, "KiB of bodies") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if *checks.Judge([]checks.Observed{far}).RTT != 100*ms {
		t.Error("the round trip is not 100 ms")
	}
}

// What is not constant over round trips is no cap.
func TestNoBrokerCap(t *testing.T) {
	t.Parallel()
	a, b := receiving(t, capped(20_000, 5*ms, 64<<10, 1094, 0)), receiving(t, capped(10_000, 50*ms, 256<<10, 1094, 0))
	if got := checks.Judge([]checks.Observed{a, b}); got.Held != checks.NotDetermined {
		t.Errorf("%+v", got)
	}
	if got := checks.Judge([]checks.Observed{a, a}); got.Held != checks.NotDetermined {
		t.Errorf("twice the same round trip: %+v", got)
	}
}

func TestOtherLimits(t *testing.T) {
	t.Parallel()
	credit := receiving(t, capped(20_000, 5*ms, 100*1094, 1094, 0))
	credit.Window = 100
	worked := receiving(t, capped(5_000, 5*ms, 64<<20, 1094, ms))
	base := checks.Observed{Side: checks.Sending, Demand: true, Rate: 1000, RTT: 10 * ms, RTTFrom: "TCP", Window: 10, Size: 100, CreditShare: math.NaN(), SocketShare: math.NaN(), UnsentShare: math.NaN(), CwndShare: math.NaN()}
	with := func(f func(*checks.Observed)) checks.Observed {
		o := base
		f(&o)
		return o
	}
	for want, o := range map[string]checks.Observed{
		"credit all 100 messages of credit":          credit,
		"window all 10 messages of --max-pending":    with(func(o *checks.Observed) { o.Pending = 15 }),
		"consumer ends of its transactions 97 %":     with(func(o *checks.Observed) { o.Side, o.CommitShare, o.WorkShare = checks.Receiving, 0.97, math.NaN() }),
		"consumer the consumer was working 100 %":    worked,
		"window 9 of 10 messages of --max-pending":   with(func(o *checks.Observed) { o.Pending = 9 }),
		"credit 95 % of the waiting":                 with(func(o *checks.Observed) { o.CreditShare = 0.95 }),
		"network 60 % of the samples bytes":          with(func(o *checks.Observed) { o.UnsentShare = 0.6 }),
		"network 100 % of the samples":               with(func(o *checks.Observed) { o.CwndShare = 1 }),
		"network 91 % of the sender's waiting":       with(func(o *checks.Observed) { o.SocketShare = 0.91 }),
		"none kept up":                               with(func(o *checks.Observed) { o.Demand = false }),
		"not determined no round trip is known":      with(func(o *checks.Observed) { o.RTT, o.Pending = 0, 1 }),
		"not determined rate × round trip is 10 mes": with(func(o *checks.Observed) { o.Pending = 5 }),
	} {
		got := checks.Judge([]checks.Observed{o})
		text := fmt.Sprintf("%s %s", got.Held, got.Evidence)
		for part := range strings.SplitSeq(want, " ") {
			if !strings.Contains(text, part) {
				t.Errorf("%q, want %q", text, want)
				break
			}
		}
	}
}

// A machine that is late at times lowers the rate, and not what was unsettled at most: the
// cap is found from the rows all the same, and only where there was more to do.
func TestCapOnALateMachine(t *testing.T) {
	t.Parallel()
	l := capped(20_000, 5*ms, 64<<10, 1094, 0)
	for i := range l.Rows { // every round takes half as long again
		r := &l.Rows[i]
		stretch := (r.Received - synth.Start) / 2
		r.Received, r.Started, r.Settled = r.Received+stretch, r.Started+stretch, r.Settled+stretch
	}
	got := receiving(t, l)
	if verdict := checks.Judge([]checks.Observed{got}); got.Pending > 0.75*59 || math.Abs(*verdict.Messages/59-1) > 0.05 {
		t.Errorf("%g by the rate, %+v", got.Pending, verdict)
	}
	for _, o := range checks.Observe(data(t, run(steady())), false) {
		if o.Peak != 0 {
			t.Errorf("%+v: of a run that kept up", o)
		}
	}
}

// In transactions a message is settled when the answer to the commit comes: that way
// is not part of what the broker waits for.
func TestCommitsHoldNoCredit(t *testing.T) {
	t.Parallel()
	const n, took = 100, 20 * ms
	log := func() *tables { return run(capped(2_000, 5*ms, 64<<20, 1094, ms)) }
	commits := make([]int64, n)
	for i := range commits {
		commits[i] = took
	}
	ours, theirs := log(), log()
	ours.sample("tool.gomaxprocs_count", 2, 2)
	ours.sample("tx.commit_ns", commits...)
	theirs.sample("tx.commit_ns", commits...) // the sender's
	theirs.sample("tool.gomaxprocs_count", 2, 2)
	d := data(t, ours)
	with, without := receivingOf(t, d), receivingOf(t, data(t, theirs))
	if !math.IsNaN(without.CommitShare) {
		t.Errorf("%g of the time in the commits of another", without.CommitShare)
	}
	if want := n * float64(took) / float64(d.Path.WorkSpan); !(math.Abs(with.CommitShare/want-1) < 1e-9) {
		t.Errorf("%g of the time in commits, want %g", with.CommitShare, want)
	}
	held := max(0, d.Path.Held-float64(took))
	if want := with.Rate * (float64(with.RTT) + held) / 1e9; !(math.Abs(with.Pending/want-1) < 1e-9) || with.Pending >= without.Pending {
		t.Errorf("%g unsettled, want %g, and at most %g", with.Pending, want, without.Pending)
	}
}

// A sender that waited for a lost connection was not held by its limits.
func TestOutageIsNoLimit(t *testing.T) {
	t.Parallel()
	for wait, want := range map[string]checks.Holds{format.WaitConnection: checks.ByNothing, format.WaitCredit: checks.ByCredit} {
		rows := change(func(i int, r *synth.Row) {
			if i%10 == 0 {
				r.Sent, r.Acked, r.Wait = r.Sent+5*ms, r.Acked+5*ms, wait
			}
		})
		for _, o := range checks.Observe(data(t, run(rows)), false) {
			if o.Side != checks.Sending {
				continue
			}
			if got := checks.Judge([]checks.Observed{o}); got.Held != want {
				t.Errorf("waiting for %s: %+v", wait, got)
			}
		}
	}
}

// The round trip of TCP is taken where it is one; a delay above TCP shows in
// the smallest service.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rows := run(capped(5_000, 5*ms, 64<<10, 1094, 0))
	rows.sample("conn.0.rtt_ns", 50_000, 60_000)
	rows.sample("conn.0.rtt_ns", 40*ms, 41*ms) // the receiver's process
	d := data(t, rows)
	for _, o := range checks.Observe(d, false) {
		want := 10 * ms
		if o.Side == checks.Receiving {
			want = 40 * ms // the least of both
		}
		if o.RTT != want {
			t.Errorf("%s: %d from %s", o.Side, o.RTT, o.RTTFrom)
		}
	}
}
