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
	// Undeliverable is an answer of a receiver: Modified, with undeliverable-here, so
	// that the message does not come to the same link again.
	Undeliverable
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

// StampKey is the application property that holds the stamp of a message whose
// body does not: a binary.
const StampKey = "x-amqpperf-stamp"

// Sections makes the sections of a message that stand before its body: header,
// delivery annotations, message annotations, properties and application
// properties, encoded and in this order. It is called like Body.Append: with m.Sent
// set, by one goroutine at a time per sender.
type Sections interface {
	AppendSections(dst []byte, m *Message) []byte
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
	// Stamp is the binary under StampKey in the application properties; nil: none, so
	// that the stamp is looked for in Body. It is valid as long as Body.
	Stamp []byte
	// BrokerIn is the broker's arrival annotation in ns, format.Null if none.
	BrokerIn int64
	// DeliveryCount is that of the message header.
	DeliveryCount uint32
	// Settled is true if the sender settled it: there is nothing to answer.
	Settled bool
	// ContentType is that of the properties, "" if none: for messages about foreign bodies.
	ContentType string
}

// Tx is a transaction that has ended. Instants are ns since the Unix epoch, 0: it
// never came to that.
type Tx struct {
	// First and Last are the first and the last message (ID) or delivery (ID) in it.
	// Those between that belong to no other transaction are in it too.
	First, Last uint64
	// Count is how many messages or deliveries are in it.
	Count int
	// Rolledback says that it was meant to be rolled back, and was.
	Rolledback bool
	// Declared is when the broker's answer to the declare was read, Discharged the
	// instant immediately before the discharge was written, and At when the answer to
	// that was read. At − Discharged is the commit time.
	Declared, Discharged, At int64
	// Error is why it failed, "" if it did not: the AMQP condition and description, or
	// the end of the link.
	Error string
}

// EventKind names what happened to a connection or link, as in event/1.
type EventKind string

// The kinds of events.
const (
	EventConnect EventKind = "connect"
	EventAttach  EventKind = "attach"
	EventCredit0 EventKind = "credit0"
	// EventSession0 says that a sender waits for the session's window: RabbitMQ 4 closes it under a memory alarm.
	EventSession0 EventKind = "session0"
	EventDetach   EventKind = "detach"
	EventClose    EventKind = "close"
	EventError    EventKind = "error"
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
