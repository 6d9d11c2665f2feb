package perfrecv_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/join"
)

// A receiver whose monotonic clock is a day ahead, which makes it another host for
// all that the logs know: the sender's probes tie both, what is merged has a bound,
// and the truth, which is that both read one wall clock, is within it.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--time", "--monotonic", "1", "true").Run(); err != nil {
		t.Skipf("no time namespaces here: %v", err)
	}
	_, url := startBroker(t, broker.Config{})
	dir := t.TempDir()
	ready, sendLog, recvLog := filepath.Join(dir, "ready"), filepath.Join(dir, "send.parquet"), filepath.Join(dir, "recv.parquet")
	args := "-u " + url + " -n 20 -o " + recvLog + " --clock-listen 127.0.0.1:0 --ready-file " + ready + " queue://q"
	other := exec.Command("unshare", "--time", "--monotonic", "86400", "--fork", "--kill-child", os.Args[0])
	other.Env = append(os.Environ(), asProcess+"="+args)
	var stderr bytes.Buffer
	other.Stderr = &stderr
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(ready)
	text, err := os.ReadFile(ready)
	if err != nil {
		_ = other.Process.Kill()
		t.Fatalf("%v; %v: %s", err, other.Wait(), &stderr)
	}
	address := strings.Fields(strings.Split(string(text), "\n")[1])[1]
	sendTo(t, url, sendLog, "-n 20 -r 200 --clock-peer "+address+" --clock-token "+ready+" queue://q")
	if err := other.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	j, err := join.Open([]string{sendLog, recvLog}, join.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // it was read only
	raw := received(t, recvLog)
	rows := 0
	var b format.Merged
	for {
		if err := j.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			rows++
			if shift := b.Received[i] - raw[b.Seq[i]]; b.Bound[i] == format.Null || shift > b.Bound[i] || shift < -b.Bound[i] {
				t.Errorf("message %d is moved by %d ns, bound %d ns", b.Seq[i], shift, b.Bound[i])
			}
		}
	}
	acc := j.Accounting()
	if rows != 20 || acc.Clock.Source != clock.Probes || acc.Clock.BoundNS == nil {
		t.Errorf("%d rows, aligned by %s, bound %v: %v", rows, acc.Clock.Source, acc.Clock.BoundNS, acc.Notes)
	}
}

// received returns the received instants of a receive log by seq.
func received(t *testing.T, name string) map[int64]int64 {
	t.Helper()
	s := &session{log: name}
	r := s.read(t)
	at := map[int64]int64{}
	for i := range r.b.Len() {
		at[r.b.Seq[i]] = r.b.Received[i]
	}
	return at
}
