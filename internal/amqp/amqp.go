// Package amqp holds the seam between loading (internal/load) and AMQP
// (internal/amqp/link): the plain values that cross it. It is asynchronous and
// batched: a sender submits runs of messages and never waits for settlement,
// completions come back in batches; a receiver hands out batches of deliveries
// that share the instant of one socket read.
//
// The interfaces that use these values are declared where they are needed, in
// load/produce and load/consume; link implements them without knowing it.
package amqp

// State is what became of a transfer.
type State uint8

// The states. Unsettled is the zero value: no disposition was seen.
const (
	Unsettled State = iota
	Accepted
	Rejected
	Released
	Modified
	Presettled
	Failed // link or connection error
)

// Wait says what a message waited for between ready and sent.
type Wait uint8

// The waits, as in the column wait of a send log.
const (
	WaitNone Wait = iota
	WaitWindow
	WaitCredit
	WaitSession
	WaitSocket
	WaitConnection
)

// Message is one message on its way out.
type Message struct {
	// ID identifies the message in completions: consecutive numbers per sender,
	// chosen by the caller.
	ID uint64
	// Intended is the instant of the schedule, in ns since the Unix epoch.
	Intended int64
	// Seq and Attempt go into the stamp.
	Seq     int64
	Attempt int32
	// Size is the size of the body in bytes.
	Size int32
	// Sent is set by Submit: the instant immediately before the write, after
	// every wait, in ns since the Unix epoch.
	Sent int64
	// Wait is set by Submit: what the longest part of the wait before Sent was for.
	Wait Wait
}

// Body makes the body of a message at the last moment, so that the stamp can
// hold the sent instant. Append appends exactly m.Size bytes to dst. It is
// called with m.Sent set, by one goroutine at a time per sender.
type Body interface {
	Append(dst []byte, m *Message) []byte
}

// Completion says that the messages First…Last (IDs, inclusive) reached State.
type Completion struct {
	First, Last uint64
	State       State
	// At is the instant of the socket read that brought the disposition, in ns
	// since the Unix epoch (with the library client: when the library returned).
	At int64
	// Error is the AMQP condition and description of a rejection or failure, "" if none.
	Error string
}

// Sink takes completions. Completed is called by the connection's reader (or,
// with the library client, by several goroutines, one at a time per sender); it must not
// block and must not keep the slice. A completion can arrive before the Submit
// that sent the message has returned.
//
// Down says that the link is gone, with its cause: messages without a
// completion will get none. It is called at most once, after the last Completed.
type Sink interface {
	Completed(batch []Completion)
	Down(at int64, err error)
}

// Delivery is one message that arrived.
type Delivery struct {
	// ID is the delivery's number within the receiver, for Settle: consecutive from 0.
	ID uint64
	// Received is read as the bytes that completed the message left the socket,
	// before decoding, in ns since the Unix epoch.
	Received int64
	// Body is the body: the data sections one after the other, or the bytes of a
	// binary value. It is valid until the next Receive.
	Body []byte
	// BrokerIn is the broker's arrival annotation in ns, format.Null if none.
	BrokerIn int64
	// DeliveryCount is that of the message header.
	DeliveryCount uint32
	// Settled is true if the sender settled it: there is nothing to answer.
	Settled bool
	// ContentType is that of the properties, "" if none: for messages about foreign bodies.
	ContentType string
}

// EventKind names what happened to a connection or link, as in event/1.
type EventKind string

// The kinds of events.
const (
	EventConnect EventKind = "connect"
	EventAttach  EventKind = "attach"
	EventCredit0 EventKind = "credit0"
	EventDetach  EventKind = "detach"
	EventClose   EventKind = "close"
	EventError   EventKind = "error"
)

// Event is something that happened to a connection or link.
type Event struct {
	At         int64 // ns since the Unix epoch
	Kind       EventKind
	Connection int32  // index within the process
	Link       string // address as attached, "" if it is about the connection
	Condition  string // AMQP condition, "" if none
	Text       string
}
