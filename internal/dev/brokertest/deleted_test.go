package brokertest

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"amqpperf/format"
)

// TestQueueDeleted deletes a queue under a sender and a receiver. Artemis tells the receiver, RabbitMQ cuts its connection; both go
// on accepting the sender's messages, so that only the merge can tell what was lost.
func TestQueueDeleted(t *testing.T) {
	ours(t)
	if !able("delete a queue") {
		return
	}
	b := newBench(t, "own")
	recv := b.receiver("recv.parquet")
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-r", "200", "-d", "10m", b.address)
	b.eventually(send, "messages to flow", func() bool { return b.rows("send.parquet") > 200 && b.rows("recv.parquet") > 100 })
	b.broker("delete-queue", strings.TrimPrefix(b.address, "queue://"))
	recv.want(1)
	t.Logf("perf-recv says: %s", recv.stderr.String())
	if os.Getenv("PERF_TEST_BROKER") == "artemis" && !strings.Contains(recv.stderr.String(), "amqp:resource-deleted") {
		t.Error("the receiver does not say why it ended")
	}
	if !b.has("recv.parquet", "detach", "error", "close") {
		t.Errorf("no event in the receiver's log: %v", b.events("recv.parquet"))
	}
	n := b.rows("send.parquet")
	b.eventually(send, "the sender to go on", func() bool { return b.rows("send.parquet") > n+400 })
	send.signal(syscall.SIGINT)
	send.want(3)

	outcomes := map[string]int{}
	for _, r := range b.sent("send.parquet") {
		outcomes[r.outcome]++
	}
	t.Logf("outcomes: %v, events %v %v", outcomes, b.events("send.parquet"), b.events("recv.parquet"))
	r := b.report("send.parquet", "recv.parquet")
	r.wantCounts(map[string]int{"unknown": 0, "unsent": 0, "duplicate": 0, "unsettled": 0})
	if lost := r.count("lost"); lost != r.count("accepted")-r.count("received") || lost < 300 {
		t.Errorf("lost is %d of %d accepted, %d received", lost, r.count("accepted"), r.count("received"))
	}
	if outcomes[format.Accepted] != r.count("intended") {
		t.Errorf("outcomes %v of %d messages", outcomes, r.count("intended"))
	}
}

// TestDetachedWithError takes from a broker what its sender's link leads to: the broker ends the link with an error. Without
// --reconnect that ends the run, with all messages accounted for; with it messages flow again as soon as they can.
func TestDetachedWithError(t *testing.T) {
	ours(t)
	if !able("exchanges") && !able("manage queues") {
		return // no way is known to make it end a sender's link
	}
	b := newBench(t, "own")
	says, name, remove, restore := b.removable()
	restore()
	once := b.start("perf-send", "-q", "-o", "once.parquet", "-r", "200", "-d", "10m", b.address)
	again := b.start("perf-send", "-q", "-o", "again.parquet", "-r", "200", "-d", "10m", "--reconnect=5m", "--resend", b.address)
	for log, p := range map[string]*process{"once.parquet": once, "again.parquet": again} {
		b.eventually(p, "messages to flow", func() bool { return b.rows(log) > 200 })
	}
	remove()
	once.want(1)
	if text := once.stderr.String(); !says(text) || !strings.Contains(text, name) {
		t.Errorf("perf-send says %s", text)
	}
	outcomes := map[string]int{}
	for _, r := range b.sent("once.parquet") {
		outcomes[r.outcome]++
		if r.outcome == format.Failed && !says(r.reason) {
			t.Errorf("message %d has failed: %q", r.key[2], r.reason)
		}
	}
	t.Logf("outcomes %v, events %v", outcomes, b.events("once.parquet"))
	if len(outcomes) == 0 || outcomes[format.Unsettled] > 0 {
		t.Errorf("outcomes %v", outcomes)
	}
	b.report("once.parquet").wantCounts(map[string]int{"intended": b.rows("once.parquet"), "unsettled": 0})
	b.eventually(again, "the outage", func() bool { return b.has("again.parquet", "error", "detach") })
	for _, log := range []string{"once.parquet", "again.parquet"} {
		named := false
		for _, e := range b.events(log) {
			named = named || e.kind == "detach" && says(e.condition)
		}
		if !named {
			t.Errorf("%s: no event names the cause: %v", log, b.events(log))
		}
	}
	restore()
	b.eventually(again, "the link to be back", func() bool { return b.has("again.parquet", "reconnect") })
	n := b.rows("again.parquet")
	b.eventually(again, "messages to flow again", func() bool { return b.rows("again.parquet") > n+200 })
	again.signal(syscall.SIGINT)
	again.want(3)
	b.wantAll("again.parquet")
	b.wantOutage("again.parquet")
}

// removable gives the bench an address that can be taken from under its senders, and given back; says looks for the condition with
// which the broker then ends their links. Broker-J makes queues by itself, and finds out first that there is none or why.
func (b *bench) removable() (says func(string) bool, name string, remove, restore func()) {
	name = strings.TrimPrefix(b.address, "queue://")
	says = func(text string) bool {
		return strings.Contains(text, "amqp:not-found") || strings.Contains(text, "amqp:resource-deleted")
	}
	if able("exchanges") {
		b.address = "/exchange/" + name + "/key"
		return says, name, func() { b.broker("delete-exchange", name) }, func() { b.broker("make-exchange", name) }
	}
	return says, name, func() { b.deleteQueue(b.address) }, func() {}
}

// TestCreditWithheld fills an address that takes no more at a size: the sender waits for credit, and says so; nothing is lost.
func TestCreditWithheld(t *testing.T) {
	ours(t)
	if !able("full addresses") {
		return
	}
	b := newBench(t, "own")
	b.address = strings.Replace(b.address, "queue://", "queue://perf.block.", 1)
	const n = 3000 // three times the first credit
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-r", "2k", "-n", "3000", "-s", "1000", "--drain", "5m", b.address)
	b.eventually(send, "the credit to end", func() bool { return b.has("send.parquet", "credit0") })
	// Another one gets none at all, and gives up.
	other := b.start("perf-send", "-q", "-o", "other.parquet", "-r", "2k", "-n", "100", "--drain", "500ms", b.address)
	other.want(3)
	for _, r := range b.sent("other.parquet") {
		if r.outcome != format.Unsent || r.wait != format.WaitCredit {
			t.Fatalf("message %d without credit: %s after waiting for %s", r.key[2], r.outcome, r.wait)
		}
	}
	recv := b.receiver("recv.parquet", "-n", "3000")
	send.want(0)
	recv.want(0)
	waited := 0
	for _, r := range b.sent("send.parquet") {
		if r.wait == format.WaitCredit {
			waited++
		}
	}
	if waited < 1000 {
		t.Errorf("%d messages waited for credit", waited)
	}
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{"intended": n, "accepted": n, "received": n, "lost": 0, "duplicate": 0})
	b.report("other.parquet").wantCounts(map[string]int{"intended": 100, "unsent": 100})
}
