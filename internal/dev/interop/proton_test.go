package interop

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/dev/jsonpath"
)

// protonResult is what testdata/proton_client.py prints.
type protonResult struct {
	Outcomes       map[string]int `json:"outcomes"`
	Sizes          map[string]int `json:"sizes"`
	DeliveryCounts map[string]int `json:"delivery_counts"`
	Kinds          map[string]int `json:"kinds"`
}

func proton(t *testing.T, url string, args ...string) (r protonResult) {
	t.Helper()
	python(t, url, &r, "proton_client.py", args...)
	return r
}

// TestProtonBothSides uses perf-broker with a client that shares no code with ours.
func TestProtonBothSides(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	url := broker(t)
	if d := cmp.Diff(map[string]int{"accepted": 3000}, proton(t, url, "send", "q", "3000", "100").Outcomes); d != "" {
		t.Errorf("outcomes (-want +got)\n%s", d)
	}
	// Messages that are released come again.
	for _, how := range []string{"release", "accept"} {
		got := proton(t, url, "receive", "q", "3000", how)
		if d := cmp.Diff(map[string]int{"100": 3000}, got.Sizes); d != "" {
			t.Errorf("%s: sizes (-want +got)\n%s", how, d)
		}
	}
	// A message larger than a frame.
	proton(t, url, "send", "large", "10", "300000")
	if d := cmp.Diff(map[string]int{"300000": 10}, proton(t, url, "receive", "large", "10", "accept").Sizes); d != "" {
		t.Errorf("large messages: sizes (-want +got)\n%s", d)
	}
}

// TestProtonReceivesOurs checks what perf-send puts on the wire.
func TestProtonReceivesOurs(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	url := broker(t)
	log := filepath.Join(t.TempDir(), "send.parquet")
	run(t, url, command(t, "perf-send"), "-q", "-o", log, "-n", "500", "-s", "777", "queue://ours")
	got := proton(t, url, "receive", "ours", "500", "accept")
	if d := cmp.Diff(protonResult{Sizes: map[string]int{"777": 500}, DeliveryCounts: map[string]int{"0": 500}, Kinds: map[string]int{"bytes": 500}}, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// TestProtonRejects shows a consumer's rejection to nobody but the broker: the sender was answered before.
func TestProtonRejects(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	url := broker(t)
	log := filepath.Join(t.TempDir(), "send.parquet")
	run(t, url, command(t, "perf-send"), "-q", "-o", log, "-n", "100", "queue://rejected")
	proton(t, url, "receive", "rejected", "100", "reject")
	report := []byte(run(t, "", command(t, "perf-report"), "-f", "json", log))
	if n, err := jsonpath.Number(report, "/0/counts/accepted"); n != 100 || err != nil {
		t.Errorf("accepted: %v, %v", n, err)
	}
}

// TestForeign gives perf-recv messages of somebody else: it must put them back and say where they are.
func TestForeign(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	url := broker(t)
	proton(t, url, "send", "production", "20", "50")
	c := exec.Command(command(t, "perf-recv"), "-q", "-u", url, "-o", filepath.Join(t.TempDir(), "recv.parquet"), "--idle", "1s", "queue://production")
	out, err := c.CombinedOutput()
	if c.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "production") {
		t.Errorf("got %v, want exit status 1 and the address:\n%s", err, out)
	}
	if d := cmp.Diff(map[string]int{"50": 20}, proton(t, url, "receive", "production", "20", "accept").Sizes); d != "" {
		t.Errorf("the messages are not all back (-want +got)\n%s", d)
	}
}
