package perfsend

import (
	"fmt"
	"io"
	"strings"
	"time"

	"amqpperf/internal/load/schedule"
	"amqpperf/internal/load/schedule/text"
	"amqpperf/internal/units"
)

const (
	previewRows = 30 // of the table of counts
	firstRows   = 10 // messages shown one by one
)

// dryRun prints what the schedule intends.
func (r *run) dryRun(w io.Writer) error {
	p := r.planned
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", text.Describe(*p.spec), p.spec.Hash())
	fmt.Fprintf(&b, "%s\n", r.spread())
	if p.trace != nil {
		fmt.Fprintf(&b, "%s: %s, %s rows", p.trace.Name, p.trace.Kind, units.Thousands(int64(len(p.trace.Rows.Offsets))))
		if p.trace.Skipped > 0 {
			fmt.Fprintf(&b, ", without %s that are no arrivals of their own", units.Thousands(p.trace.Skipped))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	if len(p.spec.Segments) > 0 {
		segments(&b, p.spec)
	}
	if err := text.WritePreview(&b, schedule.NewPreview(p.whole, previewRows)); err != nil {
		return err
	}
	b.WriteString("\n")
	r.firstMessages(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// spread says how many producers there are, and where they send.
func (r *run) spread() string {
	text := fmt.Sprintf("%d producers", r.producers)
	if r.producers == 1 {
		text = "1 producer"
	}
	if n := len(r.addresses); n > 3 {
		return fmt.Sprintf("%s for %d addresses, %s to %s", text, n, r.addresses[0], r.addresses[n-1])
	}
	return text + " for " + strings.Join(r.addresses, " ")
}

// segments prints the segments of one cycle, and how many messages a constant rate
// has in each.
func segments(b *strings.Builder, spec *schedule.Spec) {
	constant := spec.Kind == schedule.KindShape
	shape, err := schedule.NewShape(spec.Segments, 1)
	if err != nil {
		return // Build has taken them: there is none
	}
	fmt.Fprintf(b, "%12s %12s  %-24s", "from", "to", "rate:length")
	if constant {
		fmt.Fprintf(b, "%12s", "messages")
	}
	b.WriteString("\n")
	at := int64(0)
	for _, g := range spec.Segments {
		end := at + g.Length
		line := fmt.Sprintf("%12v %12v  %-24s", time.Duration(at), time.Duration(end), text.Shape([]schedule.Segment{g}))
		if constant {
			line += fmt.Sprintf("%12s", units.Thousands(shape.Within(end)-shape.Within(at)))
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		at = end
	}
	b.WriteString("\n")
}

// firstMessages prints the first messages of all producers, in the order of the
// schedule.
func (r *run) firstMessages(b *strings.Builder) {
	fmt.Fprintf(b, "%12s %9s %12s %8s  %s\n", "offset", "producer", "seq", "size", "destination")
	next := make([]int64, r.producers)
	for range firstRows {
		// The earliest; of one instant, as the pacer hands them over.
		best := -1
		for k, s := range r.schedules {
			if next[k] < s.N() && (best < 0 || s.At(next[k]) < r.schedules[best].At(next[best])) {
				best = k
			}
		}
		if best < 0 {
			return
		}
		seq := next[best]
		fmt.Fprintf(b, "%12v %9d %12d %8d  %s\n", time.Duration(r.schedules[best].At(seq)), best, seq, r.sizeOf(best, seq), r.address(best))
		next[best]++
	}
}
