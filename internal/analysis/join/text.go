package join

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/units"
)

// WriteText writes the accounting as a table for people.
func (acc *Accounting) WriteText(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells ...any) {
		for _, c := range cells {
			fmt.Fprintf(t, "%v\t", c)
		}
		fmt.Fprintln(t)
	}
	row("intended", "sent", "acked", "accepted", "rejected", "released", "modified", "presettled", "unsettled", "failed", "unsent")
	row(acc.Intended, acc.Sent, acc.Acked, acc.Accepted, acc.Rejected, acc.Released, acc.Modified, acc.Presettled, acc.Unsettled, acc.Failed, acc.Unsent)
	if err := t.Flush(); err != nil {
		return err
	}
	row("received", "lost", "unknown", "duplicate", "reordered", "redelivered", "foreign", "other runs", "unlogged")
	row(acc.Received, acc.Lost, acc.Unknown, acc.Duplicate, acc.Reordered, acc.Redelivered, acc.Foreign, acc.OtherRuns.Received, acc.Unlogged)
	if err := t.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	acc.subscriptionText(&b)
	fmt.Fprintf(&b, "clock: %s\n", acc.clockText())
	if acc.Merge.Status == clock.Fail {
		fmt.Fprintf(&b, "%s FAIL: %s\n", acc.Merge.ID, printable(acc.Merge.Text))
	}
	for _, n := range acc.Notes {
		fmt.Fprintf(&b, "note: %s\n", printable(n))
	}
	if acc.Clock.Evidence != nil {
		for _, text := range acc.Clock.Evidence.Warnings {
			fmt.Fprintf(&b, "clocks: %s\n", printable(text))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteClocks writes what the alignment of the clocks rests on, and its checks.
func (acc *Accounting) WriteClocks(w io.Writer) error {
	var b strings.Builder
	acc.Clock.table(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (acc *Accounting) subscriptionText(b *strings.Builder) {
	for _, s := range acc.Subscriptions {
		name := printable(s.Source)
		if s.Subscription != nil {
			name += " (" + printable(*s.Subscription) + ")"
		}
		fmt.Fprintf(b, "%s: received %d, lost %d", name, s.Received, s.Lost)
		if s.Reordered > 0 {
			fmt.Fprintf(b, ", reordered %d (by at most %d messages, %s late)", s.Reordered, s.Distance, units.Latency(s.LateNS))
		}
		b.WriteByte('\n')
	}
}

func (acc *Accounting) clockText() string {
	c := acc.Clock
	switch {
	case c.BoundNS != nil:
		return fmt.Sprintf("%s, one-way times within %s", c.Source, units.Latency(*c.BoundNS))
	case c.MinTransitNS != nil:
		return fmt.Sprintf("offset unknown, one-way times are withheld; received - sent is at least %s, so the receiver's clock is ahead by at most that",
			units.Latency(*c.MinTransitNS))
	}
	return "nothing to compare"
}

// printable keeps text from files and peers from reaching a terminal as
// control sequences.
func printable(s string) string {
	quoted := fmt.Sprintf("%q", s)
	if quoted == `"`+s+`"` {
		return s
	}
	return quoted
}
