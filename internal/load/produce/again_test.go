package produce_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
)

// another makes Reconnect of a rig: after the outage there is a link with this delay.
func (r *rig) another(outage time.Duration, delay int64) func(context.Context, produce.Link, error) (produce.Link, error) {
	return func(ctx context.Context, _ produce.Link, cause error) (produce.Link, error) {
		if !errors.Is(cause, errCut) {
			return nil, errors.New("not the cause")
		}
		select {
		case <-time.After(outage):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s := &r.server
		next := &server{t: s.t, clock: s.clock, sink: s.sink, body: s.body, start: s.start, delay: delay}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.links = append(r.links, next)
		return next, nil
	}
}

// link returns one of the links after the first.
func (r *rig) link(i int) *server {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.links[i]
}

// attempts returns the rows by seq and attempt.
func (r *rig) attempts() []recorder.SendRow {
	rows := slices.Clone(r.rows)
	slices.SortFunc(rows, func(a, b recorder.SendRow) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Attempt, b.Attempt))
	})
	return rows
}

// cut is the link's end at 100.5 ms, and another after 30 ms: the messages of 91 to
// 100 ms were under way, those of 101 to 130 ms wait.
func cut(t *testing.T, resend bool) (*rig, *produce.Producer) {
	t.Helper()
	r := &rig{num: 1000, n: 300, server: server{delay: 10 * ms}}
	r.config.Resend = resend
	r.config.Reconnect = r.another(30*time.Millisecond, 10*ms)
	r.config.OnDown = func(error) { t.Error("it is not down for good") }
	r.meddle = func(r *rig, _ *produce.Producer) {
		time.Sleep(time.Duration(100*ms + ms/2))
		r.server.die(errCut)
	}
	p := r.run(t)
	if r.stopped != nil {
		t.Error(r.stopped)
	}
	return r, p
}

// While there is no connection what is due stays on the grid and waits for it.
// What was under way has failed.
func TestReconnect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, _ := cut(t, false)
		rows := r.bySeq(t)
		r.onGrid(t, rows, ms)
		for i, row := range rows {
			want := recorder.SendRow{Outcome: format.Accepted, Wait: format.WaitNone, Sent: row.Intended, Acked: row.Intended + 10*ms}
			switch {
			case i > 130:
				want.Connection = 1
			case i > 100:
				want.Connection, want.Wait, want.Sent = 1, format.WaitConnection, r.start+130*ms+ms/2
				want.Acked = want.Sent + 10*ms
			case i > 90:
				want.Outcome, want.Acked, want.Error = format.Failed, format.Null, errCut.Error()
			}
			if row.Outcome != want.Outcome || row.Wait != want.Wait || row.Sent != want.Sent || row.Acked != want.Acked ||
				row.Connection != want.Connection || row.Error != want.Error || row.Attempt != 0 {
				t.Fatalf("message %d: %+v, want %+v", i, row, want)
			}
		}
		if len(rows) != 300 {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// What has failed is sent again before what is due, as the next attempt, with the
// same intended instant and a row of its own.
func TestResend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, p := cut(t, true)
		rows := r.attempts()
		if len(rows) != 310 {
			t.Fatalf("%d rows, want 310", len(rows))
		}
		for i := range 10 {
			first, second := rows[91+2*i], rows[92+2*i]
			if first.Seq != int64(91+i) || first.Attempt != 0 || first.Outcome != format.Failed || first.Connection != 0 {
				t.Errorf("%+v", first)
			}
			if second.Seq != first.Seq || second.Attempt != 1 || second.Outcome != format.Accepted || second.Connection != 1 || second.Wait != format.WaitConnection ||
				second.Intended != first.Intended || second.Ready != first.Ready || second.Sent != r.start+130*ms+ms/2 || second.Acked != second.Sent+10*ms {
				t.Errorf("%+v after %+v", second, first)
			}
		}
		var s live.Send
		p.Collect(&s)
		if s.Sent != 310 || s.Resent != 10 || s.Failed != 10 || s.Accepted != 300 || s.Rows != 310 {
			t.Errorf("%+v", s)
		}
	})
}

// The second link goes as well, before it has answered anything: third attempts.
func TestResendTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{num: 1000, n: 200, server: server{delay: 10 * ms}}
		r.config.Resend = true
		r.config.Reconnect = r.another(20*time.Millisecond, 10*ms)
		r.meddle = func(r *rig, _ *produce.Producer) {
			time.Sleep(time.Duration(50*ms + ms/2))
			r.server.die(errCut) // 41…50 are under way
			time.Sleep(25 * time.Millisecond)
			r.link(0).die(errCut) // and again at 75.5 ms
		}
		r.run(t)
		of := map[int32]int{}
		accepted := map[int64]bool{}
		for _, row := range r.attempts() {
			of[row.Attempt]++
			if row.Outcome == format.Accepted {
				if accepted[row.Seq] {
					t.Errorf("message %d is accepted twice", row.Seq)
				}
				accepted[row.Seq] = true
			}
		}
		// 41…75 have failed at 75.5 ms, the first ten of them for the second time.
		if len(accepted) != 200 || of[0] != 200 || of[1] != 35 || of[2] != 10 {
			t.Errorf("%d messages accepted, rows by attempt %v", len(accepted), of)
		}
	})
}

// Without another link the rest is unsent, with the reason.
func TestReconnectFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		none := errors.New("gave up")
		r := &rig{num: 1000, n: 300, server: server{delay: 10 * ms}}
		r.config.Resend = true
		r.config.Reconnect = func(context.Context, produce.Link, error) (produce.Link, error) {
			time.Sleep(50 * time.Millisecond)
			return nil, none
		}
		told := 0
		r.config.OnDown = func(error) { told++ }
		r.meddle = func(r *rig, _ *produce.Producer) {
			time.Sleep(time.Duration(100*ms + ms/2))
			r.server.die(errCut)
		}
		r.run(t)
		rows := r.bySeq(t)
		r.onGrid(t, rows, ms)
		for i, row := range rows {
			want := format.Accepted
			switch {
			case i > 100:
				want = format.Unsent
			case i > 90:
				want = format.Failed
			}
			if row.Outcome != want || want == format.Unsent && (row.Wait != format.WaitConnection || row.Error != none.Error()) {
				t.Fatalf("message %d: %+v, want %s", i, row, want)
			}
		}
		if len(rows) != 300 || told != 1 || !errors.Is(r.stopped, none) {
			t.Errorf("%d rows, told %d times, %v", len(rows), told, r.stopped)
		}
	})
}

// The drain is over before there is another link.
func TestDrainWithoutConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{num: 1000, n: 200, drain: time.Second, server: server{delay: 10 * ms}}
		r.config.Resend = true
		r.config.Reconnect = r.another(time.Hour, 0)
		r.meddle = func(r *rig, _ *produce.Producer) {
			time.Sleep(time.Duration(100*ms + ms/2))
			r.server.die(errCut)
		}
		r.run(t)
		rows := r.bySeq(t)
		for i, row := range rows[101:] {
			if row.Outcome != format.Unsent || row.Wait != format.WaitConnection || row.Intended != r.start+int64(101+i)*ms {
				t.Fatalf("message %d: %+v", i, row)
			}
		}
		if len(rows) != 200 {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// A closed loop goes on: the slots of what has failed are free at that instant,
// unless the messages are sent again.
func TestReconnectClosed(t *testing.T) {
	t.Parallel()
	for _, resend := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := &rig{n: 50, server: server{delay: 2 * ms}}
			r.config.Window, r.config.Resend = 10, resend
			r.config.Reconnect = r.another(5*time.Millisecond, 2*ms)
			r.meddle = func(r *rig, _ *produce.Producer) {
				time.Sleep(time.Duration(3 * ms))
				r.server.die(errCut)
			}
			r.run(t)
			got := map[string]int{}
			for _, row := range r.attempts() {
				got[row.Outcome]++
				switch {
				case row.Seq == 20 && !resend && (row.Intended != r.start+3*ms || row.Sent != r.start+8*ms || row.Wait != format.WaitConnection):
					t.Errorf("message 20: %+v", row)
				case row.Attempt == 1 && (row.Sent != r.start+8*ms || row.Intended != r.start+2*ms):
					t.Errorf("second attempt: %+v", row)
				}
			}
			want := map[string]int{format.Failed: 10, format.Accepted: 40}
			if resend {
				want[format.Accepted] = 50
			}
			if got[format.Failed] != want[format.Failed] || got[format.Accepted] != want[format.Accepted] || len(got) != 2 || r.stopped != nil {
				t.Errorf("resend %t: %v, want %v; %v", resend, got, want, r.stopped)
			}
		})
	}
}

// What waits for a connection has a provisional row: a kill must not hide it.
func TestProvisionalWithoutConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{num: 1000, n: 100, server: server{silent: true}}
		r.config.Reconnect = r.another(3*time.Second, ms)
		var got []recorder.SendRow
		r.meddle = func(r *rig, p *produce.Producer) {
			time.Sleep(time.Duration(50*ms + ms/2))
			r.server.die(errCut)
			for range 2 {
				time.Sleep(time.Second)
				p.Provisional(r.server.clock.Now()-int64(500*ms), func(row *recorder.SendRow) { got = append(got, *row) })
			}
		}
		r.run(t)
		for i, row := range got {
			if row.Seq != int64(51+i) || row.Outcome != format.Unsent {
				t.Errorf("provisional row %d: %+v", i, row)
			}
		}
		if rows := r.bySeq(t); len(got) != 49 || len(rows) != 100 || rows[99].Outcome != format.Accepted || rows[50].Outcome != format.Failed {
			t.Errorf("%d provisional rows, %d rows", len(got), len(rows))
		}
	})
}

// Without a window only the link's credit holds messages back; a closed loop
// intends them as they are taken.
func TestCreditOnly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		credit := make(chan struct{}, 1000)
		r := &rig{n: 600, server: server{delay: 5 * ms, credit: credit}}
		r.config.Window = -1
		r.meddle = func(*rig, *produce.Producer) {
			for range 6 {
				for range 100 {
					credit <- struct{}{}
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
		p := r.run(t)
		for i, row := range r.bySeq(t) {
			sent := r.start + int64(i/100)*10*ms
			taken := r.start // 256 are taken at once, when the last of those before was sent
			if i >= 256 {
				taken = r.start + int64((i-i%256-1)/100)*10*ms
			}
			wait := format.WaitCredit
			if sent == taken {
				wait = format.WaitNone
			}
			waited := row.Wait == wait || i%100 != 0 // the fake says so of the first only
			if row.Intended != taken || row.Ready != taken || row.Sent != sent || !waited || row.Outcome != format.Accepted {
				t.Fatalf("message %d: %+v, want sent at %d after waiting for %s", i, row, sent-r.start, wait)
			}
		}
		var s live.Send
		if p.Collect(&s); s.Accepted != 600 {
			t.Errorf("%+v", s)
		}
	})
}

// Sizes may differ: every row has that of its body.
func TestSizes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		size := func(seq int64) int32 { return 100 + int32(seq%7)*20_000 }
		r := rig{num: 1000, n: 50, server: server{skip: func(id uint64) bool { return id == 3 }, delay: ms}, drain: time.Second}
		r.config.SizeOf = size
		r.config.Window = 20
		sizes := map[int64]int32{}
		r.server.look = func(m *amqp.Message, body []byte) { sizes[m.Seq] = int32(len(body)) }
		r.run(t)
		for _, row := range r.bySeq(t) {
			if row.Size != size(row.Seq) || sizes[row.Seq] != row.Size {
				t.Errorf("message %d: size %d, body of %d bytes, want %d", row.Seq, row.Size, sizes[row.Seq], size(row.Seq))
			}
		}
	})
}

// The link goes when everything is sent, and nothing is to be sent again: there is
// no need of another, and that is no failure of the run.
func TestLinkGoesAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{num: 1000, n: 50, server: server{delay: 100 * ms}}
		r.config.Reconnect = func(context.Context, produce.Link, error) (produce.Link, error) {
			t.Error("another link was asked for")
			return nil, errCut
		}
		r.meddle = func(r *rig, _ *produce.Producer) {
			time.Sleep(time.Duration(120*ms + ms/2))
			r.server.die(errCut)
		}
		r.run(t)
		got := map[string]int{}
		for _, row := range r.bySeq(t) {
			got[row.Outcome]++
		}
		if got[format.Accepted] != 21 || got[format.Failed] != 29 || r.stopped != nil {
			t.Errorf("%v, %v", got, r.stopped)
		}
	})
}
