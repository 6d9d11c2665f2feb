package perfrecv_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// ask asks for the time at an address and returns the rows.
func ask(t *testing.T, address string, token probe.Token) ([]recorder.ClockRow, error) {
	t.Helper()
	var mu sync.Mutex
	var rows []recorder.ClockRow
	p, err := probe.New(probe.Options{
		Address: address, Token: token, Clock: timestamp.NewClock(), Burst: 20, BurstTime: 100 * time.Millisecond, Patience: 200 * time.Millisecond,
		Emit: func(row recorder.ClockRow) {
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, row)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Finish()
	err = p.Run(t.Context())
	mu.Lock()
	defer mu.Unlock()
	return rows, err
}

// The ready file has address and token for its owner alone; who knows it is
// answered with the receiver's anchor, who does not hears nothing.
func TestClockListen(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, url)
	ready := filepath.Join(s.dir, "ready")
	var wg sync.WaitGroup
	wg.Go(func() {
		awaitFile(ready)
		defer func() { s.signals <- os.Interrupt }()
		b, err := os.ReadFile(ready)
		if err != nil {
			t.Error(err)
			return
		}
		lines := strings.Split(string(b), "\n")
		words := strings.Fields(lines[1])
		if st, err := os.Stat(ready); err != nil || st.Mode().Perm() != 0o600 || len(lines) != 3 || lines[0] != url || len(words) != 3 || words[0] != "clock" {
			t.Errorf("ready file %q, %v, %v", b, st, err)
			return
		}
		token, err := probe.ParseToken(words[2])
		if err != nil {
			t.Error(err)
			return
		}
		rows, err := ask(t, words[1], token)
		if err != nil || len(rows) == 0 {
			t.Errorf("%d rows, %v", len(rows), err)
			return
		}
		peer, err := clock.ParsePeer(rows[0].Peer)
		if err != nil || !peer.Anchor || peer.ClockID != timestamp.NewClock().Anchor().ClockID {
			t.Errorf("peer %q, %v", rows[0].Peer, err)
		}
		if rows, err := ask(t, words[1], probe.NewToken()); err == nil || len(rows) > 0 {
			t.Errorf("%d answers to a wrong token, %v", len(rows), err)
		}
	})
	code := s.run("--clock-listen 127.0.0.1:0 --ready-file " + ready + " queue://q")
	wg.Wait()
	if code != 0 || !strings.Contains(s.stderr.String(), "clock probes at 127.0.0.1:") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	events := s.events(t)
	if len(events["clock"]) != 1 || strings.HasPrefix(events["clock"][0], "0 questions answered") || strings.Contains(events["clock"][0], ": 0 with a wrong token") {
		t.Errorf("events %v", events)
	}
	for _, tt := range []struct {
		args string
		code int
		text string
	}{
		{"--clock-listen 127.0.0.1:0", cli.ExitUsage, "give --ready-file FILE"},
		{"--clock-listen :7000 --ready-file x", cli.ExitUsage, "want HOST:PORT, both of them"},
		{"--clock-listen 127.0.0.1 --ready-file x", cli.ExitUsage, "want HOST:PORT"},
		{"--clock-listen 127.0.0.1:99999 --ready-file x", cli.ExitFailure, "--clock-listen: clock probes: listen on 127.0.0.1:99999"},
	} {
		s := newSession(t, url)
		if code := s.run(tt.args + " queue://q"); code != tt.code || !strings.Contains(s.stderr.String(), tt.text) {
			t.Errorf("%s: exit %d: %s", tt.args, code, &s.stderr)
		}
	}
}
