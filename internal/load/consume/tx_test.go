package consume_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/live"
)

// txQueue is a queue whose link has transactions of n deliveries. Each takes 10 ms
// to end, and ends as the answers say by turns.
type txQueue struct {
	*queue
	n       int
	answers []amqp.State
	c       func() *consume.Consumer

	open  []uint64 // deliveries of the present transaction
	ended int
}

func (q *txQueue) Settle(first, last uint64, state amqp.State) (int64, error) {
	at, err := q.queue.Settle(first, last, state)
	for id := first; err == nil && id <= last; id++ {
		if q.open = append(q.open, id); len(q.open) == q.n {
			err = q.Flush(context.Background())
		}
	}
	return at, err
}

func (q *txQueue) Flush(context.Context) error {
	if len(q.open) == 0 {
		return nil
	}
	tx := amqp.Tx{First: q.open[0], Last: q.open[len(q.open)-1], Count: len(q.open), Discharged: q.clock.Now()}
	time.Sleep(10 * ms)
	tx.At = q.clock.Now()
	state := q.answers[q.ended%len(q.answers)]
	tx.Rolledback = state == amqp.Released
	if state == amqp.Unsettled {
		tx.Error = "amqp:transaction:rollback: because"
	}
	for _, id := range q.open {
		q.c().Discharged(1, id, id, tx.At, amqp.Released) // of another link: not heard
		q.c().Discharged(0, id, id, tx.At, state)
	}
	q.c().Ended(tx)
	q.open = nil
	q.ended++
	return nil
}

// runTx receives n messages in transactions of four.
func runTx(t *testing.T, r *rig, n int, answers ...amqp.State) *txQueue {
	t.Helper()
	q := &txQueue{queue: r.queue, n: 4, answers: answers, c: func() *consume.Consumer { return r.c }}
	r.link = q
	r.config.Tx = q.n
	r.queue.put(r.bodies("r", n)...)
	if err := r.run(t); err != nil {
		t.Error(err)
	}
	return q
}

// Ten messages in transactions of four, of which the second is rolled back: the
// settled instants are those of the answers to the discharges; two are left for the
// last one, which the end of the run discharges.
func TestTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.limits.Idle = 500 * ms
		if err := r.config.Outcomes.Set("reject=0.25"); err != nil {
			t.Fatal(err)
		}
		q := runTx(t, r, 10, amqp.Accepted, amqp.Released)
		want := "0 accepted, 1 accepted, 2 rejected, 3 accepted, 4 released, 5 released, 6 released, 7 released, 8 accepted, 9 accepted"
		var got []string
		for _, row := range r.rows {
			got = append(got, strings.Join([]string{string(rune('0' + row.Seq)), row.Outcome}, " "))
		}
		if strings.Join(got, ", ") != want || q.ended != 3 {
			t.Errorf("%d transactions\ngot  %s\nwant %s", q.ended, strings.Join(got, ", "), want)
		}
		for i, row := range r.rows[:8] { // begun with when the transaction before was over
			if took := row.Settled - row.Started; took != 10e6 {
				t.Errorf("message %d was settled after %d ns", i, took)
			}
		}
		var s live.Recv
		r.c.Collect(&s)
		if s.Committed != 2 || s.RolledBack != 1 || s.TxFailed != 0 || s.Commit.Min() != 10e6 || s.Commit.Max() != 10e6 || s.Returned != 4 {
			t.Errorf("%+v", s)
		}
	})
}

// A broker that does not commit ends the run with its reason.
func TestTransactionRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		runTx(t, r, 6, amqp.Unsettled)
		reason, err := r.group.Reason()
		if reason != consume.StopError || err == nil || err.Error() != "queue://x: a transaction of 4 deliveries failed: amqp:transaction:rollback: because" {
			t.Errorf("stopped by %s, %v", reason, err)
		}
		if d := cmp.Diff("0 unsettled, 1 unsettled, 2 unsettled, 3 unsettled, 4 unsettled, 5 unsettled", r.outcomes(t)); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// The stamp is where the delivery says, else in the body.
func TestStampBeside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.limits.Count = 2
		r.queue.beside = true
		r.queue.put(r.bodies("r", 2)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if got, want := r.outcomes(t), "0 accepted, 1 accepted"; got != want || r.rows[0].Size != 4 {
			t.Errorf("got %s, want %s; size %d", got, want, r.rows[0].Size)
		}
	})
}
