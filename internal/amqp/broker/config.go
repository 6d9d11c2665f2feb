package broker

import (
	"fmt"
	"time"
)

// Config is what a broker does. The zero value is a broker without delays that
// accepts everybody.
type Config struct {
	// ContainerID goes into the open frame; empty: "perf-broker".
	ContainerID string
	// Version goes into the open frame's properties, beside product "perf-broker";
	// empty: "dev".
	Version string

	// Users are names and passwords for SASL PLAIN; nil: PLAIN is not offered.
	Users map[string]string
	// RequireUser refuses ANONYMOUS and clients without a SASL layer. It needs Users.
	RequireUser bool

	// MaxFrameSize is the largest frame accepted, in bytes; 0: 65536. At least 512.
	MaxFrameSize uint32
	// MaxMessageSize is the largest message accepted, in bytes; 0: 128 MiB. A larger
	// one detaches its link with amqp:link:message-size-exceeded.
	MaxMessageSize uint64
	// IdleTimeout closes a connection from which nothing has come for that long; half
	// of it is announced. 0: 60 s; negative: never, and nothing is announced.
	IdleTimeout time.Duration
	// Credit is what a producer's link is given, renewed at half; 0: 1000.
	Credit uint32
	// MaxQueued withholds credit from the producers of an address that holds this many
	// messages or more (not yet departed, or waiting for a consumer), until it holds
	// half; 0: no limit. What was granted may still come.
	MaxQueued int

	// NoAutoCreate refuses addresses not listed in Addresses with amqp:not-found.
	NoAutoCreate bool
	// Addresses exist from the start: "queue://NAME", "topic://NAME" or "NAME".
	Addresses []string
	// Forbidden addresses, in the same form, are refused with amqp:unauthorized-access.
	Forbidden []string

	// Service is the service time of every message.
	Service Service
	// Stalls freeze the whole server for a while: no service goes on and no message is
	// handed to a consumer. A service that is under way is continued afterwards.
	// Frames are still read and heartbeats sent: it is a busy broker, not a dead one.
	Stalls []Stall
	// Delay is added to every frame in each direction, like a longer network; heartbeats
	// and the opening of the connection too. 0: none.
	Delay time.Duration
	// MaxUnsettledBytes caps the bytes of unsettled messages (encoded, as they came) on
	// the way to one connection; 0: no cap. One message is always allowed, however large.
	MaxUnsettledBytes int64

	// Now is the clock of all recorded instants, in ns since the Unix epoch, monotonic
	// (timestamp.Clock's Now is one). nil: the wall clock at New plus the monotonic time since.
	Now func() int64
	// CoarseTimers waits with the runtime's timers, which are late by up to 1 ms on
	// Linux, instead of a timerfd. They are always used where there is no timerfd, and
	// a test inside a testing/synctest bubble must set this.
	CoarseTimers bool

	// ArrivalLog is called once for each message that leaves the broker (on a topic:
	// once for each copy), and by Close for each that is still there. It is called with
	// the broker's lock held: it must be quick and must not call the broker. The record
	// and its bytes are valid during the call only. [CSVLog] is a ready-made one. nil: none.
	ArrivalLog func(*Record)
}

// Service is a distribution of service times.
type Service struct {
	// Mean is the mean service time; 0: messages depart as they arrive.
	Mean time.Duration
	// Exponential draws each service time from an exponential distribution with that
	// mean; otherwise every one is Mean.
	Exponential bool
	// Seed selects the sequence drawn. Each address has its own sequence, derived from
	// the seed and its name, so that it does not depend on the order of first use.
	Seed uint64
}

// Stall is a freeze of the whole server.
type Stall struct {
	// At is measured from the arrival of the first message at the broker, on whatever
	// address: a run is then hit at a known place, whenever it started.
	At time.Duration
	// For is how long it lasts.
	For time.Duration
}

// Record is one message's way through the broker. Instants are ns of [Config.Now];
// 0: never happened.
type Record struct {
	Address string // "queue://NAME" or "topic://NAME"
	Link    string // name of the consumer link it was last delivered to; "" if none
	Seq     uint64 // from 0 per address, in order of arrival
	Size    int    // bytes of the encoded message, header section included

	Arrival int64 // the socket read that completed the message returned
	Start   int64 // its service began (computed)
	Due     int64 // its service ended (computed): Start + service time + stalls
	// Departure is when the broker acted on Due: the disposition accepted was handed to
	// the connection's writer, and the message became available. Departure − Due is the
	// broker's own lateness. This instant and those below are taken once for all frames
	// of a read, or all messages that a timer lets go.
	Departure int64
	// Acked is Departure if the sender waited for a disposition, 0 if it sent settled or
	// inside a transaction.
	Acked int64
	// Delivered is when the first transfer of the message to a consumer was handed to
	// the connection's writer.
	Delivered int64
	Settled   int64 // when the consumer's final disposition was read; on a settled delivery: Delivered

	Deliveries int    // how often it was handed to a consumer
	Failed     uint32 // delivery-count at the end
	Outcome    Outcome

	// Message is the encoded message as it came, without its header section.
	Message []byte
	// Body is the first data section of Message; nil if its body is of another kind.
	Body []byte
}

// Outcome is how a message left the broker.
type Outcome string

// The outcomes of a Record.
const (
	Accepted   Outcome = "accepted"   // by a consumer
	Rejected   Outcome = "rejected"   // by a consumer; the broker drops it
	Presettled Outcome = "presettled" // delivered settled
	Expired    Outcome = "expired"    // its ttl was over before a consumer took it
	Dropped    Outcome = "dropped"    // a topic without subscribers, or a subscriber that left
	Unsettled  Outcome = "unsettled"  // at a consumer when the broker was closed
	Queued     Outcome = "queued"     // in the broker when it was closed
)

// withDefaults checks c and fills in the defaults.
func (c Config) withDefaults() (Config, error) {
	if c.ContainerID == "" {
		c.ContainerID = "perf-broker"
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.MaxFrameSize == 0 {
		c.MaxFrameSize = 65536
	}
	if c.MaxMessageSize == 0 {
		c.MaxMessageSize = 128 << 20
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = time.Minute
	}
	if c.Credit == 0 {
		c.Credit = 1000
	}
	if c.Now == nil {
		base := time.Now()
		wall := base.UnixNano()
		c.Now = func() int64 { return wall + int64(time.Since(base)) }
	}
	return c, c.check()
}

func (c Config) check() error {
	switch {
	case c.MaxFrameSize < 512:
		return fmt.Errorf("broker: max frame size %d is below AMQP's minimum of 512", c.MaxFrameSize)
	case c.RequireUser && len(c.Users) == 0:
		return fmt.Errorf("broker: a user is required, but there are none")
	case c.Service.Mean < 0:
		return fmt.Errorf("broker: negative service time %v", c.Service.Mean)
	case c.Service.Exponential && c.Service.Mean == 0:
		return fmt.Errorf("broker: exponential service needs a mean above 0")
	case c.Delay < 0:
		return fmt.Errorf("broker: negative delay %v", c.Delay)
	case c.MaxUnsettledBytes < 0:
		return fmt.Errorf("broker: negative cap on unsettled bytes %d", c.MaxUnsettledBytes)
	case c.MaxQueued < 0:
		return fmt.Errorf("broker: negative queue limit %d", c.MaxQueued)
	case c.IdleTimeout > 0 && c.IdleTimeout < 2*time.Millisecond:
		return fmt.Errorf("broker: idle timeout %v is below 2ms", c.IdleTimeout)
	}
	for _, s := range c.Stalls {
		if s.At < 0 || s.For <= 0 {
			return fmt.Errorf("broker: stall of %v at %v: it needs a length above 0 and a place not before the first message", s.For, s.At)
		}
	}
	return nil
}
