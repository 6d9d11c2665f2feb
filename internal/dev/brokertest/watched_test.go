package brokertest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"amqpperf/format"
)

// TestWatched: CPU and memory of the broker are in the logs of all three ways to watch it, the third without a connection.
func TestWatched(t *testing.T) {
	ours(t)
	b := newBench(t, "own")
	pid := b.broker("pid")
	if name, err := os.ReadFile("/proc/" + pid + "/comm"); err != nil || strings.TrimSpace(string(name)) != processName() {
		t.Fatalf("process %s is %q, %v: not the broker", pid, name, err)
	}
	b.run("perf-send", "-q", "-o", "send.parquet", "-r", "100", "-d", "2s", "--watch-pid", pid, b.address)
	b.run("perf-recv", "-q", "-o", "recv.parquet", "-n", "200", "--watch-name", processName(), b.address)
	alone := b.start("perf-recv", "-q", "-o", "broker.parquet", "-d", "2s", "--watch-only", "--watch-pid", pid)
	alone.want(0)
	for log, name := range map[string]string{"send.parquet": pid, "recv.parquet": processName(), "broker.parquet": pid} {
		cpu, rss := b.sampleOf(log, name, ".cpu"), b.sampleOf(log, name, ".rss")
		if rss < 1<<20 || cpu < 0 {
			t.Errorf("%s: CPU %d, memory %d", log, cpu, rss)
		}
	}
}

// sampleOf returns the last value of a quantity about something watched, -1 if there is none.
func (b *bench) sampleOf(log, name, quantity string) (value int64) {
	b.Helper()
	value = -1
	l, err := format.Open(b.path(log))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var t format.Sample
	if err := l.Table(&t); err != nil {
		b.Fatal(err)
	}
	for i := range t.Len() {
		if what, _ := t.What.At(i); strings.Contains(what, name) && strings.Contains(what, quantity) {
			value = t.Value[i]
		}
	}
	return value
}

// TestReadyFile: it is there as soon as everything is attached, with the URL, and gone at the end.
func TestReadyFile(t *testing.T) {
	b := newBench(t, "own")
	recv := b.receiver("recv.parquet", "-n", strconv.Itoa(5))
	text, err := os.ReadFile(b.path("recv.parquet.ready"))
	if err != nil || !strings.HasPrefix(string(text), "amqp://") {
		t.Errorf("ready file: %q, %v", text, err)
	}
	b.park(5) // without a wait: a consumer of a topic would miss them
	recv.want(0)
	if _, err := os.Lstat(b.path("recv.parquet.ready")); err == nil {
		t.Error("the ready file is left")
	}
}
