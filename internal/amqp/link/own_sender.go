package link

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// ownSender is a sending link of ours.
type ownSender struct {
	ownLink
	cfg  SenderConfig
	down chan struct{} // closed when the sink hears no more
	idle chan struct{} // a token when nothing is in flight
	once sync.Once

	tx *sendTx // nil: there are no transactions

	noted, notedSession int64 // when the last credit0 and session0 events were reported; of Submit

	// Under plane.mu.
	limit      uint64 // bytes of a message; 0: none
	submitting bool
	inFlight   int
	ids        numbering
	head       []byte // encoded header section
	buffer     []byte // scratch: header and start of the data section
	body       []byte // scratch
	tag        [4]byte
	message    endpoint.Message
	paid       []amqp.Completion // presettled messages, being written

	// Of the reader.
	batch  []amqp.Completion
	queued bool // tell will be called
	fell   bool // the link is gone, and that is not told yet

	// sinkMu makes calls to the sink one at a time. It is taken before plane.mu.
	sinkMu sync.Mutex
	isDown atomic.Bool
}

func (c *Conn) newOwnSender(ctx context.Context, cfg SenderConfig, address Address, warning string) (*ownSender, error) {
	s := &ownSender{
		ownLink: newOwnLink(c.plane, cfg.Address, address, c.linkName()),
		cfg:     cfg, down: make(chan struct{}), idle: make(chan struct{}, 1),
	}
	s.head = (&wire.Header{Durable: cfg.Durable, Priority: wire.Some(uint8(4))}).Append(nil)
	session, err := s.coordinate(ctx, c)
	if err != nil {
		return nil, c.attachFailed(cfg.Address, address, err)
	}
	err = s.attach(ctx, session, s, wire.Attach{
		Role: wire.RoleSender, Source: &wire.Source{Address: wire.Some(s.name)},
		Target: cfg.target(address),
	})
	if err != nil {
		s.uncoordinate()
		return nil, c.attachFailed(cfg.Address, address, err)
	}
	peer := s.ep.Peer()
	s.limit = peer.MaxMessageSize
	theirs := ""
	if peer.Target != nil {
		theirs = peer.Target.Address.Or("")
	}
	c.attached(theirs, address, warning)
	return s, nil
}

// Address implements sending.
func (s *ownSender) Address() Address { return s.address }

// MaxMessageSize implements sending.
func (s *ownSender) MaxMessageSize() uint64 { return s.limit }

// Pending implements sending.
func (s *ownSender) Pending() int {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return s.inFlight
}

// Credit implements sending.
func (s *ownSender) Credit() int {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	return int(s.ep.Credit())
}

// Done implements sending.
func (s *ownSender) Done() <-chan struct{} { return s.down }

// Submit implements sending.
func (s *ownSender) Submit(ctx context.Context, messages []amqp.Message) (n int, err error) {
	var w waited
	for n < len(messages) {
		if err := s.turn(ctx, &w); err != nil {
			s.leaveSubmit()
			return n, s.stopped(err, &messages[n], amqp.WaitSocket)
		}
		k, blocked, err := s.encode(messages[n:], &w)
		n += k
		switch {
		case err != nil || n > 0 && blocked != endpoint.WaitNone:
			return n, err
		case blocked == endpoint.WaitNone:
			continue
		}
		if err := s.await(ctx, blocked, &w); err != nil {
			s.leaveSubmit()
			return n, s.stopped(err, &messages[n], kindOf(blocked))
		}
	}
	return n, nil
}

// stopped makes the error of a wait that was cut short.
func (s *ownSender) stopped(err error, m *amqp.Message, kind amqp.Wait) error {
	m.Wait = kind
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if gone := s.gone("send"); gone != nil {
		return gone
	}
	what := map[amqp.Wait]string{amqp.WaitSocket: "waiting for the socket", amqp.WaitCredit: "waiting for credit", amqp.WaitSession: "waiting for the session window"}
	return &Error{Op: "send", Address: printable(s.typed), Description: what[kind], cause: safeCause(err)}
}

func kindOf(w endpoint.Wait) amqp.Wait {
	if w == endpoint.WaitSession {
		return amqp.WaitSession
	}
	return amqp.WaitCredit
}

// waited is what a Submit has spent on waiting, in ns.
type waited struct{ credit, session, socket int64 }

// longest names what took longest. Less than shortest for the socket is no wait:
// somebody else's write takes microseconds.
func (w *waited) longest() amqp.Wait {
	switch {
	case w.credit > 0 && w.credit >= w.session && w.credit >= w.socket:
		return amqp.WaitCredit
	case w.session > 0 && w.session >= w.socket:
		return amqp.WaitSession
	case w.socket >= shortest:
		return amqp.WaitSocket
	}
	return amqp.WaitNone
}

// turn waits until nobody else writes: until the socket has taken what was
// submitted before.
func (s *ownSender) turn(ctx context.Context, w *waited) error {
	select {
	case <-s.p.turn:
		return nil
	default:
	}
	began := s.p.conn.cfg.Now()
	defer func() { w.socket += s.p.conn.cfg.Now() - began }()
	for {
		select {
		case <-s.p.turn:
			return nil
		case <-s.p.broken:
			return s.p.deadErr()
		case <-s.wake: // maybe the end of the link
			s.p.mu.Lock()
			gone := s.gone("send")
			s.p.mu.Unlock()
			if gone != nil {
				return gone
			}
		case <-ctx.Done():
			s.p.rescue()
			return ctx.Err()
		}
	}
}

// await waits for credit, or for the session's window.
func (s *ownSender) await(ctx context.Context, what endpoint.Wait, w *waited) error {
	began := s.p.conn.cfg.Now()
	kind, spent, noted := amqp.EventCredit0, &w.credit, &s.noted
	if what == endpoint.WaitSession {
		kind, spent, noted = amqp.EventSession0, &w.session, &s.notedSession
	}
	// At most one a second: some brokers grant five at a time.
	if (what == endpoint.WaitSession || s.Credit() == 0) && began-*noted > int64(time.Second) {
		*noted = began
		s.p.conn.cfg.OnEvent(amqp.Event{At: began, Kind: kind, Connection: s.p.conn.index, Link: s.address.Text})
	}
	defer func() { *spent += max(s.p.conn.cfg.Now()-began, 1) }()
	select {
	case <-s.wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// encode encodes as many messages as may be sent and go into one write, and
// writes them. The turn is held, and given up. blocked says why there are not
// more of them.
func (s *ownSender) encode(messages []amqp.Message, w *waited) (k int, blocked endpoint.Wait, err error) {
	p := s.p
	p.mu.Lock()
	s.submitting = true
	if err = s.gone("send"); err == nil {
		k, err = s.append(messages, w.longest())
	}
	if err == nil && k < len(messages) {
		blocked = s.canSend()
	}
	if err != nil || k == len(messages) || k > 0 && blocked != endpoint.WaitNone {
		s.ready()
	}
	if k > 0 && s.cfg.Presettled {
		p.paid = append(p.paid, s)
	}
	out := p.take()
	p.mu.Unlock()
	p.send(out)
	return k, blocked, err
}

// leaveSubmit ends a Submit that did not end in encode.
func (s *ownSender) leaveSubmit() {
	s.p.mu.Lock()
	s.ready()
	output := s.p.ep.HasOutput()
	s.p.mu.Unlock()
	if output {
		s.p.nudge()
	}
}

// ready says that nothing is being submitted: a peer that drains the link gets its
// credit back; plane.mu is held.
func (s *ownSender) ready() {
	s.submitting = false
	if s.ep.Draining() {
		s.ep.Drained()
	}
}

// overhead is more than what is around a body in a frame, in bytes.
const overhead = 96

// append encodes messages; plane.mu and the turn are held. The sent instant is
// that of the start of encoding: nothing is waited for any more.
func (s *ownSender) append(messages []amqp.Message, wait amqp.Wait) (k int, err error) {
	at := s.p.conn.cfg.Now()
	for k < len(messages) && s.canSend() == endpoint.WaitNone {
		m := &messages[k]
		if k > 0 && s.p.ep.Pending()+int(m.Size)+overhead > batchBytes {
			break
		}
		m.Sent, m.Wait = at, wait
		if err = s.one(m); err != nil {
			break
		}
		k++
	}
	return k, err
}

// one encodes a message.
func (s *ownSender) one(m *amqp.Message) error {
	s.body = s.cfg.Body.Append(s.body[:0], m)
	s.buffer = s.before(s.buffer[:0], m, len(s.body))
	if size := uint64(len(s.buffer) + len(s.body)); s.limit > 0 && size > s.limit {
		return &Error{Op: "send", Address: printable(s.typed), Condition: CondTooLarge,
			Description: fmt.Sprintf("a message with a body of %d bytes is above the peer's limit of %d bytes", len(s.body), s.limit)}
	}
	binary.BigEndian.PutUint32(s.tag[:], uint32(s.ids.next))
	s.message = endpoint.Message{Tag: s.tag[:], Settled: s.cfg.Presettled, State: s.txState(), Head: s.buffer, Body: s.body}
	no, err := s.ep.Send(&s.message)
	if err != nil {
		return &Error{Op: "send", Address: printable(s.typed), Description: err.Error()}
	}
	if cap(s.body) > maxSpare {
		s.body = nil
	}
	s.inFlight++
	s.ids.sent(no, m.ID)
	if s.tx != nil {
		s.tx.sent(no, m.ID)
	}
	if s.cfg.Presettled {
		if n := len(s.paid); n > 0 && s.paid[n-1].Last+1 == m.ID {
			s.paid[n-1].Last = m.ID
		} else {
			s.paid = append(s.paid, amqp.Completion{First: m.ID, Last: m.ID, State: amqp.Presettled})
		}
	}
	return nil
}

// numbering maps the numbers of deliveries on the link to the IDs of messages.
// IDs are consecutive, but for those that were not sent after all.
type numbering struct {
	runs []struct {
		no int64
		id uint64
	}
	next int64
}

// sent notes the number of a message.
func (n *numbering) sent(no int64, id uint64) {
	if k := len(n.runs); k == 0 || n.runs[k-1].id+uint64(no-n.runs[k-1].no) != id {
		n.runs = append(n.runs, struct {
			no int64
			id uint64
		}{no, id})
	}
	n.next = no + 1
}

// each calls fn for each run of consecutive IDs of the deliveries first…last.
func (n *numbering) each(first, last int64, fn func(first, last uint64)) {
	for i := len(n.runs) - 1; i >= 0 && first <= last; i-- {
		r := n.runs[i]
		if from := max(first, r.no); from <= last {
			fn(r.id+uint64(from-r.no), r.id+uint64(last-r.no))
			last = from - 1
		}
	}
}
