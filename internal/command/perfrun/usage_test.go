package perfrun

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/internal/cli"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/process"
)

// TestUsage shows what is said of command lines that make no sense.
func TestUsage(t *testing.T) {
	t.Parallel()
	yaml := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(yaml, []byte("addresses: queue://q\nsned: {}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ args, want string }{
		{"", "no SCENARIO or ADDRESS given"},
		{"a.yaml b.yaml", "one SCENARIO, or ADDRESSes"},
		{"--retry-failed q", "--retry-failed goes with --resume"},
		{"--resume d q", "--resume goes on with what is in its folder: give no SCENARIO or ADDRESS"},
		{"--resume d --seed 5", "--seed cannot change what an experiment was begun with"},
		{"--send --rate=5 " + yaml, "--send is for experiments without a SCENARIO: write it into the file"},
		{yaml, yaml + ":2:1: a scenario has no key \"sned\""},
		{"--repetitions 0 q", "--repetitions and --find-runs are at least 1"},
		{"--from-rate 5 q", "--from-rate goes with --find-max-rate"},
		{"--find-max-rate e2e.p99=5 q", `condition "e2e.p99=5": "e2e.p99=5": METRIC.STAT < VALUE is needed, such as e2e.p99 < 10ms`},
		{"--find-max-rate nope.p99<5ms q", `condition "nope.p99<5ms"`},
		{"--fail-if e2e.p99>x q", `gate "e2e.p99>x"`},
		{"--param rate q", `--param "rate": NAME=VALUE,VALUE... is needed`},
		{"--variant x=--nope=5 q", "--variant variant x: no program has an option --nope"},
		{"--variant amqp://h q", `--variant "amqp://h": LABEL=URL or LABEL='OPTIONS' is needed`},
		{"-u amqp://u:p@h q", "a password in a URL would be copied into the run directory"},
		{"--send --credit=5 q", "perf-send has no option --credit"},
		{"--like", "--like: one of artemis-client, artemis-producer, artemis-consumer, qpid-send, qpid-receive, and its arguments, must follow"},
		{"--like artemis-client --protocol CORE", "CORE is a protocol of Artemis alone"},
		{"--print --send-host a q --nope", "unknown flag: --nope"},
		{"--send-host a queue://q", "send is to run on a: perf-run starts programs on this host only, --print shows what to type where"},
	} {
		code, stdout, stderr := run(t, "", strings.Fields(test.args)...)
		if code != cli.ExitUsage || stdout != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit status %d, stdout %q, stderr\n%swant %s", test.args, code, stdout, stderr, test.want)
		}
	}
}

// TestPrintNeedsNothing: neither broker nor environment, and nothing is made.
func TestPrintNeedsNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := run(t, "", "--print", "-o", dir, "--variant", "a=${URL_A}", "--variant", "b=${URL_B}", "--param", "rate=5k,10k", "queue://q")
	if code != cli.ExitOK || stderr != "" || strings.Count(stdout, `AMQP_URL="${URL_A}" perf-send`) != 2 {
		t.Errorf("exit status %d, stderr %q, stdout\n%s", code, stderr, stdout)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the run directory was made")
	}
}

// TestHelpIsUnderstood: the options of the programs are read from their help, in all three forms.
func TestHelpIsUnderstood(t *testing.T) {
	t.Parallel()
	path, err := process.Find("perf-send")
	if err != nil {
		t.Fatal(err)
	}
	known, err := process.Options(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]plan.Value{"rate": plan.NeedsValue, "durable": plan.NoValue, "spin": plan.OptionalValue, "url": plan.NeedsValue, "version": plan.NoValue} {
		if got, ok := known[name]; !ok || got != want {
			t.Errorf("--%s: %v, %v", name, got, ok)
		}
	}
}

// TestLikeFitsThePrograms: what the options of other tools are mapped onto are options of ours.
func TestLikeFitsThePrograms(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"artemis-client --url tcp://h --protocol AMQP --user u --password p --clientID c --hdr f --num-destinations 2 --persistent --message-size 100 --rate 5 --ttl 5 --group g --shared-connections" +
			" --producers 2 --threads 2 --max-pending 5 --enable-msg-id --tx --durable --consumers 2 --consumer-connections 2 --consumer-url tcp://x --message-count 5 --duration 5 --warmup 2 --commit-interval 2 topic://t",
		"artemis-consumer --num-connections 2 --message-count 5 --duration 5 --warmup 1 --shared 3 topic://t",
		"qpid-send -b h -a q -m 5 -i id --durable yes --ttl 5 --priority 5 -P a=b --content-size 5 --capacity 5 --tx 5 --rollback-frequency 5 --send-rate 5",
		"qpid-receive -b h -a q -m 5 --timeout 5 --capacity 5 --ack-frequency 5 --tx 5 --rollback-frequency 2 --receive-rate 5",
		"qpid-receive -a q -f --ack-frequency 0 --connection-options {protocol:amqp1.0,username:u,container_id:c,sasl_mechanisms:PLAIN}",
	} {
		code, _, stderr := run(t, "", append([]string{"--print", "--like"}, strings.Fields(args)...)...)
		if code != cli.ExitOK {
			t.Errorf("%s: exit status %d: %s", args, code, stderr)
		}
	}
}
