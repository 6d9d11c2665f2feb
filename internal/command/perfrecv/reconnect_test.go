package perfrecv_test

import (
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
)

// cable carries connections to a broker; the first breaks after so many bytes
// towards the client. onBreak is called before.
func cable(t *testing.T, url string, breaks int64, onBreak func()) (through string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	keep := func(c net.Conn) {
		mu.Lock()
		defer mu.Unlock()
		open = append(open, c)
	}
	wg.Go(func() {
		for first := true; ; first = false {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", strings.TrimPrefix(url, "amqp://"))
			if err != nil {
				_ = client.Close()
				return
			}
			keep(client)
			keep(server)
			limit := int64(1 << 62)
			if first {
				limit = breaks
			}
			hang := func() {
				_ = client.Close()
				_ = server.Close()
			}
			wg.Go(func() { _, _ = io.Copy(server, client); hang() })
			wg.Go(func() {
				if n, _ := io.CopyN(client, server, limit); n == breaks {
					onBreak()
				}
				hang()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return "amqp://" + l.Addr().String()
}

func (s *session) events(t *testing.T) map[string][]string {
	t.Helper()
	l, err := format.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	var b format.Event
	if err := l.Table(&b); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{}
	for i := range b.Len() {
		kind, _ := b.Kind.At(i)
		text, _ := b.Text.At(i)
		texts[kind] = append(texts[kind], text)
	}
	return texts
}

// The connection breaks in the middle: what was unsettled comes again over the
// next one, which the rows and an event tell, and nothing is lost.
func TestReconnect(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 300 -s 1KiB queue://q")
	s := newSession(t, cable(t, url, 100<<10, func() {}))
	if code := s.run("--idle 2s --reconnect --credit 50 --consumers 2 --connections 1 queue://q"); code != 0 {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	for _, want := range []string{"perf-recv: lost: ", "perf-recv: the outage is over after "} {
		if strings.Count(s.stderr.String(), want) < 1 {
			t.Errorf("%q is missing in\n%s", want, &s.stderr)
		}
	}
	r := s.read(t)
	// An answer that was written as the connection broke is not in the log, and yet
	// the broker may have it: at most those of the credit.
	seen, accepted, on := map[int64]bool{}, map[int64]bool{}, map[int32]int{}
	for i := range r.b.Len() {
		on[r.b.Connection[i]]++
		seen[r.b.Seq[i]] = true
		if outcome, _ := r.b.Outcome.At(i); outcome == format.Accepted {
			accepted[r.b.Seq[i]] = true
		}
	}
	if len(seen) != 300 || len(accepted) < 200 || on[0] == 0 || on[1] == 0 || len(on) != 2 {
		t.Errorf("%d of 300 messages were received, %d accepted; rows by connection: %v", len(seen), len(accepted), on)
	}
	events := s.events(t)
	if again := events["reconnect"]; len(again) != 2 || !strings.Contains(again[0], "again after ") || !strings.Contains(again[0], ", lost: ") || len(events["connect"]) != 2 {
		t.Errorf("events %v", events)
	}
	subs, _, err := r.meta.Subscriptions()
	if err != nil || len(subs) != 1 || subs[0].Detached != 0 {
		t.Errorf("subscriptions %+v, %v", subs, err)
	}
	// The samples go on with the connection that took the place of the first: the idle
	// time has one at least, and the end.
	back := r.b.Received[r.b.Len()-1]
	after := map[string]int{}
	for _, sample := range s.sampled(t) {
		if sample.at > back {
			after[sample.what]++
		}
	}
	kinds := []string{"conn.0.credit_messages", "conn.0.unsettled_messages"}
	if runtime.GOOS == "linux" {
		kinds = append(kinds, "conn.0.rtt_ns", "conn.0.cwnd_segments")
	}
	for _, what := range kinds {
		if after[what] == 0 {
			t.Errorf("no sample of %s after the outage: %v", what, after)
		}
	}
}

// sample is a row of sample/1.
type sample struct {
	at   int64
	what string
}

func (s *session) sampled(t *testing.T) (out []sample) {
	t.Helper()
	l, err := format.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	var b format.Sample
	if err := l.Table(&b); err != nil {
		t.Fatal(err)
	}
	for i := range b.Len() {
		what, _ := b.What.At(i)
		out = append(out, sample{b.Instant[i], what})
	}
	return out
}

// So do transactions and a durable subscription, over a session that links share. A
// transaction whose commit was not answered may have been committed: its messages
// stay unsettled in the log and do not come again.
func TestReconnectMore(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	durable := " --container-id c --durable-subscription s topic://t"
	expect(t, url, "-d 100ms --keep-subscription"+durable, 0, 0, "")
	for _, tt := range []struct {
		address, args string
		inDoubt       int // of both consumers
	}{
		{"queue://q", "--tx 10 --consumers 2 --connections 1 --sessions shared queue://q", 20},
		{"topic://t", durable, 50}, // the credit, as in TestReconnect
	} {
		send(t, url, "-n 300 -s 1KiB "+tt.address)
		s := newSession(t, cable(t, url, 100<<10, func() {}))
		if code := s.run("--idle 2s --reconnect --credit 50 " + tt.args); code != 0 {
			t.Errorf("exit %d: %s", code, &s.stderr)
		}
		r := s.read(t)
		seen, accepted, on := map[int64]bool{}, map[int64]bool{}, map[int32]int{}
		for i := range r.b.Len() {
			on[r.b.Connection[i]]++
			seen[r.b.Seq[i]] = true
			if outcome, _ := r.b.Outcome.At(i); outcome == format.Accepted {
				accepted[r.b.Seq[i]] = true
			}
		}
		subs, _, err := r.meta.Subscriptions()
		if len(seen) != 300 || len(accepted) < 300-tt.inDoubt || on[0] == 0 || on[1] == 0 || err != nil || len(subs) != 1 || subs[0].Detached != 0 {
			t.Errorf("%s: %d of 300 messages were received, %d accepted; rows by connection: %v; subscriptions %+v, %v",
				tt.address, len(seen), len(accepted), on, subs, err)
		}
	}
}

// Without --reconnect, or after its time, a broken connection ends the run.
func TestReconnectGivesUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, text string }{
		{"", "receive"},
		{"--reconnect=200ms", "gave up after --reconnect 200ms: "},
	} {
		b, url := startBroker(t, broker.Config{})
		send(t, url, "-n 300 -s 1KiB queue://q")
		s := newSession(t, cable(t, url, 100<<10, func() { _ = b.Close() }))
		if code := s.run(tt.args + " --idle 1m --credit 50 queue://q"); code != cli.ExitFailure || !strings.Contains(s.stderr.String(), tt.text) {
			t.Errorf("%q: exit %d, want %q: %s", tt.args, code, tt.text, &s.stderr)
		}
		if r := s.read(t); r.meta[format.KeyStop] != "error" || r.count(format.Accepted) == 0 {
			t.Errorf("stopped by %s, %d accepted", r.meta[format.KeyStop], r.count(format.Accepted))
		}
	}
}

// A topic's plain subscription does not outlive its link: the next one is another.
func TestReconnectTopic(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, cable(t, url, 20<<10, func() {}))
	var wg sync.WaitGroup
	ready := s.dir + "/ready"
	wg.Go(func() {
		awaitFile(ready)
		send(t, url, "-n 400 -r 1k -s 1KiB topic://t")
	})
	code := s.run("--idle 2s --wait 30s --reconnect --ready-file " + ready + " topic://t")
	wg.Wait()
	r := s.read(t)
	subs, _, err := r.meta.Subscriptions()
	if code != 0 || err != nil || len(subs) != 2 || subs[0].Detached == 0 || subs[1].Detached != 0 || subs[1].Attached < subs[0].Detached || *subs[0].Name == *subs[1].Name {
		t.Fatalf("exit %d, subscriptions %+v, %v: %s", code, subs, err, &s.stderr)
	}
	for i := range r.b.Len() {
		name, _ := r.b.Subscription.At(i)
		if want := *subs[r.b.Connection[i]].Name; name != want {
			t.Errorf("row %d on connection %d is of %s, want %s", i, r.b.Connection[i], name, want)
		}
	}
}
