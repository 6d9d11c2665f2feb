package perfrecv_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrecv"
)

// The log has samples of the tool and of what is not settled on each connection.
func TestSamples(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 20 queue://q")
	s := newSession(t, url)
	// 20 messages are fewer than are settled together: they stay unsettled until the end.
	if code := s.run("-d 2200ms --ack-every 100 --watch-name no-such-broker queue://q"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	l, err := format.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	var b format.Sample
	if err := l.Table(&b); err != nil {
		t.Fatal(err)
	}
	n, unsettled, credit := map[string]int{}, int64(0), int64(0)
	for i := range b.Len() {
		what, _ := b.What.At(i)
		n[what]++
		switch what {
		case "conn.0.unsettled_messages":
			unsettled = max(unsettled, b.Value[i])
		case "conn.0.credit_messages":
			credit = max(credit, b.Value[i])
		}
	}
	kinds := []string{"tool.goroutines_count", "conn.0.waiting_messages", "conn.0.unsettled_messages", "conn.0.unsettled_bytes", "conn.0.credit_messages", "name:no-such-broker.processes_count"}
	if runtime.GOOS == "linux" {
		kinds = append(kinds, "conn.0.rtt_ns", "conn.0.unsent_bytes", "conn.0.retransmits_count")
	}
	for _, what := range kinds {
		if n[what] < 1 { // how many there are is up to the host
			t.Errorf("%d samples of %s", n[what], what)
		}
	}
	if credit < 900 || credit > 1000 { // of 1000, 20 are used
		t.Errorf("a credit of %d messages", credit)
	}
	if unsettled != 20 || !strings.Contains(s.stderr.String(), "nothing yet: --watch-name no-such-broker") {
		t.Errorf("at most %d messages were unsettled, want 20; %s", unsettled, &s.stderr)
	}
}

// Without a connection: a log with samples of a process and no rows.
func TestWatchOnly(t *testing.T) {
	t.Parallel()
	s := newSession(t, "")
	run := func(args string) int {
		return cli.Run(s.env, perfrecv.New, append([]string{"-o", s.log}, strings.Fields(args)...))
	}
	pid := fmt.Sprint(os.Getpid())
	if code := run("--watch-only --watch-pid " + pid + " -d 50ms --run r"); code != 0 || !strings.Contains(s.stderr.String(), "samples only") {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	subs, ok, err := r.meta.Subscriptions()
	if r.b.Len() != 0 || r.meta[format.KeySchema] != "recv/1" || r.meta[format.KeyRun] != "r" || r.meta[format.KeyStop] != "duration" || !ok || err != nil || len(subs) != 0 {
		t.Errorf("%d rows, subscriptions %v, meta %v", r.b.Len(), subs, r.meta)
	}
	n := s.samples(t)
	if n["pid:"+pid+".rss_bytes"] < 1 || n["tool.rss_bytes"] < 1 {
		t.Errorf("samples %v", n)
	}
	for _, tt := range []struct{ args, text string }{
		{"--watch-only queue://q", "--watch-only receives nothing: leave out queue://q"},
		{"--watch-only --credit 5", "--credit has no meaning then"},
		{"--watch-only -d 0s", "-d 0s: must be above 0"},
		{"--watch-only --watch-pid 999999999", "--watch-pid"},
		{"-d 1s", "no ADDRESS given"},
	} {
		s.stderr.Reset()
		if code := run("--force " + tt.args); code != cli.ExitUsage || !strings.Contains(s.stderr.String(), tt.text) {
			t.Errorf("%s: exit %d: %s", tt.args, code, &s.stderr)
		}
	}
	s.signals <- syscall.SIGINT
	if code := run("--force --watch-only"); code != 0 {
		t.Errorf("interrupted: exit %d: %s", code, &s.stderr)
	}
	if r := s.read(t); r.meta[format.KeyStop] != "signal" {
		t.Errorf("stopped by %s", r.meta[format.KeyStop])
	}
}

// samples counts the samples of the log by name.
func (s *session) samples(t *testing.T) map[string]int {
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
	n := map[string]int{}
	for i := range b.Len() {
		what, _ := b.What.At(i)
		n[what]++
	}
	return n
}
