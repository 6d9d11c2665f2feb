package brokertest

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"amqpperf/format"
)

// TestSoakThousand runs a thousand producers at 10 messages a second each, and a thousand consumers, each on a connection of its own,
// while the broker is watched: every message has its row, whatever the broker manages, and every error of a client is an event.
func TestSoakThousand(t *testing.T) {
	soak(t)
	b := newBench(t, "own")
	const pairs, seconds = 1000, 15
	n := fmt.Sprint(pairs)
	recv := b.receiver("recv.parquet", "--consumers", n, "--timeout", "60s", "--reconnect")
	send := b.start("perf-send", "-o", "send.parquet", "--producers", n, "--rate-per-producer", "10", "-d", fmt.Sprintf("%ds", seconds), "-s", "100",
		"--timeout", "60s", "--drain", "120s", "--reconnect", "--resend", "--watch-name", processName(), b.address)
	if status := send.wait(); status != 0 {
		t.Errorf("perf-send: exit status %d", status)
	}
	b.eventually(recv, "all that was accepted", func() bool { return b.missing("send.parquet", "recv.parquet") == 0 })
	recv.signal(syscall.SIGTERM)
	recv.want(0)

	rows := b.sent("send.parquet")
	messages := map[[2]int64]bool{}
	failed := 0
	for _, r := range rows {
		messages[[2]int64{r.key[1], r.key[2]}] = true
		if r.outcome == format.Failed {
			failed++
		}
	}
	if len(messages) != pairs*seconds*10 || len(rows) != len(messages)+failed {
		t.Errorf("%d rows of %d messages, %d failed", len(rows), len(messages), failed)
	}
	r := b.report("send.parquet", "recv.parquet")
	for name, want := range map[string]int{"intended": pairs * seconds * 10, "accepted": pairs * seconds * 10, "lost": 0, "unsent": 0, "unsettled": 0} {
		if got := r.count(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
	cpu, rss := b.sampleOf("send.parquet", processName(), ".cpu"), b.sampleOf("send.parquet", processName(), ".rss")
	if cpu <= 0 || rss < 1<<20 {
		t.Errorf("the broker's CPU and memory in the log: %d ns, %d bytes", cpu, rss)
	}
	t.Logf("the broker used %v of CPU and has %d MiB", time.Duration(cpu), rss>>20)
	errors := 0
	for _, log := range []string{"send.parquet", "recv.parquet"} {
		for _, e := range b.events(log) {
			if e.kind == "error" || e.kind == "detach" || e.kind == "reconnect" {
				errors++
			}
		}
	}
	t.Logf("%d messages, %d rows, %d failed, %d events of errors\n%s\n%s", len(messages), len(rows), failed, errors, send.stderr.String(),
		b.run("perf-report", "send.parquet", "recv.parquet"))
}

// processName is that of the broker's process.
func processName() string {
	switch os.Getenv("PERF_TEST_BROKER") {
	case "rabbitmq":
		return "beam.smp"
	case "proton":
		return "broker"
	default:
		return "java"
	}
}
