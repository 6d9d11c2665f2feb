package broker

// A browser is a consumer that gets a copy of each message that is ready when it has
// credit, once each, in the order in which they arrived; nothing it answers matters.
// Messages that others take before it could look are not seen.

// browsed hands a browser what it has not seen.
func (c *consumer) browsed(now int64) {
	s := c.st
	for i := 0; i < s.ready.n; i++ {
		m := s.ready.at(i)
		if m.rec.Seq < c.seen || m.expires != 0 && now >= m.expires {
			continue
		}
		if !c.can(m) {
			return
		}
		copied := m.copyFor()
		c.seen = m.rec.Seq + 1
		c.deliver(copied, now)
	}
}
