package perfsend_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/probe"
	"amqpperf/timestamp"
)

// One object each second and one at the end, which add up to the rows, and
// nothing for people beside them.
func TestStatsJSON(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	if code := s.run("-u " + url + " --stats json -r 200 -d 1200ms --warmup 500ms --tx 10 -o " + s.log + " queue://a"); code != 0 || s.stderr.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	list := objects(t, s.stdout.String())
	var sent int64
	for i, o := range list[:len(list)-1] {
		sent += o.Counts.Sent
		if o.Schema != live.Schema || o.Kind != live.KindSecond || o.Totals.Sent != sent || o.Warmup != (i == 0) {
			t.Errorf("object %d: %+v", i, o)
		}
	}
	o := list[len(list)-1]
	if len(list) < 2 || o.Kind != live.KindSummary || o.Stop != "duration" || o.Totals.Sent != 240 || o.Totals.Committed != 24 || sent > 240 ||
		o.Metrics["service"].N != 140 || o.Metrics["send_delay"].N != 140 || o.Metrics["commit"].N != 24 {
		t.Errorf("%d objects, summary after %d sent: %+v", len(list), sent, o)
	}
	piped := newSession(t)
	if code := piped.run("-u " + url + " --stats json -n 5 -o - queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &piped.stderr)
	}
	if list := objects(t, piped.stderr.String()); list[len(list)-1].Totals.Sent != 5 {
		t.Errorf("with the log on standard output: %s", &piped.stderr)
	}
}

// object is what a line of --stats json says.
type object struct {
	Schema  string                  `json:"schema"`
	Kind    string                  `json:"kind"`
	Stop    string                  `json:"stop"`
	Warmup  bool                    `json:"warmup"`
	Counts  live.Send               `json:"counts"`
	Totals  live.Send               `json:"totals"`
	Metrics map[string]live.Latency `json:"metrics"`
}

func objects(t *testing.T, out string) (list []object) {
	t.Helper()
	for line := range strings.Lines(out) {
		var o object
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, o)
	}
	if len(list) == 0 {
		t.Fatal("no objects")
	}
	return list
}

// Exchanges with a clock server stand in the log, from before the first message to
// after the last.
func TestClockPeer(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	token := probe.NewToken()
	server, err := probe.Listen("127.0.0.1:0", probe.ServerOptions{Token: token, Clock: timestamp.NewClock(), Receiver: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // nothing is lost with its sockets
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	if code := s.run("-u " + url + " --clock-peer " + server.Address() + " --clock-token " + file + " -r 100 -d 100ms -q -o " + s.log + " queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	l, err := format.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	var b format.ClockRow
	if err := l.Table(&b); err != nil {
		t.Fatal(err)
	}
	before, after := 0, 0
	for i := range b.Len() {
		if peer, ok := b.Peer.At(i); !ok || peer == "" {
			continue
		}
		if b.T1[i] > b.T4[i] || b.T2[i] > b.T3[i] {
			t.Errorf("exchange %d: %d, %d, %d, %d", i, b.T1[i], b.T2[i], b.T3[i], b.T4[i])
		}
		if b.T4[i] < r.b.Intended[0] {
			before++
		}
		if b.T1[i] > r.b.Intended[r.b.Len()-1] {
			after++
		}
	}
	if before < 20 || after < 20 {
		t.Errorf("%d exchanges before and %d after the run", before, after)
	}
}

// A peer that does not answer is an error before anything is sent.
func TestClockPeerIsSilent(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	server, err := probe.Listen("127.0.0.1:0", probe.ServerOptions{Token: probe.NewToken(), Clock: timestamp.NewClock()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // nothing is lost with its sockets
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(probe.NewToken().String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t)
	if code := s.run("-u " + url + " --clock-peer " + server.Address() + " --clock-token " + file + " -n 1 -o " + s.log + " queue://a"); code != 1 || !strings.Contains(s.stderr.String(), "1 of 1 do not answer") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	if _, err := os.Stat(s.log); err == nil {
		t.Error("there is a log")
	}
}
