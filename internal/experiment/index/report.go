package index

import (
	"encoding/json"
	"fmt"
	"os"

	"amqpperf/internal/units"
)

// report is what the index needs of a report/1 of perf-report; see its documentation.
type report struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	Loop   string `json:"loop"`
	Counts struct {
		Intended, Sent, Accepted, Unsent, Received, Lost, Unknown, Presettled int64
	} `json:"counts"`
	Rates struct {
		Offered  *float64 `json:"offered_per_s"`
		Sent     *float64 `json:"sent_per_s"`
		Acked    *float64 `json:"acked_per_s"`
		Received *float64 `json:"received_per_s"`
		Clients  []struct {
			Name string   `json:"name"`
			PerS *float64 `json:"per_s"`
		} `json:"clients"`
	} `json:"rates"`
	Metrics map[string]struct {
		Quantiles map[string]quantile `json:"quantiles"`
	} `json:"metrics"`
	Limits   []limit          `json:"limits"`
	Overload *json.RawMessage `json:"overload"`
	Checks   []struct {
		ID     string   `json:"id"`
		Status string   `json:"status"`
		Value  *float64 `json:"value"`
	} `json:"checks"`
	Findings []string `json:"findings"`
	Config   struct {
		Product string   `json:"peer_product"`
		Version string   `json:"peer_version"`
		Watch   []string `json:"watch"`
	} `json:"config"`
}

// limit is what held a side.
type limit struct {
	Side     string   `json:"side"` // sending or receiving
	Held     string   `json:"held"`
	Messages *float64 `json:"messages"`
	Bytes    *float64 `json:"bytes"`
}

type quantile struct {
	Value    *int64 `json:"value_ns"`
	Observed *int64 `json:"observed_ns"`
	Status   string `json:"status"`
}

// readReport reads report.json of a run; nil without an error if there is none.
func readReport(file string) (*report, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, nil //nolint:nilnil // a run without a report is not an error
	}
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if r.Schema != "report/1" {
		return nil, fmt.Errorf("%s: schema %q, not report/1", file, r.Schema)
	}
	return &r, nil
}

// latency prints a quantile as perf-report does: what must not be relied on in parentheses.
func (r *report) latency(metric, p string) string {
	q, ok := r.Metrics[metric].Quantiles[p]
	switch {
	case !ok || q.Value == nil && q.Observed == nil && q.Status != "infinite":
		return ""
	case q.Status == "infinite":
		return "∞"
	case q.Value == nil:
		return "(" + units.Latency(*q.Observed) + ")"
	case q.Status == "nonstationary":
		return units.Latency(*q.Value) + " *"
	}
	return units.Latency(*q.Value)
}

func rate(v *float64) string {
	switch {
	case v == nil:
		return ""
	case *v < 100:
		return fmt.Sprintf("%.3g", *v)
	}
	return units.Thousands(int64(*v + 0.5))
}

// Left reports whether the run of report.json left messages that were not received, or nobody knows.
func Left(file string) bool {
	r, err := readReport(file)
	return err != nil || r == nil || r.Counts.Lost > 0 || r.Counts.Unknown > 0
}

// Overloaded reports whether the run of report.json was one whose rate was not
// reached or not kept up with: such a run has not held its rate, whatever its gate.
func Overloaded(file string) (bool, error) {
	r, err := readReport(file)
	if err != nil || r == nil {
		return true, err
	}
	return r.overloaded(), nil
}

// mostLost is the share of the messages that the broker took above which those that
// never came are a sign that the receiver did not keep up, and not losses.
const mostLost = 0.01

// mostBehind is the share of what went in over the last half of a run that must have come out, too. Less is no matter of
// how it grew: a report tells an overload from a broker that answers nothing, but neither has held the rate.
const mostBehind = 0.5

func (r *report) overloaded() bool {
	for _, c := range r.Checks {
		if c.ID == "C2" && c.Status == "fail" || c.ID == "C7" && c.Value != nil && *c.Value > mostBehind {
			return true
		}
	}
	late := float64(r.Counts.Lost) > mostLost*float64(r.Counts.Accepted+r.Counts.Presettled)
	return r.Overload != nil || r.Counts.Unsent > 0 || late
}
