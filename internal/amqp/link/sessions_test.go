package link

import (
	"testing"

	"amqpperf/internal/amqp/broker"
)

// TestOneSessionEach: links do not share a session unless they were told to: RabbitMQ ends the session of a link that it
// refuses.
func TestOneSessionEach(t *testing.T) {
	t.Parallel()
	c := dial(t, config(t, ownBroker(t, broker.Config{}).url), 0)
	seen := map[*ownSession]bool{}
	for range 2 {
		s, err := c.NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 1})
		if err != nil {
			t.Fatal(err)
		}
		seen[s.is.(*ownSender).session] = true
		seen[r.is.(*ownReceiver).session] = true
	}
	if len(seen) != 4 {
		t.Errorf("4 links on %d sessions", len(seen))
	}
}
