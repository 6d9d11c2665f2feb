package link

import (
	"context"
	"testing"

	"amqpperf/internal/amqp"
)

// TestHold: a link on hold gets nothing, and from its Start on everything.
func TestHold(t *testing.T) { bothClients(t, testHold) }

func testHold(t *testing.T) {
	t.Parallel()
	address := queue(t)
	c := dial(t, config(t, brokerURL(t)), 0)
	attach := func(hold bool) *Receiver {
		t.Helper()
		r, err := c.NewReceiver(limit(t), ReceiverConfig{Address: address, Credit: 10, Hold: hold})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	held, eager := attach(true), attach(false)
	sink := newLedger(t)
	s, err := c.NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		if _, err := s.Submit(limit(t), []amqp.Message{{ID: uint64(i), Size: 8}}); err != nil {
			t.Fatal(err)
		}
	}
	take(t, eager, 4) // were the other one served too, two of them would be missing
	if waiting, unsettled := held.Queued(); waiting+unsettled != 0 {
		t.Errorf("%d messages came to a link on hold", waiting+unsettled)
	}
	if err := eager.Close(context.Background()); err != nil { // which gives them back
		t.Fatal(err)
	}
	held.Start()
	last := take(t, held, 4)[3]
	if _, err := held.Settle(0, last.ID, amqp.Accepted); err != nil {
		t.Error(err)
	}
}
