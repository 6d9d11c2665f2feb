package join_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/join"
	"amqpperf/timestamp"
)

// Two hosts in true time: the sender's clock is right, the receiver's is ahead
// and drifts.
const (
	hostStart = int64(1_790_000_000_000_000_000)
	ahead     = 3_000_000 // ns
	driftPPM  = 20
	transit   = 250_000
)

func receiverClock(t int64) int64 {
	return t + ahead + int64(math.Round(float64(t-hostStart)*driftPPM/1e6))
}

func senderAnchor() timestamp.Anchor {
	return timestamp.Anchor{Wall: hostStart, Monotonic: 1000, Gap: 30, ClockID: 1}
}

func receiverAnchor() timestamp.Anchor {
	return timestamp.Anchor{Wall: hostStart + ahead, Monotonic: 77_000, Gap: 30, ClockID: 2}
}

// exchanges are 20 a second over some seconds, with queues both ways.
func exchanges(seconds int) *format.ClockRow {
	r := rand.New(rand.NewPCG(1, 2))
	delay := func() int64 { return 50_000 + int64(r.ExpFloat64()*100_000) }
	peer := clock.Peer{ClockID: 2, Receiver: 9, Anchor: true, Offset: receiverAnchor().Offset(), Gap: 30}.String()
	rows := &format.ClockRow{}
	for i := range seconds * 20 {
		t1 := hostStart + int64(i)*50_000_000
		there := t1 + delay()
		back := there + 5_000
		clockRow(rows, t1, peer, [4]int64{t1, receiverClock(there), receiverClock(back), back + delay()})
	}
	return rows
}

func clockRow(rows *format.ClockRow, at int64, peer string, t [4]int64) {
	rows.Instant = append(rows.Instant, at)
	str(&rows.Peer, peer)
	rows.T1, rows.T2, rows.T3, rows.T4 = append(rows.T1, t[0]), append(rows.T2, t[1]), append(rows.T3, t[2]), append(rows.T4, t[3])
	for _, c := range []*[]int64{&rows.WallOffset, &rows.Gap, &rows.Status, &rows.MaxError, &rows.EstError, &rows.Freq, &rows.Tick} {
		*c = append(*c, null)
	}
	rows.Source.Codes = append(rows.Source.Codes, -1)
}

// twoHosts writes the logs of messages over some seconds.
func twoHosts(t *testing.T, seconds int, probes bool) *logs {
	var sends []sendRow
	var recvs []recvRow
	for i := range seconds * 50 {
		at := hostStart + int64(i)*20_000_000
		sends = append(sends, sendRow{sender: 1, seq: int64(i), sent: at, acked: at + 100_000})
		recvs = append(recvs, recvRow{sender: 1, seq: int64(i), receiver: 9, received: receiverClock(at + transit)})
	}
	l := &logs{t: t}
	if probes {
		l.clock = exchanges(seconds)
	}
	l.write("send.parquet", sendBatch(sends), senderAnchor(), format.Meta{format.KeyHost: "hosta"})
	return l.write("recv.parquet", recvBatch(recvs), receiverAnchor(), format.Meta{format.KeyHost: "hostb"})
}

// worst returns the largest error of received − sent, and the largest bound;
// every error must be within the bound of its row.
func worst(t *testing.T, l *logs, opt join.Options) (wrong, bound int64, acc join.Accounting) {
	t.Helper()
	rows, acc := l.join(opt)
	for _, r := range rows {
		sent := hostStart + r.Seq*20_000_000
		e := r.Received - sent - transit
		if r.Bound == null {
			t.Fatal("a bound is unknown")
		}
		if max(e, -e) > r.Bound {
			t.Fatalf("seq %d is off by %d ns, its bound is %d", r.Seq, e, r.Bound)
		}
		wrong, bound = max(wrong, e, -e), max(bound, r.Bound)
	}
	return wrong, bound, acc
}

// With probes every one-way time is within its bound, and the estimate is far
// better than that.
func TestProbesAlignHosts(t *testing.T) {
	t.Parallel()
	wrong, bound, acc := worst(t, twoHosts(t, 30, true), join.Options{})
	if wrong > 30_000 || bound > 250_000 {
		t.Errorf("off by up to %d ns with bounds up to %d", wrong, bound)
	}
	if acc.Clock.Source != clock.Probes || acc.Clock.BoundNS == nil || *acc.Clock.BoundNS != bound {
		t.Errorf("source %s, bound %v; want probes and %d", acc.Clock.Source, acc.Clock.BoundNS, bound)
	}
	checks := map[string]clock.Status{}
	for _, c := range acc.Clock.Checks {
		checks[c.ID] = c.Status
	}
	if checks["C17"] != clock.OK || checks["C15"] != clock.OK || checks["C16"] == clock.Skip {
		t.Errorf("checks %v", checks)
	}
}

// What the user vouches for is applied, with its bound.
func TestGivenOffset(t *testing.T) {
	t.Parallel()
	var p clock.Policy
	if err := p.Set("hostb=3.3ms±400us"); err != nil {
		t.Fatal(err)
	}
	wrong, bound, acc := worst(t, twoHosts(t, 2, false), join.Options{Clock: p})
	if wrong < 250_000 || wrong > 310_000 || bound != 400_000 || acc.Clock.Source != clock.Given {
		t.Errorf("off by %d with a bound of %d from %s; want about 300000, 400000, given", wrong, bound, acc.Clock.Source)
	}
}

// Without any means, or with --clock none, instants stay as they are and the
// bound is unknown, whatever the probes say.
func TestNoAlignment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		probes bool
		policy clock.Policy
	}{"no probes": {}, "none": {true, clock.Policy{None: true}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, acc := twoHosts(t, 2, c.probes).join(join.Options{Clock: c.policy})
			for _, r := range rows {
				if want := receiverClock(hostStart + r.Seq*20_000_000 + transit); r.Received != want || r.Bound != null {
					t.Fatalf("received %d ± %d, want %d ± NULL", r.Received, r.Bound, want)
				}
			}
			if acc.Clock.Source != clock.Unknown || acc.Clock.BoundNS != nil || acc.Clock.MinTransitNS == nil {
				t.Errorf("clock %+v", acc.Clock)
			}
		})
	}
}
