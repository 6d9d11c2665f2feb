package consume_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
)

// provisional returns "seq outcome begun" of the provisional rows that are new, of what
// was received before now.
func (r *rig) provisional() (out []string) {
	r.c.Provisional(r.clock.Now(), func(row *recorder.RecvRow) {
		text := fmt.Sprintf("%d %s", row.Seq, row.Outcome)
		if row.Started != format.Null {
			text += " begun"
		}
		if row.Settled != format.Null {
			text += " settled"
		}
		out = append(out, text)
	})
	return out
}

// What waits behind a slow message is in the log before its turn comes, once, and the
// statistics tell it apart from what was begun with.
func TestWaitingIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "1m", 0)
		r.limits.Count = 3
		r.queue.put(r.bodies("r", 3)...)
		var at [2][]string
		var counted live.Recv
		r.later = func() {
			at[0], at[1] = r.provisional(), r.provisional()
			r.c.Collect(&counted)
		}
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([2][]string{{"0 unsettled begun", "1 unsettled", "2 unsettled"}}, at); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if counted.Unsettled != 1 || counted.Waiting != 2 || counted.Received != 1 {
			t.Errorf("%+v", counted)
		}
		if got, want := r.outcomes(t), "0 accepted, 1 accepted, 2 accepted"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if rest := r.provisional(); len(rest) != 0 || r.c.Waiting() != 0 {
			t.Errorf("afterwards %v, %d waiting", rest, r.c.Waiting())
		}
	})
}

// A link that is lost has rows of all that it brought: of what waited too.
func TestWaitingLinkLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "10ms", 0)
		r.queue.put(r.bodies("r", 3)...)
		time.AfterFunc(5*ms, func() { r.queue.die(errCut) })
		if err := r.run(t); err == nil || !strings.Contains(err.Error(), errCut.Error()) {
			t.Errorf("error %v", err)
		}
		var got []string
		for _, row := range r.rows {
			got = append(got, fmt.Sprintf("%d %s %v", row.Seq, row.Outcome, row.Started != format.Null))
		}
		if d := cmp.Diff([]string{"0 unsettled true", "1 unsettled false", "2 unsettled false"}, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// What the broker had settled is worked on though the link is gone; and no more of it waits
// than there is credit, which nothing else limits.
func TestWaitingPresettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "1s", 0)
		r.queue.settled = true
		bodies := r.bodies("r", 20)
		r.queue.put(bodies...)
		var most atomic.Int64
		r.later = func() {
			r.queue.mu.Lock()
			r.queue.free = 100 // what is settled gives its credit back as it is received
			r.queue.signal()
			r.queue.mu.Unlock()
			for range 40 {
				time.Sleep(300 * ms)
				most.Store(max(most.Load(), int64(r.c.Waiting())))
			}
		}
		time.AfterFunc(15*time.Second, func() { r.queue.die(errCut) })
		if err := r.run(t); err == nil {
			t.Error("no error of the lost link")
		}
		// A batch is taken at once when there is room for one more.
		if n := most.Load(); n < 10 || n > 19 {
			t.Errorf("up to %d waited with a credit of 10", n)
		}
		if got := r.outcomes(t); strings.Count(got, format.Presettled) != 20 || strings.Contains(got, format.Unsettled) {
			t.Errorf("got %s", got)
		}
		for _, row := range r.rows {
			if row.Started == format.Null {
				t.Errorf("%d was not begun with", row.Seq)
			}
		}
	})
}

// A foreign message waits for its turn too, and is answered between the others.
func TestWaitingForeign(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.slow(t, "5ms", 0)
		r.config.Foreign = consume.ForeignAccept
		r.limits.Count = 2
		r.queue.put(r.body("r"), []byte("somebody's"), r.body("r"))
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0-0 accepted", "1-1 accepted", "2-2 accepted"}, r.queue.answers); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// Modified can say that the message is undeliverable here.
func TestUndeliverableHere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		if err := r.config.Outcomes.Set("modify=0.5"); err != nil {
			t.Fatal(err)
		}
		r.config.UndeliverableHere = true
		r.limits.Count = 2
		r.queue.put(r.bodies("r", 2)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0-0 accepted", "1-1 undeliverable"}, r.queue.answers); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if got, want := r.outcomes(t), "0 accepted, 1 modified"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// Whatever the size of its body, a message that waits takes no more than this: what
// --help and the manual say about --credit.
func TestRowInMemory(t *testing.T) {
	t.Parallel()
	if n := consume.RowInMemory; n > 256 {
		t.Errorf("a delivery takes %d bytes", n)
	}
}
