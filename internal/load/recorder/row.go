package recorder

import "amqpperf/format"

// Row is what a lane can take.
type Row interface{ SendRow | RecvRow }

// SendRow is one row of send/1. Instants are in ns since the Unix epoch; of
// those that can be absent both 0 and format.Null mean NULL. Strings are
// best constants or strings that live as long as the run: they are compared
// and looked up, not copied.
type SendRow struct {
	Producer    int32
	Attempt     int32
	Seq         int64
	Destination string
	Size        int32
	Connection  int32
	Intended    int64
	Ready       int64  // NULL: never handed over
	Sent        int64  // NULL: never sent
	Acked       int64  // NULL: no disposition
	Outcome     string // format.Accepted …
	Wait        string // format.WaitNone …, "" is WaitNone
	Error       string // "" is NULL
}

// RecvRow is one row of recv/1, as SendRow.
type RecvRow struct {
	Run           string // of the stamp
	Sender        int32  // of the stamp
	Producer      int32  // of the stamp
	Attempt       int32  // of the stamp
	Seq           int64  // of the stamp
	Consumer      int32
	Size          int32
	Connection    int32
	DeliveryCount int32
	Destination   string
	Subscription  string // "" is NULL
	Intended      int64  // of the stamp
	Sent          int64  // of the stamp
	BrokerIn      int64  // NULL: no annotation
	Received      int64
	Started       int64  // NULL: never begun
	Settled       int64  // NULL: no disposition written
	Outcome       string // format.Accepted …
}

// columns turns rows into a batch.
type columns[R Row] interface {
	append(rows []R)
	batch() format.Batch
	reset()
}

// column is a string column being filled: the last string is remembered,
// because most rows repeat it.
type column struct {
	index map[string]int32
	last  string
	code  int32
}

func (c *column) add(dst *format.Strings, s string) {
	if s == "" {
		dst.Codes = append(dst.Codes, -1)
		return
	}
	c.required(dst, s)
}

func (c *column) required(dst *format.Strings, s string) {
	if s != c.last || c.index == nil {
		c.lookup(dst, s)
	}
	dst.Codes = append(dst.Codes, c.code)
}

func (c *column) lookup(dst *format.Strings, s string) {
	if c.index == nil {
		c.index = make(map[string]int32)
	}
	code, ok := c.index[s]
	if !ok && len(dst.Values) > format.MaxStrings {
		s = format.OtherString // a log holds no more, so neither does this
		code, ok = c.index[s]
	}
	if !ok {
		code = int32(len(dst.Values)) //nolint:gosec // at most MaxStrings + 2
		dst.Values = append(dst.Values, s)
		c.index[s] = code
	}
	c.last, c.code = s, code
}

func instant(v int64) int64 {
	if v == 0 {
		return format.Null
	}
	return v
}

type sendColumns struct {
	b                                      format.Send
	run                                    string
	sender                                 int32
	runs, destination, outcome, wait, errs column
}

func (c *sendColumns) batch() format.Batch { return &c.b }

func (c *sendColumns) append(rows []SendRow) {
	b := &c.b
	for i := range rows {
		r := &rows[i]
		c.runs.required(&b.Run, c.run)
		b.Sender = append(b.Sender, c.sender)
		b.Producer = append(b.Producer, r.Producer)
		b.Seq = append(b.Seq, r.Seq)
		b.Attempt = append(b.Attempt, r.Attempt)
		c.destination.required(&b.Destination, r.Destination)
		b.Size = append(b.Size, r.Size)
		b.Intended = append(b.Intended, r.Intended)
		b.Ready = append(b.Ready, instant(r.Ready))
		b.Sent = append(b.Sent, instant(r.Sent))
		b.Acked = append(b.Acked, instant(r.Acked))
		c.outcome.required(&b.Outcome, r.Outcome)
		wait := r.Wait
		if wait == "" {
			wait = format.WaitNone
		}
		c.wait.required(&b.Wait, wait)
		c.errs.add(&b.Error, r.Error)
		b.Connection = append(b.Connection, r.Connection)
	}
}

func (c *sendColumns) reset() { reset(&c.b) }

type recvColumns struct {
	b                                        format.Recv
	receiver                                 int32
	run, destination, subscription, outcomes column
}

func (c *recvColumns) batch() format.Batch { return &c.b }

func (c *recvColumns) append(rows []RecvRow) {
	b := &c.b
	for i := range rows {
		r := &rows[i]
		c.run.required(&b.Run, r.Run)
		b.Sender = append(b.Sender, r.Sender)
		b.Producer = append(b.Producer, r.Producer)
		b.Seq = append(b.Seq, r.Seq)
		b.Attempt = append(b.Attempt, r.Attempt)
		b.Receiver = append(b.Receiver, c.receiver)
		b.Consumer = append(b.Consumer, r.Consumer)
		c.destination.required(&b.Destination, r.Destination)
		c.subscription.add(&b.Subscription, r.Subscription)
		b.Size = append(b.Size, r.Size)
		b.Intended = append(b.Intended, r.Intended)
		b.Sent = append(b.Sent, r.Sent)
		b.BrokerIn = append(b.BrokerIn, instant(r.BrokerIn))
		b.Received = append(b.Received, r.Received)
		b.Started = append(b.Started, instant(r.Started))
		b.Settled = append(b.Settled, instant(r.Settled))
		c.outcomes.required(&b.Outcome, r.Outcome)
		b.DeliveryCount = append(b.DeliveryCount, r.DeliveryCount)
		b.Connection = append(b.Connection, r.Connection)
	}
}

func (c *recvColumns) reset() { reset(&c.b) }

// reset empties a batch and keeps its memory and dictionaries.
func reset(b format.Batch) {
	for _, c := range b.Columns() {
		switch s := c.(type) {
		case *[]int32:
			*s = (*s)[:0]
		case *[]int64:
			*s = (*s)[:0]
		case *format.Strings:
			s.Codes = s.Codes[:0]
		}
	}
}
