package endpoint

import "amqpperf/internal/amqp/wire"

// Kind is what an Event is about.
type Kind uint8

const (
	// SessionBegun: the peer has begun a session, or has answered our begin.
	SessionBegun Kind = iota + 1
	// SessionEnded: the session is over; Err tells why, nil for a plain end. A
	// LinkDetached for each of its links comes before it.
	SessionEnded
	// LinkRequested: the peer wants a link; Attach is its attach. The owner must call
	// Accept or Refuse.
	LinkRequested
	// LinkAttached: the peer has accepted our attach; Attach is its answer.
	LinkAttached
	// LinkDetached: the link is gone, with the condition Err (nil: none; that of our
	// detach if the peer gave none to it) and Closed as the peer said. For a refused
	// attach this comes instead of LinkAttached. A link that was detached for what the
	// peer did is gone at once, whether the peer answers or not. What was unsettled on it
	// stays so for ever.
	LinkDetached
	// LinkFlow: the peer has sent a flow for the link, or a delivery was aborted:
	// credit may have changed. Drain is set while the peer waits for Drained.
	LinkFlow
	// Received: Delivery has arrived.
	Received
	// Settled: the deliveries First to Last of the link have their first terminal
	// state, or were settled without one (State.Kind 0). As a sender: the
	// disposition that stamps them acked. As a receiver: the sender gave up on them.
	Settled
	// Unblocked: the peer's session window has opened for the session.
	Unblocked
	// Abandoned: the deliveries First to Last of a sender's link will have no
	// disposition, because the link is gone. It comes before LinkDetached, or after
	// Detach was called.
	Abandoned
)

// Event is something the owner must know. Its byte slices and those in Attach,
// State and Delivery are valid until the next call of Frame unless said otherwise.
type Event struct {
	Kind        Kind
	Closed      bool
	Drain       bool
	Session     *Session
	Link        *Link
	First, Last int64 // numbers on the link, both included
	State       wire.State
	Attach      *wire.Attach // stays valid
	Err         *wire.Error  // stays valid
	Delivery    Delivery
}

// Delivery is one whole message that has come in.
type Delivery struct {
	No      int64 // number on the link, from 0
	Tag     []byte
	Format  uint32
	Settled bool // by the sender
	Owned   bool // Payload was assembled from several frames and is the owner's to keep
	State   wire.State
	Payload []byte
}

// Wait is what a sender waits for.
type Wait uint8

const (
	// WaitNone: a delivery may be sent now.
	WaitNone Wait = iota
	// WaitLink: the link is not attached (yet, or any more).
	WaitLink
	// WaitCredit: no link credit.
	WaitCredit
	// WaitSession: the peer's session window is full, or a delivery is half sent.
	WaitSession
)
