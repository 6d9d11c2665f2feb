package format

// Strings is a string column of a batch: codes into a dictionary. Code −1 is
// NULL. The dictionary only grows while a log is read, so a code keeps its
// meaning from batch to batch of one log.
type Strings struct {
	Values []string // the dictionary
	Codes  []int32  // one per row
}

// At returns the value of row i and whether it is not NULL.
func (s *Strings) At(i int) (string, bool) {
	if c := s.Codes[i]; c >= 0 {
		return s.Values[c], true
	}
	return "", false
}

// Batch is a number of rows in columnar form. The pointers that Columns
// returns are *[]int32, *[]int64, *[]bool or *Strings, in the order of Schema; for
// a column that Log.Select left out it may be nil.
// A Batch is not safe for concurrent use; reading into it reuses its memory.
type Batch interface {
	Schema() *Schema
	Columns() []any
	Len() int
}

// Identity is the key of a transmission, one entry per row.
type Identity struct {
	Run      Strings
	Sender   []int32
	Producer []int32
	Seq      []int64
	Attempt  []int32
}

// Len returns the number of rows.
func (b *Identity) Len() int { return len(b.Seq) }

func (b *Identity) columns() []any {
	return []any{&b.Run, &b.Sender, &b.Producer, &b.Seq, &b.Attempt}
}

// Send is a batch of send/1.
type Send struct {
	Identity
	Destination Strings
	Size        []int32
	Intended    []int64
	Ready       []int64
	Sent        []int64
	Acked       []int64
	Outcome     Strings
	Wait        Strings
	Error       Strings
	Connection  []int32
}

// Schema returns send/1.
func (b *Send) Schema() *Schema { return SendSchema() }

// Columns implements Batch.
func (b *Send) Columns() []any {
	return append(b.columns(), &b.Destination, &b.Size, &b.Intended, &b.Ready, &b.Sent, &b.Acked,
		&b.Outcome, &b.Wait, &b.Error, &b.Connection)
}

// Recv is a batch of recv/1.
type Recv struct {
	Identity
	Receiver      []int32
	Consumer      []int32
	Destination   Strings
	Subscription  Strings
	Size          []int32
	Intended      []int64
	Sent          []int64
	BrokerIn      []int64
	Received      []int64
	Started       []int64
	Settled       []int64
	Outcome       Strings
	DeliveryCount []int32
	Connection    []int32
}

// Schema returns recv/1.
func (b *Recv) Schema() *Schema { return RecvSchema() }

// Columns implements Batch.
func (b *Recv) Columns() []any {
	return append(b.columns(), &b.Receiver, &b.Consumer, &b.Destination, &b.Subscription, &b.Size,
		&b.Intended, &b.Sent, &b.BrokerIn, &b.Received, &b.Started, &b.Settled, &b.Outcome,
		&b.DeliveryCount, &b.Connection)
}

// Merged is a batch of merged/1.
type Merged struct {
	Send
	Source         Strings
	Receiver       []int32
	Consumer       []int32
	Subscription   Strings
	BrokerIn       []int64
	Received       []int64
	Started        []int64
	Settled        []int64
	RecvOutcome    Strings
	DeliveryCount  []int32
	RecvConnection []int32
	Copy           []int32
	Primary        []bool
	Reordered      []bool
	Bound          []int64
}

// Schema returns merged/1.
func (b *Merged) Schema() *Schema { return MergedSchema() }

// Columns implements Batch.
func (b *Merged) Columns() []any {
	return append(b.Send.Columns(), &b.Source, &b.Receiver, &b.Consumer, &b.Subscription, &b.BrokerIn,
		&b.Received, &b.Started, &b.Settled, &b.RecvOutcome, &b.DeliveryCount, &b.RecvConnection,
		&b.Copy, &b.Primary, &b.Reordered, &b.Bound)
}

// Event is a batch of event/1.
type Event struct {
	Instant    []int64
	Kind       Strings
	Connection []int32
	Link       Strings
	Condition  Strings
	Text       Strings
}

// Schema returns event/1.
func (b *Event) Schema() *Schema { return EventSchema() }

// Len returns the number of rows.
func (b *Event) Len() int { return len(b.Instant) }

// Columns implements Batch.
func (b *Event) Columns() []any {
	return []any{&b.Instant, &b.Kind, &b.Connection, &b.Link, &b.Condition, &b.Text}
}

// Sample is a batch of sample/1.
type Sample struct {
	Instant []int64
	What    Strings
	Value   []int64
}

// Schema returns sample/1.
func (b *Sample) Schema() *Schema { return SampleSchema() }

// Len returns the number of rows.
func (b *Sample) Len() int { return len(b.Instant) }

// Columns implements Batch.
func (b *Sample) Columns() []any { return []any{&b.Instant, &b.What, &b.Value} }

// ClockRow is a batch of clock/1.
type ClockRow struct {
	Instant    []int64
	Peer       Strings
	T1         []int64
	T2         []int64
	T3         []int64
	T4         []int64
	WallOffset []int64
	Gap        []int64
	Status     []int64
	MaxError   []int64
	EstError   []int64
	Freq       []int64
	Tick       []int64
	Source     Strings
}

// Schema returns clock/1.
func (b *ClockRow) Schema() *Schema { return ClockSchema() }

// Len returns the number of rows.
func (b *ClockRow) Len() int { return len(b.Instant) }

// Columns implements Batch.
func (b *ClockRow) Columns() []any {
	return []any{&b.Instant, &b.Peer, &b.T1, &b.T2, &b.T3, &b.T4, &b.WallOffset, &b.Gap, &b.Status,
		&b.MaxError, &b.EstError, &b.Freq, &b.Tick, &b.Source}
}
