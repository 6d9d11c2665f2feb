package produce_test

import (
	"testing"
	"testing/synctest"

	"amqpperf/format"
	"amqpperf/internal/load/recorder"
)

// slow counts the rows whose value is above limit, and sums what is above it.
func slow(rows []recorder.SendRow, limit int64, value func(*recorder.SendRow) int64) (n, sum, most int64) {
	for i := range rows {
		v := value(&rows[i])
		if v > limit {
			n++
			sum += v - limit
		}
		most = max(most, v)
	}
	return n, sum, most
}

func response(r *recorder.SendRow) int64 { return r.Acked - r.Intended }
func service(r *recorder.SendRow) int64  { return r.Acked - r.Sent }

// onGrid fails if an intended instant is off the schedule or the pacer was late.
func (r *rig) onGrid(t *testing.T, rows []recorder.SendRow, interval int64) {
	t.Helper()
	for i, row := range rows {
		if row.Intended-r.start != int64(i)*interval || row.Ready != row.Intended {
			t.Fatalf("message %d: intended %d, ready %d after the start, want %d", i, row.Intended-r.start, row.Ready-r.start, int64(i)*interval)
		}
	}
}

// K1: D/D/1 with a stall of 100 ms: 200 messages are affected, the excess sums
// to 10,050 ms, the worst takes 100.5 ms. With one message in flight the
// response is the same, and the service shows one slow message.
func TestK1(t *testing.T) {
	t.Parallel()
	for _, window := range []int{100_000, 1} {
		synctest.Test(t, func(t *testing.T) {
			r := rig{num: 1000, n: 2000, server: server{service: ms / 2, stallAt: 500 * ms, stallFor: 100 * ms}}
			r.config.Window = window
			r.run(t)
			rows := r.bySeq(t)
			r.onGrid(t, rows, ms)
			if n, sum, most := slow(rows, ms/2, response); len(rows) != 2000 || n != 200 || sum != 10_050*ms || most != 100*ms+ms/2 {
				t.Errorf("window %d: %d rows, %d slow, excess %d ns, worst %d ns", window, len(rows), n, sum, most)
			}
			if n, _, _ := slow(rows, ms/2, service); window == 1 && n != 1 {
				t.Errorf("window 1: the service shows %d slow messages, want 1", n)
			}
			for _, row := range rows {
				want := format.WaitNone
				if row.Sent > row.Ready {
					want = format.WaitWindow
				}
				if row.Wait != want || row.Outcome != format.Accepted {
					t.Fatalf("message %d: %s after waiting for %s, want %s", row.Seq, row.Outcome, row.Wait, want)
				}
			}
		})
	}
}

// K2: a freeze of 100 ms, no service time: the responses are 100, 99 … 1 ms.
func TestK2(t *testing.T) {
	t.Parallel()
	for _, window := range []int{100_000, 1} {
		synctest.Test(t, func(t *testing.T) {
			r := rig{num: 1000, n: 10_000, server: server{stallAt: 500 * ms, stallFor: 100 * ms}}
			r.config.Window = window
			r.run(t)
			rows := r.bySeq(t)
			r.onGrid(t, rows, ms)
			for i := range rows {
				want := max(0, int64(600-i)) * ms
				if i < 500 {
					want = 0
				}
				if got := response(&rows[i]); got != want {
					t.Fatalf("window %d: response of message %d is %d ns, want %d", window, i, got, want)
				}
			}
			n, _, _ := slow(rows, 0, service)
			if want := map[int]int64{1: 1, 100_000: 100}[window]; n != want {
				t.Errorf("window %d: the service shows %d slow messages, want %d", window, n, want)
			}
		})
	}
}

// K4: a stall of 10 ms and catching up: 12 messages take 10.1 − 0.9 k ms.
func TestK4(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 1000, n: 1000, server: server{service: ms / 10, stallAt: 500 * ms, stallFor: 10 * ms}}
		r.run(t)
		rows := r.bySeq(t)
		if n, _, _ := slow(rows, ms/10, response); n != 12 || len(rows) != 1000 {
			t.Errorf("%d slow messages of %d, want 12 of 1000", n, len(rows))
		}
		for k := range int64(12) {
			if got, want := response(&rows[500+k]), 10*ms+ms/10-k*9*ms/10; got != want {
				t.Errorf("message %d: response %d, want %d", 500+k, got, want)
			}
		}
	})
}

// K5: offered 1.2 times what the server can do: the response grows by 0.2 of the time.
func TestK5(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 1200, n: 6000, server: server{service: ms}}
		r.config.Window = 50
		r.run(t)
		rows := r.bySeq(t)
		if len(rows) != 6000 {
			t.Fatalf("%d rows", len(rows))
		}
		for i := range rows {
			offset := rows[i].Intended - r.start
			// Message i is done at (i+1)·s exactly, as if there were no window.
			if got, want := rows[i].Acked-r.start, int64(i+1)*ms; got != want {
				t.Fatalf("message %d: done at %d, want %d", i, got, want)
			}
			if excess := response(&rows[i]) - ms - offset/5; excess < -1 || excess > 1 {
				t.Fatalf("message %d: response is off s + 0.2·t by %d ns", i, excess)
			}
		}
	})
}

// K12: a window of 10 and a round trip of 2 ms carry 5000/s of the 8000/s
// offered; everything above is blocked, by the window, and nothing is lag.
func TestK12(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 8000, n: 16_000, server: server{delay: 2 * ms}}
		r.config.Window = 10
		r.run(t)
		rows := r.bySeq(t)
		r.onGrid(t, rows, ms/8)
		for i := range rows {
			row := &rows[i]
			want := int64(i/10)*2*ms + int64(i%10)*ms/8 // ten at the pace of the schedule, then as they are answered
			if got := row.Sent - r.start; got != want || service(row) != 2*ms {
				t.Fatalf("message %d: sent at %d, want %d; service %d", i, got, want, service(row))
			}
			if i >= 10 && row.Wait != format.WaitWindow {
				t.Fatalf("message %d waited for %s", i, row.Wait)
			}
		}
		last := rows[len(rows)-1]
		if x := float64(len(rows)) / (float64(last.Sent-r.start) / 1e9); x < 4995 || x > 5005 {
			t.Errorf("%.1f messages/s, want 5000", x)
		}
		if blocked, offset := float64(last.Sent-last.Ready), float64(last.Intended-r.start); blocked/offset < 0.599 || blocked/offset > 0.601 {
			t.Errorf("blocked grows by %.4f of the time, want 0.6", blocked/offset)
		}
	})
}
