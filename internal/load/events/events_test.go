package events_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/events"
	"amqpperf/internal/load/recorder"
)

func TestKeepsWhatCameEarly(t *testing.T) {
	t.Parallel()
	var l events.Log
	var got []recorder.Event
	l.Add(amqp.Event{At: 1, Kind: amqp.EventConnect, Connection: 3, Text: "x"})
	l.Attach(func(e recorder.Event) { got = append(got, e) })
	l.Add(amqp.Event{At: 2, Kind: amqp.EventError, Connection: -1, Link: "l", Condition: "c"})
	want := []recorder.Event{
		{At: 1, Kind: "connect", Connection: 3, Text: "x"},
		{At: 2, Kind: "error", Connection: format.Null32, Link: "l", Condition: "c"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
