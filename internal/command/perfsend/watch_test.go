package perfsend_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
)

// samples returns the values of the log's sample/1 by quantity.
func (s *session) samples(t *testing.T) map[string][]int64 {
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
	out := map[string][]int64{}
	for i := range b.Len() {
		what, _ := b.What.At(i)
		out[what] = append(out[what], b.Value[i])
	}
	return out
}

// Once a second the log has what the tool, its links and the watched process do.
func TestSamples(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{Credit: 700})
	s := newSession(t)
	pid := os.Getpid()
	if code := s.run(fmt.Sprintf("-u %s -r 100 -d 1100ms --producers 2 --connections 1 --max-pending 30 --watch-pid %d --watch-name no-such-broker -o %s queue://a", url, pid, s.log)); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	got := s.samples(t)
	kinds := []string{"tool.goroutines_count", "host.cpus_count", "conn.0.credit_messages", "conn.0.unsettled_messages", "conn.0.unsettled_bytes", "conn.0.window_messages"}
	if runtime.GOOS == "linux" {
		kinds = append(kinds, "conn.0.rtt_ns", "conn.0.cwnd_segments", "conn.0.unsent_bytes", "conn.0.retransmits_count")
	}
	for _, what := range kinds {
		if n := len(got[what]); n < 1 { // how many there are is up to the host
			t.Errorf("%d samples of %s in %v", n, what, got)
		}
	}
	// Two producers share the connection.
	if w := got["conn.0.window_messages"]; len(w) == 0 || w[0] > 60 || w[0] < 30 {
		t.Errorf("room in both windows: %v, want 60 at the start", w)
	}
	if c := got["conn.0.credit_messages"]; len(c) == 0 || c[0] > 1400 || c[0] < 700 {
		t.Errorf("credit of both links: %v, want 1400 at the start", c)
	}
	if cpu := got[fmt.Sprintf("pid:%d.cpu_ns", pid)]; len(cpu) < 1 {
		t.Errorf("the watched process: %v", cpu)
	}
	if n := got["name:no-such-broker.processes_count"]; len(n) < 1 || n[0] != 0 || !strings.Contains(s.stderr.String(), "nothing yet: --watch-name no-such-broker") {
		t.Errorf("a name that nothing has: %v; %s", n, &s.stderr)
	}
	var c struct {
		Watch []string `json:"watch"`
	}
	if _, err := s.read(t).meta.JSON(format.KeyConfig, &c); err != nil || len(c.Watch) != 2 || c.Watch[1] != "name:no-such-broker" {
		t.Errorf("perf.config: %v, %v", c.Watch, err)
	}
	bad := newSession(t)
	if code := bad.run("-u " + url + " --watch-pid 0 -n 1 -o " + bad.log + " queue://a"); code != 2 || !strings.Contains(bad.stderr.String(), "--watch-pid 0") {
		t.Errorf("process 0: exit %d: %s", code, &bad.stderr)
	}
}
