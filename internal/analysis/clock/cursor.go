package clock

// Cursor is a Model for many instants that are roughly in order, such as the
// rows of a log: it remembers between which two exchanges it is, and is several
// times as fast while it stays there. Its bound is at most 3 ns larger than the
// Model's, never smaller, and depends on the instant alone, not on what was
// asked before. A Cursor is not safe for concurrent use.
type Cursor struct {
	m         *Model
	fit       *fit // nil unless the model is a single one
	from, to  int64
	est       int64
	slope     float64
	rho       float64
	up, low   int64 // envelope at from
	up2, low2 int64 // and at to
}

// Cursor returns a new cursor.
func (m *Model) Cursor() *Cursor {
	c := &Cursor{m: m}
	if len(m.hops) == 1 && m.source != Unknown {
		c.fit = m.hops[0].fit
	}
	return c
}

// At is that of the Model.
func (c *Cursor) At(t int64) (offset, bound int64, source Source) {
	if (t < c.from || t >= c.to) && (c.fit == nil || !c.move(t)) {
		return c.m.At(t)
	}
	// Floats: cheaper than exact products, and made safe by rounding up.
	d := float64(t - c.from)
	before, after := int64(c.rho*d)+2, int64(c.rho*float64(c.to-t))+2
	est := c.est + int64(c.slope*d)
	up, low := min(c.up+before, c.up2+after), max(c.low-before, c.low2-after)
	est = max(min(est, up), min(low, up))
	return est, max(up-est, est-low, 0) + readCost, Probes
}

// move goes to the stretch between two exchanges that t is in; false if there
// is none, or one with a step or without limits on both sides.
func (c *Cursor) move(t int64) bool {
	const longest = 1 << 45 // ns; beyond it floats are not exact enough
	i := c.fit.find(t)
	if i < 0 || i+1 >= len(c.fit.knots) {
		return false
	}
	k, n := &c.fit.knots[i], &c.fit.knots[i+1]
	if k.step || n.t-k.t > longest || k.up-k.low > far/4 || n.up-n.low > far/4 {
		return false
	}
	c.from, c.to, c.est, c.slope, c.rho = k.t, n.t, k.est, k.slope, float64(k.rho)/ppb
	c.up, c.low, c.up2, c.low2 = k.up, k.low, n.up, n.low
	return true
}
