package produce_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

// In a closed loop a message is intended at the instant its slot became free.
func TestClosedLoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{n: 100, server: server{delay: 2 * ms}}
		r.config.Window = 10
		r.run(t)
		rows := r.bySeq(t)
		for i, row := range rows {
			want := r.start + int64(i/10)*2*ms
			if row.Intended != want || row.Ready != want || row.Sent != want || row.Wait != format.WaitNone {
				t.Fatalf("message %d: %+v, want all at %d", i, row, want)
			}
		}
		if len(rows) != 100 || r.stopped != nil {
			t.Errorf("%d rows, %v", len(rows), r.stopped)
		}
	})
}

// A closed loop for a duration intends nothing at or after its end.
func TestClosedLoopEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{end: 5 * ms, server: server{delay: 2 * ms}}
		r.config.Window = 10
		r.run(t)
		if rows := r.bySeq(t); len(rows) != 30 || rows[29].Outcome != format.Accepted {
			t.Errorf("%d rows, want 30: at 0, 2 and 4 ms", len(rows))
		}
	})
}

// No credit for a second: intended stays on the grid and only sent moves.
func TestCredit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		credit := make(chan struct{}, 1000)
		for range 100 {
			credit <- struct{}{}
		}
		r := rig{num: 1000, n: 500, server: server{credit: credit, delay: ms}}
		r.meddle = func(*rig, *produce.Producer) {
			time.Sleep(time.Second)
			for range 900 {
				credit <- struct{}{}
			}
		}
		r.run(t)
		rows := r.bySeq(t)
		r.onGrid(t, rows, ms)
		for i, row := range rows {
			want, wait := row.Intended, format.WaitNone
			if i >= 100 {
				want, wait = r.start+1000*ms, format.WaitCredit
			}
			if row.Sent != want || row.Wait != wait {
				t.Fatalf("message %d: sent at %d after waiting for %s, want %d and %s", i, row.Sent-r.start, row.Wait, want-r.start, wait)
			}
		}
	})
}

// When the drain is over, what was due is unsent and what has no answer is
// unsettled: a row for every message that was intended.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		credit := make(chan struct{}, 1000)
		for range 100 {
			credit <- struct{}{}
		}
		r := rig{num: 1000, n: schedule.Unbounded, end: 200*ms + 1, drain: time.Second, server: server{credit: credit, silent: true}}
		p := r.run(t)
		rows := r.bySeq(t)
		r.onGrid(t, rows, ms)
		for i, row := range rows {
			outcome, wait := format.Unsettled, format.WaitNone
			if i >= 100 {
				outcome, wait = format.Unsent, format.WaitCredit
			}
			if row.Outcome != outcome || row.Wait != wait || row.Error != "" || (row.Sent == format.Null) != (i >= 100) || row.Acked != format.Null {
				t.Fatalf("message %d: %+v", i, row)
			}
		}
		var s live.Send
		p.Collect(&s)
		if len(rows) != 201 || s.Sent != 100 || s.Unsettled != 100 || s.Unsent != 101 || s.Outstanding != 0 || s.Due != 0 {
			t.Errorf("%d rows, %+v", len(rows), s)
		}
	})
}

// The link dies: what was sent has failed, what is intended later is unsent,
// with the cause, and the schedule goes on.
func TestDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 1000, n: 300, server: server{delay: 50 * ms}}
		told := 0
		r.config.OnDown = func(error) { told++ }
		r.meddle = func(r *rig, _ *produce.Producer) {
			time.Sleep(time.Duration(100*ms + ms/2))
			r.server.die(errCut)
		}
		r.run(t)
		rows := r.bySeq(t)
		r.onGrid(t, rows, ms)
		got := map[string]int{}
		for i, row := range rows {
			got[row.Outcome+" "+row.Wait+" "+row.Error]++
			if failed := i > 50 && i <= 100; failed != (row.Outcome == format.Failed) || (i > 100) != (row.Sent == format.Null) {
				t.Fatalf("message %d: %+v", i, row)
			}
		}
		want := map[string]int{
			"accepted none ":                      51,
			"failed none the cable was cut":       50,
			"unsent connection the cable was cut": 199,
		}
		if d := cmp.Diff(want, got); d != "" || r.stopped != errCut || told != 1 { //nolint:errorlint // the very same
			t.Errorf("%v, told %d times (-want +got)\n%s", r.stopped, told, d)
		}
	})
}

// A closed loop ends when its link dies.
func TestDownClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{server: server{delay: 2 * ms}}
		r.config.Window = 10
		r.meddle = func(r *rig, _ *produce.Producer) {
			time.Sleep(time.Duration(3 * ms))
			r.server.die(errCut)
		}
		r.run(t)
		if rows := r.bySeq(t); len(rows) != 20 || rows[0].Outcome != format.Accepted || rows[19].Outcome != format.Failed || r.stopped == nil {
			t.Errorf("%d rows, %v", len(rows), r.stopped)
		}
	})
}

// Outcomes other than accepted are answers: acked is set. A failure and a
// message sent settled have none.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for state, want := range map[amqp.State]string{
		amqp.Rejected: format.Rejected, amqp.Released: format.Released, amqp.Modified: format.Modified,
		amqp.Presettled: format.Presettled, amqp.Failed: format.Failed,
	} {
		synctest.Test(t, func(t *testing.T) {
			r := rig{num: 1000, n: 3, server: server{state: state}}
			r.run(t)
			answered := state != amqp.Presettled && state != amqp.Failed
			for _, row := range r.bySeq(t) {
				if row.Outcome != want || (row.Acked != format.Null) != answered {
					t.Errorf("%+v, want %s", row, want)
				}
			}
		})
	}
}

// Every message that is outstanding for long gets one provisional row for each
// state it is in, also when it is due and not sent, and a final one in the end.
func TestProvisional(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 10, n: 40, server: server{silent: true}, drain: time.Second}
		r.config.Window = 10
		var got []recorder.SendRow
		r.meddle = func(r *rig, p *produce.Producer) {
			for range 4 {
				time.Sleep(time.Second + time.Microsecond)
				p.Provisional(r.server.clock.Now()-int64(time.Second), func(row *recorder.SendRow) { got = append(got, *row) })
			}
		}
		r.run(t)
		r.bySeq(t)
		for i, row := range got {
			want := format.Unsettled
			if i >= 10 {
				want = format.Unsent
			}
			if row.Seq != int64(i) || row.Outcome != want {
				t.Errorf("provisional row %d: message %d, %s, want %s", i, row.Seq, row.Outcome, want)
			}
		}
		if len(got) != 31 {
			t.Errorf("%d provisional rows, want 31: what was intended within the first 3 s", len(got))
		}
	})
}

// Messages that stay without an answer while thousands of later ones get one
// keep their place and get their row; memory does not follow their age.
func TestStragglers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 1000, n: 5000, drain: time.Second}
		r.server = server{delay: ms, skip: func(id uint64) bool { return id%1000 == 7 }}
		r.config.Window = 10
		r.run(t)
		rows := r.bySeq(t)
		for i, row := range rows {
			want := format.Accepted
			if i%1000 == 7 {
				want = format.Unsettled
			}
			if row.Outcome != want {
				t.Fatalf("message %d: %s, want %s", i, row.Outcome, want)
			}
		}
		if len(rows) != 5000 {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// Split gives every message to exactly one producer, in order.
func TestSplit(t *testing.T) {
	t.Parallel()
	for by := int64(1); by < 8; by++ {
		next := make([]int64, by)
		first := int64(0)
		for _, count := range []int64{1, 3, 2, 50, 7, 1, 1} {
			produce.Split(pace.Run{First: first, Count: count, Ready: first}, by, func(k int64, run pace.Run) {
				if run.First != next[k] || run.Ready != first {
					t.Fatalf("%d producers: %d gets %+v, want to start at %d", by, k, run, next[k])
				}
				next[k] += run.Count
			})
			first += count
		}
		for k := range by {
			if want := schedule.Share(first, k, by); next[k] != want {
				t.Errorf("%d producers: %d got %d, want %d", by, k, next[k], want)
			}
		}
	}
}

// A closed loop that has sent its count waits for the last answers no longer than the drain.
func TestClosedLoopDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{n: 5, server: server{silent: true}}
		r.config.Window, r.config.Drain = 10, time.Second
		r.run(t)
		if rows := r.bySeq(t); len(rows) != 5 || rows[4].Outcome != format.Unsettled || r.server.clock.Now()-r.start != int64(time.Second) {
			t.Errorf("%d rows after %d ns", len(rows), r.server.clock.Now()-r.start)
		}
	})
}

// What a closed loop by count cannot send for want of credit is given up after the
// drain, but not as long as something leaves.
func TestClosedLoopWithoutCredit(t *testing.T) {
	t.Parallel()
	for tokens, want := range []int{0, 1, 2, 3, 4, 5} { // so many, one every 0.9 s
		synctest.Test(t, func(t *testing.T) {
			credit := make(chan struct{}, 5)
			for k := range tokens {
				time.AfterFunc(time.Duration(k+1)*900*time.Millisecond, func() { credit <- struct{}{} })
			}
			r := rig{n: 5, server: server{credit: credit}}
			r.config.Window, r.config.Drain = 10, time.Second
			r.run(t)
			sent := 0
			for _, row := range r.rows {
				if row.Outcome == format.Accepted {
					sent++
				}
			}
			if len(r.rows) != 5 || sent != want {
				t.Errorf("%d tokens: %d of %d rows accepted", tokens, sent, len(r.rows))
			}
		})
	}
}

// The way from the pacer to the producer's goroutine is lag, not blocked, unless
// the message waited for something else on that way.
func TestReadyIsWhenTheProducerTakesIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := timestamp.NewClock()
		start := clock.Now()
		var rows []recorder.SendRow
		s, err := schedule.NewConstant(1000, 1, 3)
		if err != nil {
			t.Fatal(err)
		}
		p := produce.New(produce.Config{
			Run: "r", Clock: clock, Size: 100, Filler: produce.Filler(100), Window: 1, Count: schedule.Unbounded, Schedule: s,
			Write: func(row *recorder.SendRow) { rows = append(rows, *row) },
		})
		p.Begin(start, start)
		// The pacer hands over the first, and nobody runs for 7 ms.
		p.Offer(pace.Run{First: 0, Count: 1, Ready: start})
		time.Sleep(7 * time.Millisecond)
		link := &server{t: t, clock: clock, sink: p, body: p, start: start, delay: 5 * ms}
		time.AfterFunc(time.Millisecond, func() { // while the window is full
			p.Offer(pace.Run{First: 1, Count: 2, Ready: clock.Now()})
			p.Finish(clock.Now())
		})
		if err := p.Run(t.Context(), link); err != nil {
			t.Fatal(err)
		}
		link.wg.Wait()
		for i, want := range []struct {
			ready, sent int64
			wait        string
		}{
			{7, 7, format.WaitNone},
			{8, 12, format.WaitWindow},
			{8, 17, format.WaitWindow},
		} {
			if r := rows[i]; r.Ready-start != want.ready*ms || r.Sent-start != want.sent*ms || r.Wait != want.wait {
				t.Errorf("message %d: ready %d, sent %d, waited for %s; want %d ms, %d ms, %s", i, r.Ready-start, r.Sent-start, r.Wait, want.ready, want.sent, want.wait)
			}
		}
	})
}
