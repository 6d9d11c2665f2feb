package brokertest

import (
	"errors"
	"io"
	"strings"

	"amqpperf/format"
)

// message is what a log says of one transmission.
type message struct {
	key                   [4]int64 // sender, producer, seq, attempt
	outcome, wait, reason string
	intended, ready       int64
	sent, acked           int64
}

// sent reads a send log, finished or not; what is not there yet is nothing.
func (b *bench) sent(log string) (rows []message) {
	l, err := format.Open(b.path(log))
	if err != nil {
		return nil
	}
	defer func() { _ = l.Close() }()
	for m := (&format.Send{}); l.Read(m) == nil; {
		for i := range m.Seq {
			r := message{key: keyOf(&m.Identity, i), intended: m.Intended[i], ready: m.Ready[i], sent: m.Sent[i], acked: m.Acked[i]}
			r.outcome, _ = m.Outcome.At(i)
			r.wait, _ = m.Wait.At(i)
			r.reason, _ = m.Error.At(i)
			rows = append(rows, r)
		}
	}
	return rows
}

func keyOf(id *format.Identity, i int) [4]int64 {
	return [4]int64{int64(id.Sender[i]), int64(id.Producer[i]), id.Seq[i], int64(id.Attempt[i])}
}

// arrived is the set of the transmissions in a receive log, finished or not.
func (b *bench) arrived(log string) map[[4]int64]bool {
	all := map[[4]int64]bool{}
	l, err := format.Open(b.path(log))
	if err != nil {
		return all
	}
	defer func() { _ = l.Close() }()
	for m := (&format.Recv{}); l.Read(m) == nil; {
		for i := range m.Seq {
			all[keyOf(&m.Identity, i)] = true
		}
	}
	return all
}

// missing is what was accepted and has not arrived.
func (b *bench) missing(send, recv string) (n int) {
	all := b.arrived(recv)
	for _, r := range b.sent(send) {
		if r.outcome == format.Accepted && !all[r.key] {
			n++
		}
	}
	return n
}

// event is one of a log's, as text.
type event struct{ kind, condition, text string }

// events reads a log's events, so far.
func (b *bench) events(log string) (all []event) {
	l, err := format.Open(b.path(log))
	if err != nil {
		return nil
	}
	defer func() { _ = l.Close() }()
	var t format.Event
	if err := l.Table(&t); err != nil && !errors.Is(err, io.EOF) {
		return nil // not yet
	}
	for i := range t.Len() {
		var e event
		e.kind, _ = t.Kind.At(i)
		e.condition, _ = t.Condition.At(i)
		e.text, _ = t.Text.At(i)
		all = append(all, e)
	}
	return all
}

// has reports whether a log has an event of one of these kinds.
func (b *bench) has(log string, kinds ...string) bool {
	for _, e := range b.events(log) {
		for _, k := range kinds {
			if e.kind == k {
				return true
			}
		}
	}
	return false
}

// wantAll checks a send log after outages with --resend: each message of the schedule is there, its attempts in order, the last
// one accepted and none before it. It returns how many messages there are.
func (b *bench) wantAll(log string) int {
	b.Helper()
	last := map[int64]message{}
	highest := int64(-1)
	failed := 0
	for _, r := range b.sent(log) {
		seq, attempt := r.key[2], r.key[3]
		before, again := last[seq]
		if again != (attempt > 0) || again && attempt != before.key[3]+1 {
			b.Errorf("message %d: attempt %d after %+v", seq, attempt, before)
		}
		if again && before.outcome != format.Failed {
			b.Errorf("message %d was sent again after %s", seq, before.outcome)
		}
		if r.outcome == format.Failed {
			failed++
			if r.reason == "" {
				b.Errorf("message %d, attempt %d, has failed without a reason", seq, attempt)
			}
		}
		last[seq], highest = r, max(highest, seq)
	}
	for seq := range highest + 1 {
		if r, ok := last[seq]; !ok || r.outcome != format.Accepted {
			b.Errorf("message %d ended as %q (%s), there: %t", seq, r.outcome, r.reason, ok)
		}
	}
	b.Logf("%s: %d messages, %d failed attempts", log, highest+1, failed)
	return len(last)
}

// wantOutage checks that a log's events name an outage and its end.
func (b *bench) wantOutage(log string) {
	b.Helper()
	named := false
	for _, e := range b.events(log) {
		if e.kind == "reconnect" && strings.TrimSpace(e.text) == "" {
			b.Errorf("%s: a reconnect event without a word", log)
		}
		named = named || e.kind != "connect" && e.kind != "attach" && (e.text != "" || e.condition != "")
	}
	if !named || !b.has(log, "reconnect") {
		b.Errorf("%s: the events do not name the outage: %v", log, b.events(log))
	}
	b.Logf("%s: %v", log, b.events(log))
}
