package live

// Send is what senders count. Counters are totals since the start.
type Send struct {
	Rows      int64 `json:"rows"`
	Sent      int64 `json:"sent"`
	Blocked   int64 `json:"blocked"`   // had to wait for window, credit, session or socket
	Completed int64 `json:"completed"` // answered, whatever the answer

	Accepted   int64 `json:"accepted"`
	Rejected   int64 `json:"rejected"`
	Released   int64 `json:"released"`
	Modified   int64 `json:"modified"`
	Presettled int64 `json:"presettled"`
	Unsettled  int64 `json:"unsettled"`
	Failed     int64 `json:"failed"`
	Unsent     int64 `json:"unsent"`
	Stray      int64 `json:"stray_answers"` // answers to messages that had one, or never were
	Resent     int64 `json:"resent"`        // of Sent: messages sent again after they had failed
	Committed  int64 `json:"committed"`     // transactions
	RolledBack int64 `json:"rolled_back"`   // transactions

	Outstanding int64 `json:"-"` // now: without an answer
	Due         int64 `json:"-"` // now: intended and not sent

	// sent − intended and acked − sent, of messages intended after the warm-up
	// and during it.
	Delay       Histogram `json:"-"`
	Ack         Histogram `json:"-"`
	WarmupDelay Histogram `json:"-"`
	WarmupAck   Histogram `json:"-"`
	// Commit is how long transactions took to end: from the write of the discharge to
	// its answer.
	Commit Histogram `json:"-"`
}

// Add adds the counters and histograms of o.
func (s *Send) Add(o *Send) {
	s.Rows += o.Rows
	s.Sent += o.Sent
	s.Blocked += o.Blocked
	s.Completed += o.Completed
	s.Accepted += o.Accepted
	s.Rejected += o.Rejected
	s.Released += o.Released
	s.Modified += o.Modified
	s.Presettled += o.Presettled
	s.Unsettled += o.Unsettled
	s.Failed += o.Failed
	s.Unsent += o.Unsent
	s.Stray += o.Stray
	s.Resent += o.Resent
	s.Committed += o.Committed
	s.RolledBack += o.RolledBack
	s.Outstanding += o.Outstanding
	s.Due += o.Due
	s.Delay.Merge(&o.Delay)
	s.Ack.Merge(&o.Ack)
	s.WarmupDelay.Merge(&o.WarmupDelay)
	s.WarmupAck.Merge(&o.WarmupAck)
	s.Commit.Merge(&o.Commit)
}

// ResetHistograms empties the histograms.
func (s *Send) ResetHistograms() {
	s.Delay.Reset()
	s.Ack.Reset()
	s.WarmupDelay.Reset()
	s.WarmupAck.Reset()
	s.Commit.Reset()
}

// ResetCounters sets everything but the histograms to 0.
func (s *Send) ResetCounters() {
	*s = Send{Delay: s.Delay, Ack: s.Ack, WarmupDelay: s.WarmupDelay, WarmupAck: s.WarmupAck, Commit: s.Commit}
}

// Since returns the counters that were added since o, without histograms.
func (s *Send) Since(o *Send) Send {
	return Send{
		Rows: s.Rows - o.Rows, Sent: s.Sent - o.Sent, Blocked: s.Blocked - o.Blocked, Completed: s.Completed - o.Completed,
		Accepted: s.Accepted - o.Accepted, Rejected: s.Rejected - o.Rejected, Released: s.Released - o.Released, Modified: s.Modified - o.Modified,
		Presettled: s.Presettled - o.Presettled, Unsettled: s.Unsettled - o.Unsettled, Failed: s.Failed - o.Failed, Unsent: s.Unsent - o.Unsent,
		Stray: s.Stray - o.Stray, Resent: s.Resent - o.Resent, Committed: s.Committed - o.Committed, RolledBack: s.RolledBack - o.RolledBack,
	}
}
