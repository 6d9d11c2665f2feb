package endpoint

import (
	"testing"

	"amqpperf/internal/amqp/wire"
)

// TestChannelMax: we begin no more sessions than the peer's channel-max allows; channel 0 is one of them.
func TestChannelMax(t *testing.T) {
	t.Parallel()
	for most := range uint16(3) {
		c := New(Config{})
		c.SetPeer(&wire.Open{ChannelMax: wire.Some(most)})
		for i := range most + 1 {
			if _, err := c.Begin(); err != nil {
				t.Fatalf("channel-max %d, session %d: %v", most, i+1, err)
			}
		}
		if _, err := c.Begin(); err == nil {
			t.Errorf("channel-max %d: one session too many", most)
		}
	}
	c := New(Config{})
	c.SetPeer(&wire.Open{}) // absent: 65535
	for i := range 300 {
		if _, err := c.Begin(); err != nil {
			t.Fatalf("no channel-max, session %d: %v", i+1, err)
		}
	}
}

// TestNullLinkCredit: a flow that says nothing of the credit takes none away.
func TestNullLinkCredit(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{})
	l := attached(t, c, s, wire.RoleSender)
	c.send(t, 0, &wire.Flow{IncomingWindow: 100, Handle: wire.Some(uint32(7)), LinkCredit: wire.Some(uint32(5))})
	c.send(t, 0, &wire.Flow{IncomingWindow: 200, Handle: wire.Some(uint32(7))})
	if l.Credit() != 5 || s.outWindow != 200 {
		t.Errorf("credit %d of 5, window %d of 200", l.Credit(), s.outWindow)
	}
}
