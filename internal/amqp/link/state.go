package link

import (
	"slices"
	"sync"

	"amqpperf/internal/amqp/wire"
)

// linkState is what the watcher knows of one link.
type linkState struct {
	mu           sync.Mutex
	limit        uint32 // delivery-count up to which the peer lets us send (serial number)
	address      string // of the peer's terminus in its attach, "" if it gave none
	capabilities []string
	source       *wire.Source // of the peer's attach; nil: none, or none yet

	changed chan struct{} // a token when limit has changed
	gone    chan struct{} // closed when the peer ended the link
	how     string        // set before gone is closed
	cause   *wire.Error   // the same; nil: no error given
	ended   bool
}

func newLinkState() *linkState {
	return &linkState{changed: make(chan struct{}, 1), gone: make(chan struct{})}
}

// attached takes the peer's terminus from its attach.
func (l *linkState) attached(a *wire.Attach) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var symbols []wire.Symbol
	switch {
	case a.Role == wire.RoleReceiver && a.Target != nil:
		l.address, symbols = a.Target.Address.Or(""), a.Target.Capabilities
	case a.Role == wire.RoleSender && a.Source != nil:
		l.source = a.Source
		l.address, symbols = a.Source.Address.Or(""), a.Source.Capabilities
	}
	for _, s := range symbols {
		l.capabilities = append(l.capabilities, string(s))
	}
}

// terminus returns the peer's address and capabilities.
func (l *linkState) terminus() (string, []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.address, slices.Clone(l.capabilities)
}

// peerSource returns the source in the peer's attach; nil if it gave none.
func (l *linkState) peerSource() *wire.Source {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source
}

// grant sets the limit.
func (l *linkState) grant(limit uint32) {
	l.mu.Lock()
	l.limit = limit
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default: // a token is there
	}
}

// credit returns how many messages may be sent after sent of them (RFC 1982 arithmetic).
func (l *linkState) credit(sent uint32) int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int32(l.limit - sent)
}

// end marks the link as ended by the peer; the first call counts.
func (l *linkState) end(how string, cause *wire.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended, l.how, l.cause = true, how, cause
	close(l.gone)
}

// isGone reports whether the peer ended the link.
func (l *linkState) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}
