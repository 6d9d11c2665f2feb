package join_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/join"
)

const null = format.Null

// One sender, every fate that a message can have.
func TestFates(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	l.send(
		sendRow{sender: 1, seq: 0, sent: 1, acked: 2},
		sendRow{sender: 1, seq: 1, sent: 1001, acked: 1002},                             // lost
		sendRow{sender: 1, seq: 2, sent: 2001, acked: null, outcome: format.Unsettled},  // unknown
		sendRow{sender: 1, seq: 3, sent: 3001, acked: 3002, outcome: format.Rejected},   // neither
		sendRow{sender: 1, seq: 4, sent: null, acked: null, outcome: format.Unsent},     // neither
		sendRow{sender: 1, seq: 5, sent: 5001, acked: 5002},                             // twice
		sendRow{sender: 1, seq: 6, sent: 6001, acked: null, outcome: format.Failed},     // arrived all the same
		sendRow{sender: 1, seq: 7, sent: 7001, acked: null, outcome: format.Presettled}, // lost
	).recv(
		recvRow{sender: 1, seq: 0, receiver: 9, received: 10},
		recvRow{sender: 1, seq: 6, receiver: 9, received: 6010},
		recvRow{sender: 1, seq: 5, receiver: 9, received: 6020},
		recvRow{sender: 1, seq: 5, receiver: 9, received: 6030, deliveryCount: 1},
		recvRow{sender: 1, seq: 9, receiver: 9, received: 9010}, // its send row was cut off
		recvRow{sender: 1, seq: 0, receiver: 9, received: 9020, run: "yesterday"},
	)
	rows, acc := l.join(join.Options{})
	want := []merged{
		{1, 0, 0, 0, "accepted", "", 10, "accepted", 0, true, false, 60},
		{1, 0, 1, 0, "accepted", "", null, "lost", 0, true, false, 0},
		{1, 0, 2, 0, "unsettled", "", null, "unknown", 0, true, false, 0},
		{1, 0, 3, 0, "rejected", "", null, "", 0, true, false, 0},
		{1, 0, 4, 0, "unsent", "", null, "", 0, true, false, 0},
		{1, 0, 5, 0, "accepted", "", 6020, "accepted", 0, true, true, 60},
		{1, 0, 5, 0, "accepted", "", 6030, "accepted", 1, false, false, 60},
		{1, 0, 6, 0, "failed", "", 6010, "accepted", 0, true, false, 60},
		{1, 0, 7, 0, "presettled", "", null, "lost", 0, true, false, 0},
		{1, 0, 9, 0, "unlogged", "", 9010, "accepted", 0, true, false, 60}, // the clock of its sender is known
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	got := [...]int64{acc.Intended, acc.Sent, acc.Acked, acc.Accepted, acc.Received, acc.Lost, acc.Unknown, acc.Duplicate,
		acc.Reordered, acc.Redelivered, acc.Unlogged, acc.OtherRuns.Received}
	if want := [...]int64{8, 7, 4, 3, 4, 2, 1, 1, 1, 1, 1, 1}; got != want {
		t.Errorf("counts = %v, want %v", got, want)
	}
}

// Competing consumers on a queue take turns; that is no reordering as long as
// each receipt follows in time.
func TestCompetingConsumers(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	l.send(sendRow{sender: 1, seq: 0, sent: 1, acked: 2}, sendRow{sender: 1, seq: 1, sent: 1001, acked: 1002}, sendRow{sender: 1, seq: 2, sent: 2001, acked: 2002})
	l.recv(recvRow{sender: 1, seq: 0, receiver: 8, received: 100}, recvRow{sender: 1, seq: 2, receiver: 8, received: 300})
	l.recv(recvRow{sender: 1, seq: 1, receiver: 9, received: 300})
	_, acc := l.join(join.Options{})
	if acc.Received != 3 || acc.Reordered != 0 || acc.Lost != 0 || acc.Duplicate != 0 {
		t.Errorf("received %d, reordered %d, lost %d, duplicate %d; want 3 0 0 0 (equal instants of two consumers are no evidence)",
			acc.Received, acc.Reordered, acc.Lost, acc.Duplicate)
	}
}

// Messages of one socket read share an instant; within a consumer the rows
// still tell the order.
func TestReorderedWithinOneRead(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	l.send(sendRow{sender: 1, seq: 0, sent: 1, acked: 2}, sendRow{sender: 1, seq: 1, sent: 1001, acked: 1002})
	l.recv(recvRow{sender: 1, seq: 1, receiver: 8, received: 300}, recvRow{sender: 1, seq: 0, receiver: 8, received: 300})
	if _, acc := l.join(join.Options{}); acc.Reordered != 1 {
		t.Errorf("reordered = %d, want 1", acc.Reordered)
	}
}

// Every attached subscription of a topic must have its copy, also one that
// received nothing; not the messages before it attached.
func TestFanOut(t *testing.T) {
	t.Parallel()
	name := func(s string) *string { return &s }
	meta := format.Meta{}
	if err := meta.SetJSON(format.KeySubscriptions, []format.Subscription{
		{Destination: "topic://t", Name: name("a"), Attached: 500},
		{Destination: "topic://t", Name: name("b"), Attached: 500},
		{Destination: "topic://t", Name: name("late"), Attached: 1500},
	}); err != nil {
		t.Fatal(err)
	}
	l := &logs{t: t}
	l.send(
		sendRow{sender: 1, seq: 0, sent: 1, acked: 2, destination: "topic://t"},       // before any
		sendRow{sender: 1, seq: 1, sent: 1001, acked: 1002, destination: "topic://t"}, // a and b
		sendRow{sender: 1, seq: 2, sent: 2001, acked: 2002, destination: "topic://t"}, // all three
	)
	l.write("recv.parquet", recvBatch([]recvRow{
		{sender: 1, seq: 1, receiver: 9, destination: "topic://t", subscription: "a", received: 1100},
		{sender: 1, seq: 2, receiver: 9, destination: "topic://t", subscription: "a", received: 2100},
		{sender: 1, seq: 2, receiver: 9, destination: "topic://t", subscription: "late", received: 2100},
	}), later(), meta)
	rows, acc := l.join(join.Options{})
	want := []merged{
		{1, 0, 0, 0, "accepted", "", null, "", 0, true, false, 0},
		{1, 0, 1, 0, "accepted", "a", 1100, "accepted", 0, true, false, 60},
		{1, 0, 1, 0, "accepted", "b", null, "lost", 0, false, false, 0},
		{1, 0, 2, 0, "accepted", "a", 2100, "accepted", 0, true, false, 60},
		{1, 0, 2, 0, "accepted", "b", null, "lost", 0, false, false, 0},
		{1, 0, 2, 0, "accepted", "late", 2100, "accepted", 0, false, false, 60},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if acc.Lost != 2 || acc.Intended != 3 {
		t.Errorf("lost %d of %d intended, want 2 of 3", acc.Lost, acc.Intended)
	}
}

// An address that the sides spell differently is matched by the arrivals, and
// by elimination if nothing arrived.
func TestAddressesSpelledDifferently(t *testing.T) {
	t.Parallel()
	send := []sendRow{{sender: 1, seq: 0, sent: 1, acked: 2, destination: "/exchange/x"}, {sender: 1, seq: 1, sent: 1001, acked: 1002, destination: "/exchange/x"}}
	l := &logs{t: t}
	l.send(send...).recv(recvRow{sender: 1, seq: 0, receiver: 9, destination: "/queue/q", received: 10})
	if _, acc := l.join(join.Options{}); acc.Received != 1 || acc.Lost != 1 {
		t.Errorf("received %d, lost %d; want 1 1", acc.Received, acc.Lost)
	}
}

func TestNothingIsLostWithoutReceiveLog(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	l.send(sendRow{sender: 1, seq: 0, sent: 1, acked: 2})
	if _, acc := l.join(join.Options{}); acc.Lost != 0 || acc.Accepted != 1 {
		t.Errorf("lost %d, accepted %d; want 0 1", acc.Lost, acc.Accepted)
	}
}

func TestSenderLogMissing(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	l.recv(recvRow{sender: 5, seq: 0, receiver: 9, received: 10})
	_, acc := l.join(join.Options{})
	if acc.Unlogged != 1 || acc.Intended != 0 || !strings.Contains(strings.Join(acc.Notes, "\n"), "sender log missing") {
		t.Errorf("unlogged %d, intended %d, notes %q", acc.Unlogged, acc.Intended, acc.Notes)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	row := sendRow{sender: 1, sent: 1, acked: 2}
	for name, c := range map[string]struct {
		logs func(l *logs)
		want string
	}{
		"two runs":           {func(l *logs) { l.send(row).send(sendRow{sender: 2, run: "other", sent: 1, acked: 2}) }, "--run"},
		"copy of a send log": {func(l *logs) { l.send(row).send(row) }, "the same log twice"},
		"copy of a receive log": {func(l *logs) {
			l.send(row).recv(recvRow{sender: 1, receiver: 9}).recv(recvRow{sender: 1, receiver: 9})
		}, "the same log twice"},
		"one name twice":    {func(l *logs) { l.send(row); l.names = append(l.names, l.names[0]) }, "given twice"},
		"a message twice":   {func(l *logs) { l.send(row, row) }, "seq 0 attempt 0 is there twice"},
		"twice, far apart":  {func(l *logs) { l.send(row, sendRow{sender: 1, seq: 1, sent: 1, acked: 2}, row) }, "is there twice"},
		"a log that is not": {func(l *logs) { l.names = append(l.names, "no-such.parquet") }, "no-such.parquet"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &logs{t: t}
			c.logs(l)
			j, err := join.Open(l.names, join.Options{})
			if err == nil {
				_ = j.Close()
				t.Fatal("accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

// The receiver's wall clock was 4 ms ahead when it anchored, on the same boot:
// aligned exactly. On another boot: kept as it is, bound unknown.
func TestClocks(t *testing.T) {
	t.Parallel()
	ahead := anchor()
	ahead.Wall += 4_000_000
	other := ahead
	other.ClockID = 8
	l := &logs{t: t}
	l.send(sendRow{sender: 1, seq: 0, sent: 1, acked: 2})
	l.write("recv.parquet", recvBatch([]recvRow{{sender: 1, receiver: 9, received: 4_000_011}}), ahead, nil)
	rows, acc := l.join(join.Options{})
	if rows[0].Received != 11 || rows[0].Bound != 60 || acc.Clock.Source != clock.SameBoot {
		t.Errorf("same boot: received %d ± %d (%s), want 11 ± 60", rows[0].Received, rows[0].Bound, acc.Clock.Source)
	}

	l = &logs{t: t}
	l.send(sendRow{sender: 1, seq: 0, sent: 1, acked: 2})
	l.write("recv.parquet", recvBatch([]recvRow{{sender: 1, receiver: 9, received: -4}}), other, nil)
	rows, acc = l.join(join.Options{})
	if rows[0].Received != -4 || rows[0].Bound != null || acc.Clock.Source != clock.Unknown || acc.Clock.Negative != 1 {
		t.Errorf("other boot: received %d ± %d (%s, %d negative); want -4, NULL, unknown, 1", rows[0].Received, rows[0].Bound, acc.Clock.Source, acc.Clock.Negative)
	}
}

// What a receiver that stopped gave back is no arrival, and its next delivery
// no duplicate.
func TestReturnedDeliveries(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	l.send(sendRow{sender: 1, seq: 0, sent: 1, acked: 2}, sendRow{sender: 1, seq: 1, sent: 1001, acked: 1002})
	l.recv(
		recvRow{sender: 1, seq: 0, receiver: 8, received: 100, outcome: format.Released},
		recvRow{sender: 1, seq: 1, receiver: 8, received: 1100, outcome: format.Released},
	)
	l.recv(recvRow{sender: 1, seq: 0, receiver: 9, received: 200, deliveryCount: 1})
	rows, acc := l.join(join.Options{})
	if acc.Received != 1 || acc.Duplicate != 0 || acc.Returned != 2 || acc.Lost != 1 {
		t.Errorf("received %d, duplicate %d, returned %d, lost %d; want 1 0 2 1", acc.Received, acc.Duplicate, acc.Returned, acc.Lost)
	}
	if rows[0].Received != 200 {
		t.Errorf("seq 0 received at %d, want 200: the delivery that was kept", rows[0].Received)
	}
}

// Rewind yields the same rows and counts again, from whatever place.
func TestRewind(t *testing.T) {
	t.Parallel()
	w := randomWorld(300)
	l := w.write(t, drawn{})
	j, err := join.Open(l.names, join.WithChunk(join.Options{Run: testRun, Memory: 1}, 7))
	if err != nil {
		t.Fatal(err)
	}
	var b format.Merged
	for range 5 {
		if err := j.Next(&b); err != nil {
			t.Fatal(err)
		}
	}
	var rows [2][]merged
	var counts [2]string
	for i := range rows {
		if err := j.Rewind(); err != nil {
			t.Fatal(err)
		}
		rows[i] = drain(t, j)
		var text strings.Builder
		acc := j.Accounting()
		if err := acc.WriteText(&text); err != nil {
			t.Fatal(err)
		}
		counts[i] = text.String()
	}
	if diff := cmp.Diff(rows[0], rows[1]); diff != "" || len(rows[0]) < 300 {
		t.Errorf("%d rows; again (-first +second):\n%s", len(rows[0]), diff)
	}
	if counts[0] != counts[1] {
		t.Errorf("counts %s\nagain %s", counts[0], counts[1])
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A message with an absurd seq does not disturb the others, and costs no memory.
func TestHugeSeq(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	var sends []sendRow
	for i := range int64(1000) {
		sends = append(sends, sendRow{sender: 1, seq: i, sent: 1000*i + 1, acked: 1000*i + 2})
	}
	l.send(sends...).recv(
		recvRow{sender: 1, seq: 1 << 50, receiver: 9, received: 5},
		recvRow{sender: 1, seq: 3, receiver: 9, received: 3010},
		recvRow{sender: 1, seq: -7, receiver: 9, received: 3020},
	)
	_, acc := l.join(join.WithChunk(join.Options{Memory: 1}, 10))
	if acc.Received != 3 || acc.Unlogged != 2 || acc.Lost != 999 || acc.Reordered != 2 {
		t.Errorf("received %d, unlogged %d, lost %d, reordered %d; want 3 2 999 2", acc.Received, acc.Unlogged, acc.Lost, acc.Reordered)
	}
}

// How far a message was overtaken: by how many messages the first one that came
// before it was later, and how long that had been there.
func TestReorderingExtent(t *testing.T) {
	t.Parallel()
	l := &logs{t: t}
	var sends []sendRow
	for i := range int64(10) {
		sends = append(sends, sendRow{sender: 1, seq: i, sent: 1000*i + 1, acked: 1000*i + 2})
	}
	l.send(sends...).recv(
		recvRow{sender: 1, seq: 7, receiver: 9, received: 100},
		recvRow{sender: 1, seq: 9, receiver: 9, received: 200},
		recvRow{sender: 1, seq: 8, receiver: 9, received: 300}, // 1 message, 100 ns
		recvRow{sender: 1, seq: 2, receiver: 9, received: 450}, // 5 messages (7 came first), 350 ns
	)
	for _, chunk := range []int{1, 3, 100} {
		_, acc := l.join(join.WithChunk(join.Options{}, chunk))
		if s := acc.Subscriptions[0]; s.Reordered != 2 || s.Distance != 5 || s.LateNS != 350 {
			t.Errorf("chunks of %d: %+v; want 2 reordered by up to 5 messages and 350 ns", chunk, s)
		}
	}
}
