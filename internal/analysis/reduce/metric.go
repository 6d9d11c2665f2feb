package reduce

// Metric is one of the spans of a message's way.
type Metric int

// The metrics, in the order of a report.
const (
	Lag      Metric = iota // ready − intended
	Blocked                // sent − ready
	Service                // acked − sent
	Response               // acked − intended
	Transit                // received − sent
	E2E                    // received − intended
	Queued                 // started − received
	Work                   // settled − started
	Handled                // started − intended
	numMetrics
)

func metricNames() [numMetrics]string {
	return [numMetrics]string{"lag", "blocked", "service", "response", "transit", "e2e", "queued", "work", "handled"}
}

// String returns the metric's word.
func (m Metric) String() string { return metricNames()[m] }

// Metrics returns all metrics in the order of a report.
func Metrics() []Metric {
	ms := make([]Metric, numMetrics)
	for i := range ms {
		ms[i] = Metric(i)
	}
	return ms
}

// OneWay reports whether the metric is the difference of two processes' clocks.
func (m Metric) OneWay() bool { return m == Transit || m == E2E || m == Handled }

// Outcome is the outcome of a transmission, in the order of a report.
type Outcome int

// The outcomes of send/1, those that a merged log adds, and those of others.
const (
	Accepted Outcome = iota
	Rejected
	Released
	Modified
	Presettled
	Unsettled
	Failed
	Unsent
	Unlogged // arrived, but no send log knows it
	Strange  // not in the list of format.md
	numOutcomes
)

func outcomeNames() [numOutcomes]string {
	return [numOutcomes]string{"accepted", "rejected", "released", "modified", "presettled", "unsettled", "failed", "unsent", "unlogged", "other"}
}

// String returns the outcome as it stands in a log.
func (o Outcome) String() string { return outcomeNames()[o] }

// Outcomes returns how many outcomes there are.
func Outcomes() int { return int(numOutcomes) }

// negative reports a disposition that is an answer, but not a yes.
func (o Outcome) negative() bool { return o == Rejected || o == Released || o == Modified }

// unanswered reports that the message left and no disposition came.
func (o Outcome) unanswered() bool { return o == Unsettled || o == Failed }

// Wait is what a message waited for before it was written.
type Wait int

// The causes of waiting, in the order of a report.
const (
	WaitNone Wait = iota
	WaitWindow
	WaitCredit
	WaitSession
	WaitSocket
	WaitConnection
	numWaits
)

func waitNames() [numWaits]string {
	return [numWaits]string{"none", "window", "credit", "session", "socket", "connection"}
}

// String returns the cause as it stands in a log.
func (w Wait) String() string { return waitNames()[w] }

// Waits returns all causes in the order of a report.
func Waits() []Wait {
	ws := make([]Wait, numWaits)
	for i := range ws {
		ws[i] = Wait(i)
	}
	return ws
}

// instants are the columns whose difference a metric is, of a chunk's rows.
func (v *view) instants(m Metric, c chunk) (to, from []int64) {
	switch m {
	case Lag:
		to, from = v.Ready, v.Intended
	case Blocked:
		to, from = v.Sent, v.Ready
	case Service:
		to, from = v.Acked, v.Sent
	case Response:
		to, from = v.Acked, v.Intended
	case Transit:
		to, from = v.Received, v.Sent
	case E2E:
		to, from = v.Received, v.Intended
	case Queued:
		to, from = v.Started, v.Received
	case Work:
		to, from = v.Settled, v.Started
	default:
		to, from = v.Started, v.Intended
	}
	return to[c.from:c.to], from[c.from:c.to]
}
