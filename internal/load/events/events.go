// Package events takes what happens to connections and links to the log of a
// run, also what happens before there is one: everything is connected before
// the log is created, so that a broker that cannot be reached leaves no file.
package events

import (
	"sync"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/recorder"
)

// Log keeps events until it is attached to a recorder and then passes them on.
// It is safe for concurrent use; the zero value is ready.
type Log struct {
	mu    sync.Mutex
	early []recorder.Event
	write func(recorder.Event)
}

// Add takes an event of a connection or link.
func (l *Log) Add(e amqp.Event) { l.Write(Row(e)) }

// Write takes an event in the form of the log.
func (l *Log) Write(e recorder.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.write == nil {
		l.early = append(l.early, e)
		return
	}
	l.write(e)
}

// Attach passes on what was kept, and from now on everything at once.
func (l *Log) Attach(write func(recorder.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write = write
	for _, e := range l.early {
		write(e)
	}
	l.early = nil
}

// Row translates an event; Connection is format.Null32 if it is negative.
func Row(e amqp.Event) recorder.Event {
	r := recorder.Event{
		At: e.At, Kind: string(e.Kind), Connection: e.Connection,
		Link: e.Link, Condition: e.Condition, Text: e.Text,
	}
	if r.Connection < 0 {
		r.Connection = format.Null32
	}
	return r
}
