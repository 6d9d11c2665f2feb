package perfbroker

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/units"
)

// tally counts the messages that left the broker. The broker calls add with its
// lock held; print comes after its end.
type tally struct {
	addresses map[string]*counts
	late      int64 // the broker's largest lateness, ns
}

// counts are those of one address.
type counts struct {
	messages    int64
	bytes       int64
	redelivered int64
	outcomes    map[broker.Outcome]int64
}

func newTally() *tally { return &tally{addresses: map[string]*counts{}} }

func (t *tally) add(r *broker.Record) {
	c := t.addresses[r.Address]
	if c == nil {
		c = &counts{outcomes: map[broker.Outcome]int64{}}
		t.addresses[r.Address] = c
	}
	c.messages++
	c.bytes += int64(r.Size)
	c.outcomes[r.Outcome]++
	if r.Deliveries > 1 {
		c.redelivered++
	}
	if r.Departure != 0 {
		t.late = max(t.late, r.Departure-r.Due)
	}
}

// order is how outcomes are listed.
func order() []broker.Outcome {
	return []broker.Outcome{broker.Accepted, broker.Presettled, broker.Rejected, broker.Expired, broker.Dropped, broker.Unsettled, broker.Queued}
}

// print writes the summary. A topic's message counts once for every copy.
func (t *tally) print(w io.Writer, url string, connections int64) {
	var b strings.Builder
	fmt.Fprintf(&b, "SUMMARY perf-broker %s\n  connections  %d\n", url, connections)
	names := make([]string, 0, len(t.addresses))
	for name := range t.addresses {
		names = append(names, name)
	}
	slices.Sort(names)
	const most = 20
	for i, name := range names {
		if i == most {
			fmt.Fprintf(&b, "  … and %d more addresses\n", len(names)-most)
			break
		}
		c := t.addresses[name]
		fmt.Fprintf(&b, "  %s  messages %d  size %s", name, c.messages, units.Size(c.bytes))
		for _, o := range order() {
			if n := c.outcomes[o]; n > 0 {
				fmt.Fprintf(&b, "  %s %d", o, n)
			}
		}
		if c.redelivered > 0 {
			fmt.Fprintf(&b, "  redelivered %d", c.redelivered)
		}
		b.WriteByte('\n')
	}
	if len(names) == 0 {
		b.WriteString("  no messages\n")
	} else {
		fmt.Fprintf(&b, "  own lateness at most %s\n", units.Latency(t.late))
	}
	_, _ = io.WriteString(w, b.String()) // stderr has nobody to tell
}
