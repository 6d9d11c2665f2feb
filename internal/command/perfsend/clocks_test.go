package perfsend

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/probe"
	"amqpperf/timestamp"
)

// withClock runs the command against a broker, with a clock to ask; the questions
// before and after take 100 ms.
func withClock(t *testing.T, peer string, token probe.Token, log string) (stderr string, err error) {
	t.Helper()
	b, err := broker.New(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	defer func() {
		_ = b.Close() // the run is over
		<-served
	}()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }, Signals: make(chan os.Signal), Exit: func(int) {}}
	o := newOptions()
	o.clock.Burst = 100 * time.Millisecond
	cmd := &cobra.Command{Use: "x"}
	o.register(cmd, env)
	if err := cmd.ParseFlags([]string{"-u", "amqp://" + l.Addr().String(), "--clock-peer", peer, "--clock-token", file, "-r", "100", "-d", "100ms", "-q", "-o", log}); err != nil {
		t.Fatal(err)
	}
	r, err := prepare(env, o, cmd.Flags(), []string{"queue://a"})
	if err != nil {
		t.Fatal(err)
	}
	err = r.run(t.Context())
	return out.String(), err
}

// Exchanges with a clock server stand in the log, from before the first message to
// after the last.
func TestClockPeer(t *testing.T) {
	t.Parallel()
	token := probe.NewToken()
	server, err := probe.Listen("127.0.0.1:0", probe.ServerOptions{Token: token, Clock: timestamp.NewClock(), Receiver: 5})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // nothing is lost with its sockets
	log := filepath.Join(t.TempDir(), "send.parquet")
	if stderr, err := withClock(t, server.Address(), token, log); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	l, err := format.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	var rows format.Send
	if err := l.Read(&rows); err != nil {
		t.Fatal(err)
	}
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
		if b.T4[i] < rows.Intended[0] {
			before++
		}
		if b.T1[i] > rows.Intended[rows.Len()-1] {
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
	log := filepath.Join(t.TempDir(), "send.parquet")
	if stderr, err := withClock(t, "127.0.0.1:1", probe.NewToken(), log); err == nil || !strings.Contains(err.Error(), "1 of 1 do not answer") {
		t.Errorf("%v: %s", err, stderr)
	}
	if _, err := os.Stat(log); err == nil {
		t.Error("there is a log")
	}
}
