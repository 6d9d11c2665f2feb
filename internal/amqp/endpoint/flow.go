package endpoint

import "amqpperf/internal/amqp/wire"

// oweFlow notes that the link's state must be told to the peer.
func (l *Link) oweFlow() {
	if !l.flowDue {
		l.flowDue = true
		l.s.linkFlow = append(l.s.linkFlow, l)
	}
	l.s.touch()
}

// Tolerate says how many deliveries beyond its credit a receiver takes, counted
// from each Grant; one more detaches the link (amqp:link:transfer-limit-exceeded).
// A broker that forgets what is under way when credit is renewed sends more than
// was granted: RabbitMQ 3.
func (l *Link) Tolerate(n uint32) { l.most = n }

// Grant sets what is left of the credit of a receiver's link to n deliveries.
func (l *Link) Grant(n uint32) {
	l.credit, l.excess = n, 0
	l.oweFlow()
}

// Drain asks the sender to use up the credit at once or to give it back; a
// LinkFlow with credit 0 is the answer. Some brokers never answer, one crashes.
func (l *Link) Drain() {
	l.drain = true
	l.oweFlow()
}

// Drained answers the peer's drain: the credit that is left is given back. The
// owner of a sender calls it after a LinkFlow with Drain, when it has sent what it
// had.
func (l *Link) Drained() {
	if l.role != wire.RoleSender || !l.drain {
		return
	}
	l.count += l.credit
	l.credit = 0
	l.oweFlow()
}

func (l *Link) fillFlow(f *wire.Flow) {
	f.Handle = wire.Some(l.handle)
	// A receiver does not know the delivery-count before the sender's attach.
	f.DeliveryCount = wire.Opt[uint32]{V: l.count, OK: l.role == wire.RoleSender || l.answered}
	f.LinkCredit = wire.Some(l.credit)
	f.Drain = l.drain
	if l.role == wire.RoleSender {
		f.Available = wire.Some(uint32(0))
		if l.credit == 0 {
			l.drain = false // answered
		}
	}
}

func (l *Link) onFlow(f *wire.Flow) {
	if l.role == wire.RoleSender {
		// A null delivery-count means that the receiver has not seen our attach yet.
		if f.LinkCredit.OK {
			limit := f.DeliveryCount.Or(l.initial) + f.LinkCredit.V
			l.credit = uint32(max(0, int32(limit-l.count)))
			if f.LinkCredit.V > 1<<31-1 { // further than serial numbers reach: as much as there is
				l.credit = 1<<31 - 1
			}
		}
		l.drain = f.Drain
	} else {
		if f.DeliveryCount.OK {
			used := f.DeliveryCount.V - l.count
			if int32(used) > 0 { // the sender has skipped some, to answer a drain
				l.credit -= min(l.credit, used)
				l.count = f.DeliveryCount.V
			}
		}
		if l.credit == 0 {
			l.drain = false
		}
	}
	if f.Echo {
		l.oweFlow()
	}
	l.s.c.emit(Event{Kind: LinkFlow, Session: l.s, Link: l, Drain: l.drain && l.role == wire.RoleSender})
}
