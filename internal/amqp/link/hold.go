package link

// Start grants the first credit of a link that was attached with Hold: a
// consumer that comes late, while messages pile up in the broker. It is called
// once, before Stop, and does nothing without Hold.
func (r *Receiver) Start() { r.is.Start() }

// Start implements receiving.
func (r *ownReceiver) Start() {
	if !r.cfg.Hold {
		return
	}
	r.p.mu.Lock()
	r.stopped = false
	r.renew()
	r.p.mu.Unlock()
	r.p.flushSoon()
}

// Start implements receiving.
func (r *libraryReceiver) Start() {
	if !r.cfg.Hold {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = false
	r.renew()
}
