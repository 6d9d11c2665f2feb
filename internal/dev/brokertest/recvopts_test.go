package brokertest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/format"
	"amqpperf/internal/amqp/wire"
)

// TestCredit: a consumer that is slow holds so many messages as its credit, and another one gets the rest.
func TestCredit(t *testing.T) {
	if !simple() {
		bothClients(t, testCredit)
	}
}

func testCredit(b *bench) {
	slow := b.receiver("slow.parquet", "--credit", "7", "--work", "1h")
	sent := b.park(20)
	b.eventually(slow, "its credit to be used", func() bool { return len(b.arrived("slow.parquet")) == 7 })
	if got := b.left(); len(got) != len(sent)-7 {
		b.Errorf("another consumer received %d of %d messages, 7 of which the credit of the first holds", len(got), len(sent))
	}
}

// TestAckEvery: one disposition for so many messages.
func TestAckEvery(t *testing.T) {
	if !simple() { // it sends settled messages
		bothClients(t, testAckEvery)
	}
}

func testAckEvery(b *bench) {
	b.park(100)
	in := tapped(b)
	b.fetch(100, "--ack-every", "20")
	settled := uint32(0)
	all := seenOf[*wire.Disposition](in, true)
	for _, d := range all {
		settled += d.Last.Or(d.First) - d.First + 1
	}
	// The library writes a frame for each message.
	if settled != 100 || b.client == "own" && len(all) != 5 {
		b.Errorf("%d dispositions settled %d messages, want 5 for 100", len(all), settled)
	}
	if got := b.left(); len(got) != 0 {
		b.Errorf("%d messages came again", len(got))
	}
}

// TestOutcomes: of what was answered in several ways, what was accepted or rejected is gone (on Broker-J only what was accepted), and the
// rest comes again; what was modified with its failed delivery counted, where the broker counts.
func TestOutcomes(t *testing.T) {
	if !simple() {
		bothClients(t, testOutcomes)
	}
}

func testOutcomes(b *bench) {
	const n = 40
	b.park(n)
	shares, modified := "reject=0.25,release=0.25", 0
	if able("modified") {
		shares, modified = shares+",modify=0.1", n/10
	}
	first := b.fetch(n, "--outcome", shares)
	how := outcomes(first)
	if how[format.Rejected] != n/4 || how[format.Released] < n/4 || how[format.Modified] != modified || how[format.Accepted] != n/2-modified {
		b.Fatalf("%d deliveries were answered %v", len(first), how)
	}
	// What was under way at the end was given back too. All that was not accepted or rejected is still there.
	rest, want := b.left(), n-how[format.Accepted]
	if able("rejected is gone") {
		want -= how[format.Rejected]
	}
	if len(rest) != want {
		b.Errorf("%d messages came again after %v, want %d", len(rest), how, want)
	}
	again := map[[4]int64]bool{}
	for _, d := range first {
		again[d.key] = again[d.key] || d.outcome == format.Modified
	}
	counted := 0
	for _, d := range rest {
		if again[d.key] && d.count > 0 {
			counted++
		}
	}
	b.Logf("%d messages that had been modified came with a count of deliveries", counted)
	if os.Getenv("PERF_TEST_BROKER") == "artemis" && counted == 0 {
		b.Error("modified messages do not have their failed delivery counted")
	}
}

// TestWork: a consumer that works takes that time for each message, which stands between started and settled, and the others wait
// for it after they were received: handled, not e2e.
func TestWork(t *testing.T) {
	b := newBench(t, "own")
	const n, work = 20, 20 * time.Millisecond
	b.park(n)
	rows := b.fetch(n, "--work", "20ms")
	// One that was late is made up for by the next; all of them together take no less.
	if took := rows[n-1].settle - rows[0].start; took < int64(n*work)-int64(time.Millisecond) {
		b.Errorf("%d messages took %v", n, time.Duration(took))
	}
	last := rows[n-1]
	if waited := last.start - last.received; waited < int64(n/2*work) {
		b.Errorf("the last message waited %v for the %d before it, from its receipt", time.Duration(waited), n-1)
	}
}

// TestRecvRate: a consumer begins with no more messages than its rate allows.
func TestRecvRate(t *testing.T) {
	b := newBench(t, "own")
	b.park(21)
	rows := b.fetch(21, "--rate", "20")
	if took := span(rows, func(d delivery) int64 { return d.start }); took < int64(time.Second) {
		b.Errorf("21 messages at 20/s were begun with within %v", time.Duration(took))
	}
}

// TestStartDelay: messages pile up in the broker until the first credit is granted.
func TestStartDelay(t *testing.T) {
	bothClients(t, func(b *bench) {
		before := time.Now()
		recv := b.receiver("recv.parquet", "-n", "20", "--start-delay", "3s")
		sent := b.park(20)
		recv.want(0)
		for _, d := range b.deliveries("recv.parquet") {
			if d.received < before.Add(3*time.Second).UnixNano() {
				b.Errorf("message %d was received %v after the start", d.key[2], time.Duration(d.received-before.UnixNano()))
			}
		}
		if sent[19].acked == format.Null {
			b.Error("the broker did not take the messages")
		}
	})
}

// TestDestinations: a pattern makes so many addresses, with a sender's and a receiver's share each.
func TestDestinations(t *testing.T) {
	b := newBench(t, "own")
	pattern := b.address + "-%d"
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "10", "--num-destinations", "3", "--producers", "2", pattern)
	b.run("perf-recv", "-q", "-o", "recv.parquet", "-n", "10", "--wait", "60s", "--num-destinations", "3", pattern)
	n := map[string]int{}
	for _, d := range b.deliveries("recv.parquet") {
		n[strings.TrimPrefix(d.destination, b.address)]++
	}
	if len(n) != 3 || n["-0"] != 4 || n["-1"] != 3 || n["-2"] != 3 {
		b.Errorf("messages by destination: %v", n)
	}
}

// TestLimits: a receiver ends by --duration, --wait or --idle, each in its own way.
func TestLimits(t *testing.T) {
	b := newBench(t, "own")
	if d := b.start("perf-recv", "-q", "-o", "d.parquet", "-d", "500ms", b.address); d.wait() != 0 {
		b.Errorf("-d: exit status %d\n%s", d.wait(), d.stderr.String())
	}
	if w := b.start("perf-recv", "-q", "-o", "w.parquet", "--wait", "500ms", b.address); w.wait() != 1 || !strings.Contains(w.stderr.String(), "no message came") {
		b.Errorf("--wait: exit status %d\n%s", w.wait(), w.stderr.String())
	}
	b.park(5)
	if i := b.start("perf-recv", "-q", "-o", "i.parquet", "--idle", "1s", b.address); i.wait() != 0 || b.rows("i.parquet") != 5 {
		b.Errorf("--idle: exit status %d, %d rows\n%s", i.wait(), b.rows("i.parquet"), i.stderr.String())
	}
}

// TestForeign: a message of another program stays in the queue, unless that is not wanted.
func TestForeign(t *testing.T) {
	if simple() {
		return
	}
	bothClients(t, func(b *bench) {
		b.park(1) // makes the queue, and tells its address
		b.fetch(1)
		b.foreign("park1.parquet", 3)
		stop := b.start("perf-recv", "-q", "-o", "stop.parquet", "--wait", "60s", b.address)
		stop.want(1)
		if text := stop.stderr.String(); !strings.Contains(text, "text/plain") || !strings.Contains(text, strings.TrimPrefix(b.address, "queue://")) {
			b.Errorf("a foreign message: %s", text)
		}
		b.start("perf-recv", "-q", "-o", "release.parquet", "-d", "2s", "--foreign", "release", b.address).want(0)
		taken := b.start("perf-recv", "-q", "-o", "accept.parquet", "-d", "2s", "--foreign", "accept", b.address)
		taken.want(0)
		after := b.take("park1.parquet", goamqp.DurabilityNone)
		if after.next(time.Second) != nil {
			b.Error("--foreign accept left a message")
		}
	})
}

// foreign sends n messages that perf-send did not make to where a log's went.
func (b *bench) foreign(log string, n int) {
	b.Helper()
	s, err := b.session().NewSender(b.Context(), b.attachedAs(log), nil)
	if err != nil {
		b.Fatal(err)
	}
	contentType := "text/plain"
	for i := range n {
		m := goamqp.NewMessage(fmt.Append(nil, i))
		m.Properties = &goamqp.MessageProperties{ContentType: &contentType}
		if err := s.Send(b.Context(), m, nil); err != nil {
			b.Fatal(err)
		}
	}
}
