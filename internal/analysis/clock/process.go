package clock

import (
	"fmt"
	"strconv"
	"strings"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// Exchange is one probe: it left here at T1, reached the peer at T2, the answer
// left the peer at T3 and came here at T4; ns since the Unix epoch, T1 and T4
// on the clock of the process that probed, T2 and T3 on the peer's.
type Exchange struct {
	Peer           Peer
	T1, T2, T3, T4 int64
}

// valid reports whether the exchange is possible at all: nothing came before
// it left, on either clock, the answer was not held longer than the whole took
// (by more than clocks can drift), no instant is before 1970 or after 2116, and
// no difference overflows.
func (e Exchange) valid() bool {
	for _, t := range []int64{e.T1, e.T2, e.T3, e.T4} {
		if t < 0 || t > 2*far {
			return false
		}
	}
	rtt, ok1 := diff(e.T4, e.T1)
	hold, ok2 := diff(e.T3, e.T2)
	_, ok3 := diff(e.T2, e.T1)
	_, ok4 := diff(e.T3, e.T4)
	return ok1 && ok2 && ok3 && ok4 && rtt >= 0 && hold >= 0 &&
		hold <= rtt+drift(defaultRate, rtt)+readCost
}

// Peer names the process at the other end of an exchange.
type Peer struct {
	ClockID  uint64 // of its host and time namespace, 0 = not told
	Receiver int32  // its id in the receive log, 0 = not told
	// Anchor tells that Offset and Gap are those of its anchor; without, the
	// peer is found by its clock id alone.
	Anchor      bool
	Offset, Gap int64
}

// ParsePeer reads the column peer of clock/1: the clock id in hexadecimal,
// alone or as CLOCKID/RECEIVER/OFFSET/GAP with the peer's receiver id and the
// wall − monotonic and gap of its anchor in ns.
func ParsePeer(text string) (Peer, error) {
	fields := strings.Split(text, "/")
	if len(fields) != 1 && len(fields) != 4 {
		return Peer{}, fmt.Errorf("peer %q is neither CLOCKID nor CLOCKID/RECEIVER/OFFSET/GAP", text)
	}
	id, err := strconv.ParseUint(fields[0], 16, 64)
	if err != nil {
		return Peer{}, fmt.Errorf("peer %q: clock id: %w", text, err)
	}
	p := Peer{ClockID: id}
	if len(fields) == 1 {
		return p, nil
	}
	receiver, err := strconv.ParseInt(fields[1], 10, 32)
	if err != nil || receiver < 0 {
		return Peer{}, fmt.Errorf("peer %q: receiver %q is not a number of 0 to 2147483647", text, fields[1])
	}
	p.Receiver, p.Anchor = int32(receiver), true
	if p.Offset, err = strconv.ParseInt(fields[2], 10, 64); err != nil {
		return Peer{}, fmt.Errorf("peer %q: offset: %w", text, err)
	}
	if p.Gap, err = strconv.ParseInt(fields[3], 10, 64); err != nil || p.Gap < 0 {
		return Peer{}, fmt.Errorf("peer %q: gap %q is not a number of ns", text, fields[3])
	}
	return p, nil
}

// String returns the text that ParsePeer reads.
func (p Peer) String() string {
	if !p.Anchor {
		return fmt.Sprintf("%016x", p.ClockID)
	}
	return fmt.Sprintf("%016x/%d/%d/%d", p.ClockID, p.Receiver, p.Offset, p.Gap)
}

// Process is what one log knows of clocks. The order of Exchanges and States
// does not matter.
type Process struct {
	// Host is the name that --clock HOST=… means.
	Host string
	// Anchor ties its instants to the clocks of its host.
	Anchor    timestamp.Anchor
	Exchanges []Exchange
	States    []State
	// Rejected counts rows of clock/1 that cannot be true: an answer before its
	// question, instants that overflow, an unreadable peer.
	Rejected int
}

// Add takes the rows of a batch of clock/1. Rows that are neither an exchange
// nor a state of the host are of a later version and left alone.
func (p *Process) Add(b *format.ClockRow) {
	for i := range b.Len() {
		if peer, ok := b.Peer.At(i); ok {
			p.addExchange(peer, b, i)
			continue
		}
		if b.WallOffset[i] == format.Null && b.MaxError[i] == format.Null && b.Freq[i] == format.Null {
			continue
		}
		source, _ := b.Source.At(i)
		p.States = append(p.States, State{
			At: b.Instant[i], WallOffset: b.WallOffset[i], Gap: b.Gap[i], MaxError: b.MaxError[i],
			Freq: b.Freq[i], Tick: b.Tick[i], Source: source,
		})
	}
}

func (p *Process) addExchange(peer string, b *format.ClockRow, i int) {
	const null = format.Null
	if b.T1[i] == null || b.T2[i] == null || b.T3[i] == null || b.T4[i] == null {
		return // an unanswered probe, if somebody logs those
	}
	to, err := ParsePeer(peer)
	e := Exchange{Peer: to, T1: b.T1[i], T2: b.T2[i], T3: b.T3[i], T4: b.T4[i]}
	if err != nil || !e.valid() {
		p.Rejected++
		return
	}
	p.Exchanges = append(p.Exchanges, e)
}
