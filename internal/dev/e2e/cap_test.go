package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"amqpperf/internal/analysis/checks"
)

// limitBytes is the cap of the brokers of this test, on bytes that are unsettled at a consumer.
const limitBytes = 64 << 10

// A broker that lets 64 KiB be unsettled at a consumer, with a delay on the way: perf-report finds the bytes from what
// was received, at 10 and at 100 ms, and calls them a cap in the broker when it has both. The product of a rate and a
// time is as exact as the machine is idle: with SOAK=1 the bytes are found within a tenth, in one of a few tries; else the
// far one is tried once, and must be of that order.
func TestBrokerCap(t *testing.T) {
	t.Parallel()
	if os.Getenv("SOAK") == "" {
		got := received(t, cappedRun(t, "50ms", "1200"))
		if share := *got.Bytes / limitBytes; share < 0.1 || share > 1.3 {
			t.Errorf("%.0f bytes of %d: %s", *got.Bytes, limitBytes, got.Evidence)
		}
		return
	}
	const tries = 5
	var why string
	for range tries {
		near, far := cappedRun(t, "5ms", "6000"), cappedRun(t, "50ms", "3000")
		a, b := received(t, near), received(t, far)
		together := received(t, append(near, far...))
		if within(*a.Bytes) && within(*b.Bytes) && together.Held == checks.ByBrokerCap {
			return
		}
		why = a.Evidence + "; " + b.Evidence + "; together: " + together.Evidence
		t.Log(why)
	}
	t.Errorf("64 KiB ± 10 %% are not found in %d tries: %s", tries, why)
}

func within(bytes float64) bool { return bytes > 0.9*limitBytes && bytes < 1.1*limitBytes }

// cappedRun sends messages of 1 KiB through a capped broker with a delay each way, and returns the logs.
func cappedRun(t *testing.T, delay, messages string) []string {
	t.Helper()
	dir := t.TempDir()
	ready, attached := filepath.Join(dir, "url"), filepath.Join(dir, "attached")
	sent, got := filepath.Join(dir, "send.parquet"), filepath.Join(dir, "recv.parquet")
	broker := start(t, "perf-broker", "-q", "--listen", "127.0.0.1:0", "--ready-file", ready, "--delay", delay, "--max-unsettled-bytes", "64KiB")
	url := firstLine(t, ready)
	receiver := start(t, "perf-recv", "-q", "-u", url, "-n", messages, "--wait", "30s", "--credit", "5000", "--ack-every", "1", "--ready-file", attached, "-o", got, "queue://capped")
	firstLine(t, attached)
	for _, c := range []*exec.Cmd{start(t, "perf-send", "-q", "-u", url, "-r", "20k", "-n", messages, "-s", "1KiB", "--max-pending", "0", "-o", sent, "queue://capped"), receiver} {
		if err := c.Wait(); err != nil {
			t.Fatalf("%s: %v: %s", c.Path, err, c.Stderr)
		}
	}
	if err := broker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := broker.Wait(); err != nil {
		t.Errorf("perf-broker: %v: %s", err, broker.Stderr)
	}
	return []string{sent, got}
}

// start starts a program, which is killed at the end of the test if it still runs.
func start(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(name, args...)
	c.Stderr = &strings.Builder{}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if c.ProcessState == nil {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	return c
}

// firstLine waits for a file and returns its first line.
func firstLine(t *testing.T, path string) string {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-tick.C {
		text, err := os.ReadFile(path)
		if line, _, ok := strings.Cut(string(text), "\n"); err == nil && ok {
			return line
		}
	}
	t.Fatalf("waited %v for %s", patience, path)
	return ""
}

// received returns what perf-report says held the receiving side, of the first of the runs.
func received(t *testing.T, logs []string) checks.Limit {
	t.Helper()
	out, err := exec.Command("perf-report", append([]string{"-q", "-f", "json"}, logs...)...).Output()
	if err != nil {
		t.Fatalf("perf-report: %v", err)
	}
	var report struct {
		Limits []checks.Limit `json:"limits"`
	}
	if err := json.NewDecoder(strings.NewReader(string(out))).Decode(&report); err != nil {
		t.Fatal(err)
	}
	for _, l := range report.Limits {
		if l.Side == checks.Receiving && l.Bytes != nil {
			return l
		}
	}
	t.Fatalf("nothing is said of what held the receiving side: %+v", report.Limits)
	return checks.Limit{}
}
