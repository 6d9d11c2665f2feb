package join

import (
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
)

// Table fills b, an *format.Event, *format.Sample or *format.ClockRow, with
// that side table of all logs, one log after the other, send logs first. The
// instants "at" are on the reference clock where the log can be aligned with it.
func (j *Joiner) Table(b format.Batch) error {
	switch b := b.(type) {
	case *format.Event:
		return concat(j, b, func() *format.Event { return &format.Event{} }, appendEvents)
	case *format.Sample:
		return concat(j, b, func() *format.Sample { return &format.Sample{} }, appendSamples)
	case *format.ClockRow:
		return concat(j, b, func() *format.ClockRow { return &format.ClockRow{} }, appendClock)
	}
	return fmt.Errorf("%s is no side table", b.Schema().Name)
}

func concat[B format.Batch](j *Joiner, dst B, empty func() B, add func(dst, src B, shift int64)) error {
	for _, in := range j.inputs() {
		src := empty()
		if err := in.log.Table(src); err != nil {
			return err
		}
		add(dst, src, clock.Align(j.clocks.ref, in.anchor).Shift)
	}
	return nil
}

func appendEvents(dst, src *format.Event, shift int64) {
	var link, kind, condition, text remap
	for i := range src.Instant {
		dst.Instant = append(dst.Instant, src.Instant[i]+shift)
		kind.append(&dst.Kind, &src.Kind, i)
		dst.Connection = append(dst.Connection, src.Connection[i])
		link.append(&dst.Link, &src.Link, i)
		condition.append(&dst.Condition, &src.Condition, i)
		text.append(&dst.Text, &src.Text, i)
	}
}

func appendSamples(dst, src *format.Sample, shift int64) {
	var what remap
	for i := range src.Instant {
		dst.Instant = append(dst.Instant, src.Instant[i]+shift)
		what.append(&dst.What, &src.What, i)
		dst.Value = append(dst.Value, src.Value[i])
	}
}

// appendClock leaves the probe instants as they were read: they are about the
// clocks themselves.
func appendClock(dst, src *format.ClockRow, shift int64) {
	var peer, source remap
	for i := range src.Instant {
		dst.Instant = append(dst.Instant, src.Instant[i]+shift)
		peer.append(&dst.Peer, &src.Peer, i)
		source.append(&dst.Source, &src.Source, i)
	}
	for _, c := range []struct{ dst, src *[]int64 }{
		{&dst.T1, &src.T1}, {&dst.T2, &src.T2}, {&dst.T3, &src.T3}, {&dst.T4, &src.T4},
		{&dst.WallOffset, &src.WallOffset}, {&dst.Gap, &src.Gap}, {&dst.Status, &src.Status},
		{&dst.MaxError, &src.MaxError}, {&dst.EstError, &src.EstError}, {&dst.Freq, &src.Freq}, {&dst.Tick, &src.Tick},
	} {
		*c.dst = append(*c.dst, *c.src...)
	}
}
