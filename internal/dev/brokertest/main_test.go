package brokertest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/dev/golden"
	"amqpperf/internal/dev/jsonpath"
)

// patience is how long a test waits for something that must happen, even if the machine has other things to do.
const patience = 3 * time.Minute

// What TestMain prepares for all tests; empty without a broker.
var bin, url string

// The tests that have used the broker.
var tested = &ran{passed: map[string]bool{}}

func TestMain(m *testing.M) {
	code, err := prepareAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "brokertest:", err)
		code = 1
	}
	os.Exit(code)
}

// prepareAndRun builds the commands, starts the broker and runs the tests.
func prepareAndRun(m *testing.M) (code int, err error) {
	broker := os.Getenv("PERF_TEST_BROKER")
	url = os.Getenv("PERF_TEST_AMQP_URL")
	if broker == "" && url == "" {
		return m.Run(), nil
	}
	bin, err = os.MkdirTemp("", "brokertest")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	if out, err := exec.Command("go", "build", "-o", bin, "amqpperf/cmd/perf-send", "amqpperf/cmd/perf-recv", "amqpperf/cmd/perf-merge", "amqpperf/cmd/perf-report").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("cannot build the commands: %w\n%s", err, out)
	}
	if url != "" {
		return m.Run(), nil
	}
	if err := writeCertificates(bin); err != nil {
		return 1, err
	}
	defer func() { err = stopBroker(err) }()
	if err := startBroker(); err != nil {
		return 1, err
	}
	code = m.Run()
	if golden.Update() {
		err = tested.keep(broker)
	}
	return code, err
}

// bench is one test's folder and queue.
type bench struct {
	testing.TB
	dir     string
	address string
	client  string // of perf-send and perf-recv: own or library
	many    int    // messages of a long run
	url     string // of the broker, "" for the usual one
	logs    int    // how many have a name by fresh
}

// newBench skips the test without a broker.
func newBench(t *testing.T, client string) *bench {
	if url == "" {
		t.Skip("no broker: set PERF_TEST_BROKER or PERF_TEST_AMQP_URL (make broker-test)")
	}
	tested.outcome(t)
	many := 100_000
	if client == "library" { // it is that much slower
		many = 10_000
	}
	name := strings.ReplaceAll(t.Name(), "/", "-")
	return &bench{TB: t, dir: t.TempDir(), address: fmt.Sprintf("queue://%s-%d", name, rand.Uint32()), client: client, many: many}
}

// bothClients runs a test with our own sessions and links, and with those of the library.
func bothClients(t *testing.T, test func(b *bench)) {
	for _, client := range []string{"own", "library"} {
		t.Run(client, func(t *testing.T) { test(newBench(t, client)) })
	}
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// process is a command that runs.
type process struct {
	b      *bench
	name   string
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
	ended  chan error
}

// start starts a command of ours in the test's folder; the test does not end before it.
func (b *bench) start(name string, args ...string) *process {
	b.Helper()
	if (name == "perf-send" || name == "perf-recv") && !slices.Contains(args, "--watch-only") {
		args = append([]string{"--client", b.client}, args...)
	}
	p := &process{b: b, name: name, cmd: exec.Command(filepath.Join(bin, name), args...), ended: make(chan error, 1)}
	p.cmd.Dir = b.dir
	p.cmd.Env = append(os.Environ(), "AMQP_URL="+cmp.Or(b.url, url))
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	b.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has usually ended
		p.ended <- <-p.ended
	})
	return p
}

// wait returns the exit status, −1 after a signal.
func (p *process) wait() int {
	p.b.Helper()
	select {
	case err := <-p.ended:
		p.ended <- err
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.b.Fatalf("%s did not end\n%s", p.cmd, p.stderr.String())
		return 0
	}
}

// want waits for the exit status that is expected.
func (p *process) want(status int) {
	p.b.Helper()
	if got := p.wait(); got != status {
		p.b.Fatalf("%s: exit status %d, want %d\n%s", p.cmd, got, status, p.stderr.String())
	}
}

func (p *process) signal(s syscall.Signal) {
	p.b.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.b.Fatalf("cannot signal %s: %v", p.name, err)
	}
}

// run runs a command to its end, which must be good, and returns its output.
func (b *bench) run(name string, args ...string) string {
	b.Helper()
	p := b.start(name, args...)
	p.want(0)
	return p.stdout.String()
}

// receiver starts perf-recv and waits until its consumers are attached.
func (b *bench) receiver(log string, args ...string) *process {
	b.Helper()
	ready := b.path(log + ".ready")
	p := b.start("perf-recv", append([]string{"-q", "-o", log, "--wait", "60s", "--ready-file", ready, b.address}, args...)...)
	b.eventually(p, log+" to be ready", func() bool {
		_, err := os.Lstat(ready)
		return err == nil
	})
	return p
}

// eventually waits for something that p is to do.
func (b *bench) eventually(p *process, what string, done func() bool) {
	b.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !done() {
		select {
		case err := <-p.ended:
			p.ended <- err
			b.Fatalf("waited for %s, but %s ended: %v\n%s", what, p.name, err, p.stderr.String())
		case <-limit:
			b.Fatalf("waited %v for %s\n%s", patience, what, p.stderr.String())
		case <-tick.C:
		}
	}
}

// rows counts the rows of a log, finished or not; 0 if it cannot be read yet.
func (b *bench) rows(log string) (n int) {
	l, err := format.Open(b.path(log))
	if err != nil {
		return 0
	}
	defer func() { _ = l.Close() }()
	batch := any(&format.Recv{}).(format.Batch)
	if l.Schema() == "send/1" {
		batch = &format.Send{}
	}
	for {
		if err := l.Read(batch); err != nil {
			if !errors.Is(err, io.EOF) {
				b.Logf("%s: %v", log, err)
			}
			return n
		}
		n += batch.Len()
	}
}

// report is the JSON report over logs.
type report struct {
	b    *bench
	text []byte
}

func (b *bench) report(logs ...string) report {
	b.Helper()
	return report{b, []byte(b.run("perf-report", append([]string{"-f", "json"}, logs...)...))}
}

// count returns a number of the report's counts.
func (r report) count(name string) int {
	r.b.Helper()
	n, err := jsonpath.Number(r.text, "/0/counts/"+name)
	if err != nil {
		r.b.Fatalf("report: %v\n%.3000s", err, r.text)
	}
	return int(n)
}

// wantCounts compares several counts, and that the outcomes add up to what was intended.
func (r report) wantCounts(want map[string]int) {
	r.b.Helper()
	for name, n := range want {
		if got := r.count(name); got != n {
			r.b.Errorf("%s: got %d, want %d", name, got, n)
		}
	}
	sum := 0
	for _, outcome := range []string{"accepted", "rejected", "released", "modified", "presettled", "unsettled", "failed", "unsent"} {
		sum += r.count(outcome)
	}
	if intended := r.count("intended"); sum != intended {
		r.b.Errorf("the outcomes add up to %d, %d were intended", sum, intended)
	}
}
