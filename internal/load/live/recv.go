package live

// Recv is what receivers count. Counters are totals since the start.
type Recv struct {
	Received   int64 `json:"received"` // messages that the run counts
	OtherRun   int64 `json:"other_run"`
	Foreign    int64 `json:"foreign"`   // without a stamp of ours
	Released   int64 `json:"released"`  // arrived after the end and given back
	Discarded  int64 `json:"discarded"` // arrived after the end, settled by the broker: nobody has them
	Redelivery int64 `json:"redelivered"`
	Rows       int64 `json:"rows"`
	Unaligned  int64 `json:"unaligned"` // sender's clock unknown here

	// What was answered, of messages that were begun with.
	Accepted int64 `json:"accepted"`
	Rejected int64 `json:"rejected"`
	Modified int64 `json:"modified"`
	Returned int64 `json:"returned"` // released because --outcome or --tx-rollback says so

	Committed  int64 `json:"committed"`   // transactions
	RolledBack int64 `json:"rolled_back"` // transactions, because --tx-rollback says so
	TxFailed   int64 `json:"tx_failed"`   // transactions that the broker refused or that ended with their link

	Unsettled int64 `json:"-"` // now: begun with, and not answered
	Waiting   int64 `json:"-"` // now: received, and not begun with

	// received − sent and received − intended, of senders whose clock is ours.
	// The same of messages that came during the warm-up stand apart.
	Transfer       Histogram `json:"-"`
	E2E            Histogram `json:"-"`
	WarmupTransfer Histogram `json:"-"`
	WarmupE2E      Histogram `json:"-"`
	// started − received and settled − started after the warm-up, of consumers
	// that are slowed down.
	Queued Histogram `json:"-"`
	Work   Histogram `json:"-"`
	// From before the write of a discharge to the answer.
	Commit Histogram `json:"-"`
}

// Add adds the counters and histograms of o.
func (r *Recv) Add(o *Recv) {
	r.Received += o.Received
	r.OtherRun += o.OtherRun
	r.Foreign += o.Foreign
	r.Released += o.Released
	r.Discarded += o.Discarded
	r.Redelivery += o.Redelivery
	r.Rows += o.Rows
	r.Unaligned += o.Unaligned
	r.Accepted += o.Accepted
	r.Rejected += o.Rejected
	r.Modified += o.Modified
	r.Returned += o.Returned
	r.Committed += o.Committed
	r.RolledBack += o.RolledBack
	r.TxFailed += o.TxFailed
	r.Unsettled += o.Unsettled
	r.Waiting += o.Waiting
	r.Transfer.Merge(&o.Transfer)
	r.E2E.Merge(&o.E2E)
	r.WarmupTransfer.Merge(&o.WarmupTransfer)
	r.WarmupE2E.Merge(&o.WarmupE2E)
	r.Queued.Merge(&o.Queued)
	r.Work.Merge(&o.Work)
	r.Commit.Merge(&o.Commit)
}

// ResetHistograms empties the histograms.
func (r *Recv) ResetHistograms() {
	r.Transfer.Reset()
	r.E2E.Reset()
	r.WarmupTransfer.Reset()
	r.WarmupE2E.Reset()
	r.Queued.Reset()
	r.Work.Reset()
	r.Commit.Reset()
}

// ResetCounters sets everything but the histograms to 0.
func (r *Recv) ResetCounters() {
	*r = Recv{Transfer: r.Transfer, E2E: r.E2E, WarmupTransfer: r.WarmupTransfer, WarmupE2E: r.WarmupE2E, Queued: r.Queued, Work: r.Work, Commit: r.Commit}
}

// Since returns the counters that were added since o, without histograms.
func (r *Recv) Since(o *Recv) Recv {
	return Recv{
		Received: r.Received - o.Received, OtherRun: r.OtherRun - o.OtherRun, Foreign: r.Foreign - o.Foreign, Released: r.Released - o.Released, Discarded: r.Discarded - o.Discarded,
		Redelivery: r.Redelivery - o.Redelivery, Rows: r.Rows - o.Rows, Unaligned: r.Unaligned - o.Unaligned,
		Accepted: r.Accepted - o.Accepted, Rejected: r.Rejected - o.Rejected, Modified: r.Modified - o.Modified, Returned: r.Returned - o.Returned,
		Committed: r.Committed - o.Committed, RolledBack: r.RolledBack - o.RolledBack, TxFailed: r.TxFailed - o.TxFailed,
	}
}
