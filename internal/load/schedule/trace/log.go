package trace

import (
	"errors"
	"fmt"
	"io"

	"amqpperf/format"
)

// fromLog reads the arrivals of a send or merged log and closes it. An arrival
// is what the schedule intended, once: attempts after the first and further rows
// of a transmission in a merged log are not.
func fromLog(l *format.Log) (t *Trace, err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	columns := []string{"sender", "producer", "seq", "attempt", "destination", "size", "intended"}
	var batch format.Batch
	var send *format.Send
	var merged *format.Merged
	switch l.Schema() {
	case format.SendSchema().Name:
		send = &format.Send{}
		batch = send
	case format.MergedSchema().Name:
		merged = &format.Merged{}
		send, batch = &merged.Send, merged
		columns = append(columns, "primary")
	default:
		return nil, fmt.Errorf("%s: is %s: a replay needs a send or merged log, which know what was intended", l.Name(), l.Schema())
	}
	if err := l.Select(columns...); err != nil {
		return nil, err
	}
	c := newCollector(l.Name())
	for {
		err := l.Read(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := c.addBatch(send, merged, l.RowsRead()-int64(batch.Len())); err != nil {
			return nil, err
		}
	}
	t, err = c.finish(l.Schema())
	if err != nil {
		return nil, err
	}
	t.Warnings = l.Warnings()
	return t, nil
}

// addBatch adds the rows of a batch, the first of which is row number base.
func (c *collector) addBatch(b *format.Send, merged *format.Merged, base int64) error {
	codes := make([]int32, len(b.Destination.Values))
	for k, v := range b.Destination.Values {
		var err error
		if codes[k], err = c.code(v); err != nil {
			return err
		}
	}
	for i := range b.Len() {
		if b.Attempt[i] > 0 || (merged != nil && !merged.Primary[i]) {
			c.skipped++
			continue
		}
		if b.Size[i] < 0 {
			return &format.RowError{File: c.name, Row: base + int64(i), Column: "size", Msg: fmt.Sprintf("%d is negative", b.Size[i])}
		}
		r := row{
			at: b.Intended[i], sender: b.Sender[i], producer: b.Producer[i], seq: b.Seq[i], size: b.Size[i], destination: -1,
		}
		if code := b.Destination.Codes[i]; code >= 0 {
			r.destination = codes[code]
		}
		if err := c.add(r); err != nil {
			return err
		}
	}
	return nil
}
