package brokertest

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"amqpperf/format"
)

// outage is a run through which a fault goes.
type outage struct {
	*bench
	send, recv *process
}

// begin starts both sides, which reconnect, and waits until messages flow.
func (b *bench) begin(options ...string) *outage {
	b.Helper()
	options = append([]string{"--reconnect=5m"}, options...)
	o := &outage{bench: b}
	o.recv = b.receiver("recv.parquet", options...)
	o.send = b.start("perf-send", append([]string{"-q", "-o", "send.parquet", "-r", "200", "-d", "10m", "--drain", "3m", "--resend", b.address}, options...)...)
	b.eventually(o.send, "messages to flow", func() bool { return b.rows("send.parquet") > 200 && b.rows("recv.parquet") > 100 })
	return o
}

// noticed waits until both sides have seen the fault.
func (o *outage) noticed() {
	o.Helper()
	for log, p := range map[string]*process{"send.parquet": o.send, "recv.parquet": o.recv} {
		o.eventually(p, log+" to have the outage", func() bool { return o.has(log, "error", "detach", "close") })
	}
}

// over waits until both are back, ends the run and checks that everything is accounted for.
func (o *outage) over() {
	o.Helper()
	for log, p := range map[string]*process{"send.parquet": o.send, "recv.parquet": o.recv} {
		o.eventually(p, log+" to have the reconnect", func() bool { return o.has(log, "reconnect") })
	}
	n := o.rows("send.parquet")
	o.eventually(o.send, "messages to flow again", func() bool { return o.rows("send.parquet") > n+200 })
	o.send.signal(syscall.SIGINT)
	o.send.want(3) // before its -d
	o.eventually(o.recv, "all that was accepted", func() bool { return o.missing("send.parquet", "recv.parquet") == 0 })
	o.recv.signal(syscall.SIGTERM)
	o.recv.want(0)
	messages := o.wantAll("send.parquet")
	o.wantOutage("send.parquet")
	o.wantOutage("recv.parquet")
	r := o.report("send.parquet", "recv.parquet")
	for name, want := range map[string]int{"intended": messages, "accepted": messages, "lost": 0, "unsent": 0, "unsettled": 0, "foreign": 0} {
		if got := r.count(name); got != want {
			o.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}

// TestConnectionCut cuts the connections of both sides: by a proxy that closes them and refuses new ones, that resets them, and
// that lets nothing through any more, which only --idle-timeout notices.
func TestConnectionCut(t *testing.T) {
	ours(t)
	for _, cut := range []struct {
		name, client string
		cut, mend    func(*proxy)
	}{
		{"closed", "own", func(p *proxy) { p.enable(false) }, func(p *proxy) { p.enable(true) }},
		{"closed", "library", func(p *proxy) { p.enable(false) }, func(p *proxy) { p.enable(true) }},
		{"reset", "own", func(p *proxy) { p.reset() }, func(p *proxy) { p.speak() }},
		{"silent", "own", func(p *proxy) { p.silence() }, func(p *proxy) { p.speak() }},
		{"silent", "library", func(p *proxy) { p.silence() }, func(p *proxy) { p.speak() }},
	} {
		t.Run(cut.name+"/"+cut.client, func(t *testing.T) {
			b, p := newBench(t, cut.client), newProxy(t)
			b.url = p.url
			o := b.begin("--idle-timeout", "4s", "--timeout", "4s")
			cut.cut(p)
			o.noticed()
			cut.mend(p)
			o.over()
		})
	}
}

// TestBrokerKilled kills the broker like a power cut and starts it again: durable messages, and a durable subscription, survive
// with what was sent while nobody was there.
func TestBrokerKilled(t *testing.T) {
	ours(t)
	if !able("durable queues") {
		return
	}
	b := newBench(t, "own")
	const parked = 200
	queue, topic := b.address+"-parked", strings.Replace(b.address, "queue://", "topic://", 1)+"-topic"
	b.run("perf-send", "-q", "-o", "parked.parquet", "-n", fmt.Sprint(parked), "--durable", queue)
	subscribe := []string{"--container-id", "perf-killed", "--durable-subscription", "sub", topic}
	subscribes := able("durable subscriptions")
	if subscribes {
		b.start("perf-recv", append([]string{"-q", "-o", "early.parquet", "--keep-subscription", "--wait", "1s"}, subscribe...)...).wait()
		b.run("perf-send", "-q", "-o", "topic.parquet", "-n", fmt.Sprint(parked), "--durable", topic)
	}

	o := b.begin("--durable")
	b.broker("kill")
	o.noticed()
	b.broker("restart")
	o.over()

	whole := map[string]int{"intended": parked, "accepted": parked, "received": parked, "lost": 0, "duplicate": 0}
	b.run("perf-recv", "-q", "-o", "kept.parquet", "-n", fmt.Sprint(parked), "--wait", "60s", "--durable", queue)
	b.report("parked.parquet", "kept.parquet").wantCounts(whole)
	if subscribes {
		b.run("perf-recv", append([]string{"-q", "-o", "late.parquet", "-n", fmt.Sprint(parked), "--wait", "60s"}, subscribe...)...)
		b.report("topic.parquet", "late.parquet").wantCounts(whole)
	}
}

// TestBrokerPaused stops the broker for more than a second: what was intended then waits, and is booked to the broker, not to us.
func TestBrokerPaused(t *testing.T) {
	ours(t)
	b := newBench(t, "own")
	recv := b.receiver("recv.parquet")
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-r", "500", "-d", "10m", "--max-pending", "100", b.address)
	b.eventually(send, "messages to flow", func() bool { return b.rows("send.parquet") > 500 })
	b.broker("pause")
	b.Cleanup(func() { _, _ = brokerScript("", nil, "resume") }) // else the broker cannot be stopped
	// A moment later all threads of the broker stand still, and what they had written is read.
	from := time.Now().Add(100 * time.Millisecond).UnixNano()
	time.Sleep(1100 * time.Millisecond) // that is the fault
	b.broker("resume")
	n := b.rows("send.parquet")
	b.eventually(send, "messages to flow again", func() bool { return b.rows("send.parquet") > n+1000 })
	send.signal(syscall.SIGINT)
	send.want(3)
	b.eventually(recv, "all that was accepted", func() bool { return b.missing("send.parquet", "recv.parquet") == 0 })
	recv.signal(syscall.SIGTERM)
	recv.want(0)

	n = len(b.sent("send.parquet"))
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{"intended": n, "accepted": n, "received": n, "lost": 0, "duplicate": 0})
	slow, ours, held := 0, 0, 0
	for _, r := range b.sent("send.parquet") {
		// Those of the first half of the stop, which no answer can have reached before its end.
		if r.intended < from || r.intended > from+int64(500*time.Millisecond) {
			continue
		}
		if slow++; r.acked-r.intended < int64(500*time.Millisecond) {
			b.Errorf("message %d had its answer after %v from a broker that was stopped", r.key[2], time.Duration(r.acked-r.intended))
		}
		if r.ready-r.intended > r.acked-r.ready {
			ours++
		}
		if r.wait == format.WaitWindow || r.wait == format.WaitCredit {
			held++
		}
	}
	// 250 of them, of which a hundred may be under way at most.
	if slow < 200 || held < slow/4 || ours > slow/2 {
		b.Errorf("%d messages were intended during the stop, %d of them waited for window or credit, %d are booked as our lag", slow, held, ours)
	}
}
