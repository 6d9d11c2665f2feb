package join

import (
	"errors"
	"io"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// Live passes the rows of a receive log on as merged rows while it is being
// written: every delivery is an unlogged message, known from its stamp alone,
// and a copy 0, since duplicates are only found when all is there. The
// senders' clocks must stand in the metadata in front of the rows; a sender
// that is not among them has an unknown clock offset.
func Live(log *format.Log, emit func(*format.Merged) error) error {
	in := &input{log: log}
	if err := in.readAnchor(); err != nil {
		return err
	}
	senders, err := log.Meta().Senders()
	if err != nil {
		return err
	}
	c := clocks{ref: in.anchor}
	c.stamps = []map[int32]timestamp.Anchor{{}}
	for _, s := range senders {
		c.stamps[0][s.Sender] = s.Clock
	}
	var out output
	var merged format.Merged
	var b format.Recv
	for {
		err := log.Read(&b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		out.reset(&merged)
		a := &arrivals{rows: b, late: make([]bool, b.Len())}
		for i := range b.Seq {
			run, _ := b.Run.At(i)
			shift, pair := c.stamped(0, b.Sender[i], in.anchor)
			out.unlogged(run, a, int32(i), shift, pair, true)
			out.arrival(a, int32(i), 0)
		}
		out.finish(&merged)
		if err := emit(&merged); err != nil {
			return err
		}
	}
}
