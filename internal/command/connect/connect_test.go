package connect

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

func parse(t *testing.T, env map[string]string, args ...string) *Flags {
	t.Helper()
	f := &Flags{}
	cmd := &cobra.Command{Use: "x"}
	f.Register(cmd, &cli.Env{Getenv: func(k string) string { return env[k] }})
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestConfigTakesEveryFlag(t *testing.T) {
	t.Parallel()
	f := parse(t, map[string]string{"AMQP_PASSWORD": "secret"},
		"-u", "amqps://broker:5671", "--user", "me", "--hostname", "vhost:x", "--container-id", "c", "--timeout", "3s", "--idle-timeout", "9s",
		"--tls-ca", "ca", "--tls-cert", "cert", "--tls-key", "key", "--tls-server-name", "sni", "--address-style", "artemis", "--client", "library")
	c, err := f.Config(timestamp.NewClock(), func(amqp.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	more, err := parse(t, nil, "--sasl", "anonymous", "--sndbuf", "64KiB", "--rcvbuf", "128KiB", "--max-frame-size", "16KiB", "--session-window", "2k", "--sessions", "shared").
		Config(timestamp.NewClock(), nil)
	if err != nil || more.SASL != link.SASLAnonymous || more.SndBuf != 65536 || more.RcvBuf != 131072 || more.MaxFrameSize != 16384 || more.SessionWindow != 2000 {
		t.Errorf("got %+v, %v", more, err)
	}
	want := link.TLS{CAFile: "ca", CertFile: "cert", KeyFile: "key", ServerName: "sni"}
	if c.TLS != want || c.Hostname != "vhost:x" || c.ContainerID != "c" || c.Timeout.Seconds() != 3 || c.IdleTimeout.Seconds() != 9 ||
		c.Client != link.ClientLibrary || c.Style.String() != "artemis" || c.Now == nil || c.OnEvent == nil {
		t.Errorf("got %+v", c)
	}
	if s := c.URL.String(); strings.Contains(s, "secret") || !strings.Contains(s, "me") {
		t.Errorf("URL prints as %s", s)
	}
}

func TestConfigRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"-u", "http://x"}, "--url"},
		{[]string{"--timeout", "0s"}, "--timeout"},
		{[]string{"--idle-timeout", "1s"}, "idle timeout"},
		{[]string{"--tls-ca", "x"}, "amqps"},
		{[]string{"--password-file", "x"}, "--user"},
		{[]string{"--sasl", "plain"}, "PLAIN needs a user"},
		{[]string{"--sasl", "anonymous", "--user", "u"}, "contradict"},
		{[]string{"--sasl", "external"}, "client certificate"},
		{[]string{"--max-frame-size", "100"}, "max-frame-size"},
		{[]string{"--max-frame-size", "17MiB"}, "max-frame-size"},
		{[]string{"--session-window", "3G"}, "--session-window"},
		{[]string{"--session-window", "5", "--client", "library"}, "--client own"},
	} {
		_, err := parse(t, nil, tc.args...).Config(timestamp.NewClock(), nil)
		var exit *cli.ExitError
		if !errors.As(err, &exit) || exit.Code != cli.ExitUsage || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want a usage error with %q", tc.args, err, tc.want)
		}
	}
}

func TestTargetDoesNotReplaceALog(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "x.parquet")
	env, clock := &cli.Env{}, timestamp.NewClock()
	target, err := OpenTarget(env, &cli.LogFlags{Output: name}, "perf-x", clock)
	if err != nil || target.Name != name || target.Made || target.Size() != -1 {
		t.Fatalf("%+v, %v", target, err)
	}
	if err := os.WriteFile(name, []byte("four"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTarget(env, &cli.LogFlags{Output: name}, "perf-x", clock); !errors.Is(err, format.ErrExists) {
		t.Errorf("an existing log: %v, want ErrExists", err)
	}
	if target, err = OpenTarget(env, &cli.LogFlags{Output: name, Force: true}, "perf-x", clock); err != nil || target.Size() != 4 {
		t.Errorf("--force: %+v, %v", target, err)
	}
	if target, err = OpenTarget(env, &cli.LogFlags{}, "perf-x", clock); err != nil || !target.Made || !strings.HasPrefix(target.Name, "perf-x-") {
		t.Errorf("no -o: %+v, %v", target, err)
	}
}

func TestDialReportsTheFirstErrorAndAnInterruption(t *testing.T) {
	t.Parallel()
	u, err := link.ParseURL("amqp://127.0.0.1:1") // nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	cfg := link.Config{URL: u, Now: timestamp.NewClock().Now, OnEvent: func(amqp.Event) {}}
	conns, err := Dial(t.Context(), cfg, 3)
	if err == nil || len(conns) != 3 {
		t.Fatalf("%d connections, %v", len(conns), err)
	}
	if Explain(t.Context(), err) != err { //nolint:errorlint // the same, not one like it
		t.Error("an error of connecting is not explained away")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	var exit *cli.ExitError
	if !errors.As(Explain(ended, err), &exit) || exit.Code != cli.ExitUnmet {
		t.Errorf("interrupted: %v", Explain(ended, err))
	}
}
