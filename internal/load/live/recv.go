package live

// Recv is what receivers count. Counters are totals since the start.
type Recv struct {
	Received   int64 `json:"received"` // messages that the run counts
	OtherRun   int64 `json:"other_run"`
	Foreign    int64 `json:"foreign"`  // without a stamp of ours
	Released   int64 `json:"released"` // arrived after the end and given back
	Redelivery int64 `json:"redelivered"`
	Rows       int64 `json:"rows"`
	Unaligned  int64 `json:"unaligned"` // sender's clock unknown here

	Unsettled int64 `json:"-"` // now

	// received − sent and received − intended, of senders whose clock is ours.
	// The same of messages that came during the warm-up stand apart.
	Transfer       Histogram `json:"-"`
	E2E            Histogram `json:"-"`
	WarmupTransfer Histogram `json:"-"`
	WarmupE2E      Histogram `json:"-"`
}

// Add adds the counters and histograms of o.
func (r *Recv) Add(o *Recv) {
	r.Received += o.Received
	r.OtherRun += o.OtherRun
	r.Foreign += o.Foreign
	r.Released += o.Released
	r.Redelivery += o.Redelivery
	r.Rows += o.Rows
	r.Unaligned += o.Unaligned
	r.Unsettled += o.Unsettled
	r.Transfer.Merge(&o.Transfer)
	r.E2E.Merge(&o.E2E)
	r.WarmupTransfer.Merge(&o.WarmupTransfer)
	r.WarmupE2E.Merge(&o.WarmupE2E)
}

// ResetHistograms empties the histograms.
func (r *Recv) ResetHistograms() {
	r.Transfer.Reset()
	r.E2E.Reset()
	r.WarmupTransfer.Reset()
	r.WarmupE2E.Reset()
}

// ResetCounters sets everything but the histograms to 0.
func (r *Recv) ResetCounters() {
	*r = Recv{Transfer: r.Transfer, E2E: r.E2E, WarmupTransfer: r.WarmupTransfer, WarmupE2E: r.WarmupE2E}
}
