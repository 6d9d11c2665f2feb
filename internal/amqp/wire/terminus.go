package wire

// Terminus durability (part 3, section 3.5.5).
const (
	DurableNone          uint32 = 0
	DurableConfiguration uint32 = 1
	DurableUnsettled     uint32 = 2
)

// Source is where the messages of a link come from (part 3, section 3.5.3).
type Source struct {
	Address           Opt[string] // addresses of other types than string are refused
	Durable           uint32
	ExpiryPolicy      Symbol // empty: session-end
	Timeout           uint32 // seconds
	Dynamic           bool
	DynamicProperties Map
	DistributionMode  Symbol
	Filter            Map
	DefaultOutcome    any // an encoded outcome, not interpreted
	Outcomes          []Symbol
	Capabilities      []Symbol
}

// Append appends the encoded source.
func (s *Source) Append(b []byte) []byte {
	w := beginComposite(b, CodeSource)
	w.terminus(s.Address, s.Durable, s.ExpiryPolicy, s.Timeout, s.Dynamic, s.DynamicProperties)
	w.symbol(s.DistributionMode)
	w.mapping(s.Filter)
	w.value(s.DefaultOutcome)
	w.symbols(s.Outcomes)
	w.symbols(s.Capabilities)
	return w.end()
}

func (r *Reader) source() *Source {
	s := new(Source)
	f := r.composite(CodeSource, "source")
	f.terminus(&s.Address, &s.Durable, &s.ExpiryPolicy, &s.Timeout, &s.Dynamic, &s.DynamicProperties)
	s.DistributionMode = f.symbol()
	s.Filter = f.mapping()
	s.DefaultOutcome = f.value()
	s.Outcomes = f.symbols()
	s.Capabilities = f.symbols()
	r.adopt(&f.r)
	return s
}

// Target is where the messages of a link go (part 3, section 3.5.4).
type Target struct {
	Address           Opt[string]
	Durable           uint32
	ExpiryPolicy      Symbol
	Timeout           uint32 // seconds
	Dynamic           bool
	DynamicProperties Map
	Capabilities      []Symbol
}

// Append appends the encoded target.
func (t *Target) Append(b []byte) []byte {
	w := beginComposite(b, CodeTarget)
	w.terminus(t.Address, t.Durable, t.ExpiryPolicy, t.Timeout, t.Dynamic, t.DynamicProperties)
	w.symbols(t.Capabilities)
	return w.end()
}

func (r *Reader) target() *Target {
	t := new(Target)
	f := r.composite(CodeTarget, "target")
	f.terminus(&t.Address, &t.Durable, &t.ExpiryPolicy, &t.Timeout, &t.Dynamic, &t.DynamicProperties)
	t.Capabilities = f.symbols()
	r.adopt(&f.r)
	return t
}

// terminus writes the fields that source and target share.
func (w *listWriter) terminus(addr Opt[string], durable uint32, expiry Symbol, timeout uint32, dynamic bool, props Map) {
	w.optString(addr)
	w.optUint32(Opt[uint32]{durable, durable != 0})
	w.symbol(expiry)
	w.optUint32(Opt[uint32]{timeout, timeout != 0})
	w.trueOnly(dynamic)
	w.mapping(props)
}

func (f *fields) terminus(addr *Opt[string], durable *uint32, expiry *Symbol, timeout *uint32, dynamic *bool, props *Map) {
	*addr = f.optString()
	*durable = f.optUint32().V
	*expiry = f.symbol()
	*timeout = f.optUint32().V
	*dynamic = f.bool()
	*props = f.mapping()
}

// Coordinator is the target of a link to a transaction manager (part 4, section 4.5.1).
type Coordinator struct{ Capabilities []Symbol }

// Append appends the encoded coordinator.
func (c *Coordinator) Append(b []byte) []byte {
	w := beginComposite(b, CodeCoordinator)
	w.symbols(c.Capabilities)
	return w.end()
}

func (r *Reader) coordinator() *Coordinator {
	f := r.composite(CodeCoordinator, "coordinator")
	c := &Coordinator{Capabilities: f.symbols()}
	r.adopt(&f.r)
	return c
}
