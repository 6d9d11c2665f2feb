package perfrecv_test

import (
	"runtime"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
)

// The log has samples of the tool and of what is not settled on each connection.
func TestSamples(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 20 queue://q")
	s := newSession(t, url)
	// 20 messages are fewer than are settled together: they stay unsettled until the end.
	if code := s.run("-d 1100ms --ack-every 100 --watch-name no-such-broker queue://q"); code != 0 {
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
	kinds := []string{"tool.goroutines_count", "conn.0.waiting_messages", "conn.0.unsettled_messages", "conn.0.credit_messages", "name:no-such-broker.processes_count"}
	if runtime.GOOS == "linux" {
		kinds = append(kinds, "conn.0.rtt_ns", "conn.0.unsent_bytes", "conn.0.retransmits_count")
	}
	for _, what := range kinds {
		if n[what] < 2 {
			t.Errorf("%d samples of %s, want at least 2", n[what], what)
		}
	}
	if credit < 900 || credit > 1000 { // of 1000, 20 are used
		t.Errorf("a credit of %d messages", credit)
	}
	if unsettled != 20 || !strings.Contains(s.stderr.String(), "nothing yet: --watch-name no-such-broker") {
		t.Errorf("at most %d messages were unsettled, want 20; %s", unsettled, &s.stderr)
	}
}
