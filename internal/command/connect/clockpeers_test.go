package connect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// ahead is a clock that is off against that of the process, as another host's is.
type ahead struct {
	*timestamp.Clock
	by int64
}

func (a ahead) Now() int64 { return a.Clock.Now() + a.by }

func (a ahead) Anchor() timestamp.Anchor {
	x := a.Clock.Anchor()
	x.Wall += a.by
	x.ClockID, x.BootID = 77, "another boot"
	return x
}

func (a ahead) Time(instant int64) time.Time { return a.Clock.Time(instant - a.by) }

func clockFlags(t *testing.T, args ...string) *ClockFlags {
	t.Helper()
	return clockFlagsWith(t, "", args...)
}

// clockFlagsWith has a token in the environment.
func clockFlagsWith(t *testing.T, token string, args ...string) *ClockFlags {
	t.Helper()
	f := &ClockFlags{}
	cmd := &cobra.Command{Use: "x"}
	f.Register(cmd, &cli.Env{Getenv: func(name string) string {
		if name != "PERF_CLOCK_TOKEN" {
			return ""
		}
		return token
	}})
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// A receiver whose clock is 3 ms ahead: the rows of the sender and the anchors of
// both say so, within the bound.
func TestClockPeers(t *testing.T) {
	t.Parallel()
	const by = int64(3e6)
	sender := timestamp.NewClock()
	receiver := ahead{timestamp.NewClock(), by}
	token := probe.NewToken()
	server, err := probe.Listen("127.0.0.1:0", probe.ServerOptions{Token: token, Clock: receiver, Receiver: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close() //nolint:errcheck // nothing is lost with its sockets
	ready := filepath.Join(t.TempDir(), "ready")
	if err := os.WriteFile(ready, []byte("amqp://x\n"+ReadyClock(server, token)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ours := clock.Process{Host: "a", Anchor: sender.Anchor()}
	flags := clockFlags(t, "--clock-peer", server.Address(), "--clock-token", ready)
	flags.Burst = 200 * time.Millisecond
	peers, err := flags.New(sender, func(row recorder.ClockRow) {
		mu.Lock()
		defer mu.Unlock()
		peer, err := clock.ParsePeer(row.Peer)
		if err != nil {
			t.Error(err)
		}
		ours.Exchanges = append(ours.Exchanges, clock.Exchange{Peer: peer, T1: row.T1, T2: row.T2, T3: row.T3, T4: row.T4})
	})
	if err != nil {
		t.Fatal(err)
	}
	peers.Start(t.Context())
	at := sender.Now()
	if peers.Silent() != 0 {
		t.Error("no answer came")
	}
	if errs := peers.Finish(t.Context()); len(errs) > 0 {
		t.Error(errs)
	}
	theirs := clock.Process{Host: "b", Anchor: receiver.Anchor()}
	offset, bound, source := clock.Solve([]clock.Process{ours, theirs}, 0, clock.Policy{}).Model(1).At(at + by)
	if source != clock.Probes || offset+bound < -by || offset-bound > -by || bound > 1e9 {
		t.Errorf("offset %d ± %d by %s from %d exchanges, want %d", offset, bound, source, len(ours.Exchanges), -by)
	}
}

func TestClockFlagsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty, token := filepath.Join(dir, "empty"), filepath.Join(dir, "token")
	for name, text := range map[string]string{empty: "amqp://x\n", token: probe.NewToken().String() + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"--clock-token", token}, "whose clock?", cli.ExitUsage},
		{[]string{"--clock-peer", "h:1"}, "1 peers and 0 --clock-token", cli.ExitUsage},
		{[]string{"--clock-peer", "h:1", "--clock-peer", "h:2", "--clock-peer", "h:3", "--clock-token", token, "--clock-token", token}, "3 peers and 2", cli.ExitUsage},
		{[]string{"--clock-peer", "h", "--clock-token", token}, "--clock-peer: ", cli.ExitUsage},
		{[]string{"--clock-peer", "h:1", "--clock-token", empty}, "no clock token: perf-recv writes one", cli.ExitFailure},
		{[]string{"--clock-peer", "h:1", "--clock-token", dir + "/none"}, "no such file", cli.ExitFailure},
	} {
		_, err := clockFlags(t, tt.args...).New(timestamp.NewClock(), func(recorder.ClockRow) {})
		code := cli.ExitFailure
		var exit *cli.ExitError
		if errors.As(err, &exit) {
			code = exit.Code
		}
		if err == nil || code != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
		}
	}
	none, err := clockFlags(t).New(timestamp.NewClock(), nil)
	if err != nil {
		t.Fatal(err)
	}
	none.Start(t.Context())
	if errs := none.Finish(context.Background()); len(errs) > 0 {
		t.Error(errs)
	}
	one, err := clockFlags(t, "--clock-peer", "h:1", "--clock-token", token).New(timestamp.NewClock(), func(recorder.ClockRow) {})
	if err != nil || len(one.list) != 1 {
		t.Errorf("%+v, %v", one, err)
	}
	// The token of the environment is for all peers; a file comes before it.
	for _, args := range [][]string{{"--clock-peer", "h:1", "--clock-peer", "h:2"}, {"--clock-peer", "h:1", "--clock-peer", "h:2", "--clock-token", token}} {
		from := probe.NewToken().String()
		if len(args) > 4 {
			from = "wrong"
		}
		both, err := clockFlagsWith(t, from, args...).New(timestamp.NewClock(), func(recorder.ClockRow) {})
		if err != nil || len(both.list) != 2 {
			t.Errorf("%v: %+v, %v", args, both, err)
		}
	}
	if _, err := clockFlagsWith(t, "wrong", "--clock-peer", "h:1").New(timestamp.NewClock(), nil); err == nil || !strings.Contains(err.Error(), "$PERF_CLOCK_TOKEN") {
		t.Errorf("a wrong token in the environment: %v", err)
	}
}
