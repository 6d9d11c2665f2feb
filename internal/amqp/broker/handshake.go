package broker

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"time"

	"amqpperf/internal/amqp/wire"
)

// minPeerIdle is the smallest idle-time-out of a peer that is honoured: below it,
// heartbeats would be the load.
const minPeerIdle = 20 * time.Millisecond

// handshake does SASL, if the client wants or has to, and exchanges opens. It is
// the one place where the reading goroutine writes.
func (c *conn) handshake() error {
	if err := c.nc.SetDeadline(time.Now().Add(handshakeLimit)); err != nil {
		return err
	}
	h, err := c.in.protocol()
	if err != nil {
		return fmt.Errorf("protocol header: %w", err)
	}
	if h == wire.ProtocolSASL {
		if err := c.sasl(); err != nil {
			return err
		}
		if h, err = c.in.protocol(); err != nil {
			return fmt.Errorf("protocol header after SASL: %w", err)
		}
	} else if c.b.cfg.RequireUser {
		// Tell what is spoken here, and hang up (part 2, section 2.2).
		_, err := io.WriteString(c.nc, wire.ProtocolSASL)
		return errors.Join(errors.New("client without SASL refused"), err)
	}
	if h != wire.ProtocolAMQP {
		_, err := io.WriteString(c.nc, wire.ProtocolAMQP)
		return errors.Join(fmt.Errorf("unsupported protocol header %q", h), err)
	}
	return c.open()
}

func (c *conn) sasl() error {
	mechs := []wire.Symbol{wire.MechAnonymous}
	switch {
	case c.b.cfg.RequireUser:
		mechs = []wire.Symbol{wire.MechPlain}
	case len(c.b.cfg.Users) > 0:
		mechs = append(mechs, wire.MechPlain)
	}
	out := wire.AppendFrame([]byte(wire.ProtocolSASL), wire.FrameSASL, 0, &wire.SASLMechanisms{Mechanisms: mechs})
	if _, err := c.nc.Write(out); err != nil {
		return err
	}
	f, err := c.in.next()
	if err != nil {
		return fmt.Errorf("sasl: %w", err)
	}
	var init wire.SASLInit
	if f.Type != wire.FrameSASL {
		return fmt.Errorf("sasl: frame of type %d", f.Type)
	}
	if err := init.Decode(f.Body); err != nil {
		return fmt.Errorf("sasl: %w", err)
	}
	ok := c.b.allows(&init)
	code := wire.SASLOK
	if !ok {
		code = wire.SASLAuth
	}
	if _, err := c.nc.Write(wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLOutcome{Code: code})); err != nil {
		return err
	}
	if !ok { // the mechanism is the client's text, the response a secret
		return errors.New("sasl: refused")
	}
	return nil
}

// allows checks a client's credentials.
func (b *Broker) allows(init *wire.SASLInit) bool {
	switch init.Mechanism {
	case wire.MechAnonymous:
		return !b.cfg.RequireUser
	case wire.MechPlain:
		user, password, ok := wire.SplitPlain(init.InitialResponse)
		want, known := b.cfg.Users[user]
		return ok && known && subtle.ConstantTimeCompare([]byte(password), []byte(want)) == 1
	}
	return false
}

func (c *conn) open() error {
	c.in.max = c.b.cfg.MaxFrameSize
	if _, err := io.WriteString(c.nc, wire.ProtocolAMQP); err != nil {
		return err
	}
	f, err := c.in.next()
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	var o wire.Open
	if f.Type != wire.FrameAMQP {
		return fmt.Errorf("open: frame of type %d", f.Type)
	}
	if err := o.Decode(f.Body); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	c.peerIdle = time.Duration(o.IdleTimeout.V) * time.Millisecond
	cfg := c.b.cfg
	mine := wire.Open{
		ContainerID: cfg.ContainerID, MaxFrameSize: wire.Some(cfg.MaxFrameSize), ChannelMax: wire.Some(uint16(channelMax)),
		OfferedCapabilities: []wire.Symbol{"SHARED-SUBS"},
		Properties:          wire.Map{{Key: wire.Symbol("product"), Value: "perf-broker"}, {Key: wire.Symbol("version"), Value: cfg.Version}},
	}
	if cfg.IdleTimeout > 0 { // half of it, as the peer needs time to react (part 2, section 2.4.5)
		mine.IdleTimeout = wire.Some(uint32(max(cfg.IdleTimeout.Milliseconds()/2, 1)))
	}
	out := wire.AppendFrame(nil, wire.FrameAMQP, 0, &mine)
	if c.peerIdle > 0 && c.peerIdle < minPeerIdle {
		e := &wire.Error{Condition: wire.CondNotAllowed, Description: fmt.Sprintf("idle-time-out of %v is below %v", c.peerIdle, minPeerIdle)}
		_, err := c.nc.Write(wire.AppendFrame(out, wire.FrameAMQP, 0, &wire.Close{Error: e}))
		return errors.Join(e, err)
	}
	if _, err := c.nc.Write(out); err != nil {
		return err
	}
	c.b.mu.Lock()
	c.container = o.ContainerID
	c.ep.SetPeer(&o)
	c.b.mu.Unlock()
	return c.nc.SetDeadline(time.Time{})
}
