// Package produce sends what a schedule intends through a link and makes a row
// of every message, whatever became of it.
//
// A Producer stands between the pacer, which hands over what is due and never
// waits, and a link, which may wait for credit, the session or the socket. In
// between is the window (at most so many messages without an answer). What is
// due and cannot be sent yet costs a few words per wake of the pacer, not per
// message, because the schedule can be asked for the instants again.
//
// The order of the instants of a message is fixed by construction: intended
// comes from the schedule alone; ready is read before any wait, when the pacer
// hands the message over and, if it need not wait, when it has come to the
// producer's goroutine; sent is read by the link after every wait; acked by the
// link's reader. A message is
// registered before it is submitted, so an answer can never arrive for one
// that is not known yet.
//
// A Producer takes one lock of its own and shares none with others. Nothing is
// allocated per message.
package produce

import (
	"context"
	"sync"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

// Link is what a Producer needs of a sending link. The link calls back: the
// Producer is its amqp.Body and amqp.Sink.
type Link interface {
	// Submit sends the messages in order and waits for credit, session and
	// socket as it must, never for settlement. It sets Sent and Wait of what it
	// sent and returns how many that were; an error if fewer than all, which is
	// that of ctx if the wait was cut short and otherwise means the link is gone.
	// Body.Append is called within Submit only, before the write of the message.
	Submit(ctx context.Context, messages []amqp.Message) (int, error)
	Close(ctx context.Context) error
}

// Config is what a Producer is made of.
type Config struct {
	Run         string
	Sender      int32
	Producer    int32
	Destination string // as typed
	Connection  int32
	// Size is that of the bodies in bytes: at least timestamp.Size(Run), unless the
	// stamp is elsewhere.
	Size int32
	// SizeOf returns the size of the body of a message, for sizes that differ; it is
	// a function of seq alone. Nil: Size.
	SizeOf func(seq int64) int32
	// Content returns what follows the stamp in the body of a message, of SizeOf
	// bytes with it. Nil: Filler.
	Content func(seq int64) []byte
	// StampApart says that the stamp is not in the body: see AppendStamp.
	StampApart bool
	// Window is the largest number of messages without an answer. 0: no limit but
	// the credit; in a closed loop a message is then intended when it is taken for
	// the next write.
	Window int
	Clock  *timestamp.Clock
	// Schedule says when messages are intended, from the start. Nil is the closed loop:
	// a message is intended at the instant at which a window slot became free. Slots of a
	// window that was full are taken when a quarter of them is free, or after 1 ms.
	Schedule schedule.Schedule
	// Filler follows the stamp in a body; see the function Filler.
	Filler []byte
	// Count ends a closed loop after so many messages; schedule.Unbounded if not.
	Count int64
	// Drain bounds the wait for the last answers of a closed loop that ends by
	// Count; of other ends Run's context is the bound. 0 is no bound.
	Drain time.Duration
	// Write takes a finished row (a recorder's lane). It is called with the
	// producer's lock held, by different goroutines, and must not keep the row or
	// call back.
	Write func(*recorder.SendRow)
	// OnDown is told once that the link is gone for good, under the same conditions
	// as Write. It may be nil.
	OnDown func(error)
	// Reconnect replaces a link that is gone, or says why that cannot be. It is
	// called by Run with the cause, and waits as long as it must. When it returns the
	// old link no longer calls back. Nil: a link that is gone stays so.
	Reconnect func(ctx context.Context, old Link, cause error) (Link, error)
	// Resend sends messages that failed again, on the new link.
	Resend bool
}

// Producer sends the messages of one link.
type Producer struct {
	cfg   Config
	stamp stamper

	start    int64 // instant of the schedule's offset 0
	measured int64 // end of the warm-up

	wake chan struct{} // capacity 1

	watched bool // of Run: watchLast was called

	mu       sync.Mutex
	window   window
	backlog  backlog
	waits    waits
	freed    instants  // closed loop: slots that became free and are not taken yet
	initial  int       // closed loop: slots never taken yet, free from the start
	refill   refill    // closed loop
	next     int64     // seq of the next message to be registered
	nextID   int64     // of the next transmission
	again    []message // taken before, and to be sent on the next link
	finished bool
	end      int64                        // closed loop: slots that became free at or after it are not taken
	waiting  bool                         // Run sleeps on wake
	down     error                        // why the link is gone: nothing more is sent
	cause    string                       // its text
	lost     bool                         // Down was called: no more answers
	stranded bool                         // there will be no other link
	conn     int32                        // incarnation of the connection
	outage   struct{ began, ended int64 } // the last one
	row      recorder.SendRow             // scratch
	stats    live.Send

	settling bool  // Run waits for the last answers
	told     int64 // messages below have had a provisional row

	// Of Run alone: what is being submitted, and what the producer had waited
	// for when each of it became ready.
	batch []amqp.Message
	snaps []spent
	most  int // messages of a batch
}

// What is submitted at once is bounded by number, because the window is looked
// at and the clock is read once per batch, and by size to about what a link
// writes in one call, so that nothing is taken long before it is sent. The batch
// starts small and grows on demand, for a thousand producers at ten messages a
// second.
const (
	firstBatch = 8
	maxBatch   = 256
	batchBytes = 64 << 10
)

// New returns a Producer. Its link is opened with it as Body and Sink before Run.
func New(cfg Config) *Producer {
	p := &Producer{
		cfg:   cfg,
		stamp: newStamper(cfg),
		wake:  make(chan struct{}, 1),
		end:   schedule.Unbounded,
		most:  min(maxBatch, max(1, batchBytes/max(1, int(cfg.Size)))),
	}
	p.conn = cfg.Connection
	if cfg.SizeOf != nil {
		p.most = maxBatch // register looks at the sizes
	}
	p.window.limit = cfg.Window
	if cfg.Window == 0 {
		p.window.limit = unlimited
	}
	p.refill = newRefill(cfg.Window, p.most)
	if cfg.Schedule == nil {
		p.initial = cfg.Window
	}
	return p
}

// Begin sets the instant of the schedule's offset 0, in a closed loop that of
// the first messages, and the end of the warm-up: messages intended before it
// are left out of the aggregated statistics, never out of the log. It is called
// once, before Offer and Run.
func (p *Producer) Begin(start, measured int64) { p.start, p.measured = start, measured }

// closed reports whether this is a closed loop.
func (p *Producer) closed() bool { return p.cfg.Schedule == nil }

// Finish says that nothing new is intended from the instant end on. In an open
// loop the pacer has stopped and has offered everything. Run returns when what
// is due has been sent and answered, or when its context ends.
func (p *Producer) Finish(end int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = true
	p.end = min(p.end, end)
	p.notify()
}

// notify wakes Run if it sleeps. The lock is held.
func (p *Producer) notify() {
	if !p.waiting {
		return
	}
	p.waiting = false
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// sleep gives up the lock until notify or the end of ctx.
func (p *Producer) sleep(ctx context.Context) {
	p.waiting = true
	p.mu.Unlock()
	select {
	case <-p.wake:
	case <-ctx.Done():
	}
	p.mu.Lock()
	p.waiting = false
}

// size returns the size of the body of a message.
func (p *Producer) size(seq int64) int32 {
	if p.cfg.SizeOf != nil {
		return p.cfg.SizeOf(seq)
	}
	return p.cfg.Size
}

// begin starts p.row for a message that was never sent.
func (p *Producer) begin(seq, intended, ready int64) *recorder.SendRow {
	p.row = recorder.SendRow{
		Producer: p.cfg.Producer, Seq: seq, Destination: p.cfg.Destination, Size: p.size(seq), Connection: p.conn,
		Intended: intended, Ready: ready, Sent: format.Null, Acked: format.Null,
		Outcome: format.Unsent, Wait: format.WaitNone,
	}
	return &p.row
}
