//go:build !race

package crash

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfbroker"
	"amqpperf/internal/command/perfmerge"
	"amqpperf/internal/command/perfrecv"
	"amqpperf/internal/command/perfreport"
	"amqpperf/internal/command/perfsend"
)

// asCommand makes the test binary the command of that name: what is tested is a process of its own, as a user has it.
const asCommand = "PERF_TEST_COMMAND"

func TestMain(m *testing.M) {
	commands := map[string]func(*cli.Env) *cobra.Command{
		"perf-send": perfsend.New, "perf-recv": perfrecv.New, "perf-merge": perfmerge.New, "perf-report": perfreport.New, "perf-broker": perfbroker.New,
	}
	if construct, ok := commands[os.Getenv(asCommand)]; ok {
		os.Exit(cli.Main(construct))
	}
	os.Exit(m.Run())
}

// patience is how long a test waits for something that must happen.
const patience = 60 * time.Second

// bench is the folder of one test.
type bench struct {
	testing.TB
	dir string
	url string // of its perf-broker, "" before there is one
}

func newBench(t *testing.T) *bench { return &bench{TB: t, dir: t.TempDir()} }

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// command prepares one of our commands, to run in the bench's folder.
func (b *bench) command(name string, args ...string) *exec.Cmd {
	b.Helper()
	exe, err := os.Executable()
	b.must(err)
	c := exec.Command(exe, args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), asCommand+"="+name, "AMQP_URL="+b.url, "HOME="+b.dir)
	return c
}

// process is a command that runs.
type process struct {
	b      *bench
	name   string
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
	ended  chan struct{}
}

// start starts a command of ours; it does not outlive the test.
func (b *bench) start(name string, args ...string) *process {
	b.Helper()
	p := &process{b: b, name: name, cmd: b.command(name, args...), ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.begin()
	return p
}

func (p *process) begin() {
	p.b.Helper()
	p.b.must(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // its status is looked at where it is expected
		close(p.ended)
	}()
	p.b.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it has usually ended
		<-p.ended
	})
}

// status waits for the end and returns the exit status, −1 after a signal.
func (p *process) status() int {
	p.b.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.b.Fatalf("%s did not end\n%s", p.name, p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// want waits for the exit status that is expected and checks that the program did not panic.
func (p *process) want(status int) {
	p.b.Helper()
	if got := p.status(); got != status {
		p.b.Fatalf("%s %s: exit status %d, want %d\n%s", p.name, strings.Join(p.cmd.Args[1:], " "), got, status, p.stderr.String())
	}
	p.sober()
}

// sober checks that the program did not panic.
func (p *process) sober() {
	p.b.Helper()
	if text := p.stderr.String(); strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") || strings.Contains(text, "DATA RACE") {
		p.b.Errorf("%s %s panicked:\n%s", p.name, strings.Join(p.cmd.Args[1:], " "), text)
	}
}

// says checks that standard error has a text.
func (p *process) says(text string) {
	p.b.Helper()
	if !strings.Contains(p.stderr.String(), text) {
		p.b.Errorf("%s %s does not say %q:\n%s", p.name, strings.Join(p.cmd.Args[1:], " "), text, p.stderr.String())
	}
}

// signal sends a signal to a process that may have ended.
func (p *process) signal(s syscall.Signal) {
	p.b.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.b.Fatalf("cannot signal %s: %v", p.name, err)
	}
}

// run runs a command to its end, with the exit status that is expected.
func (b *bench) run(status int, name string, args ...string) *process {
	b.Helper()
	p := b.start(name, args...)
	p.want(status)
	return p
}

// broker starts perf-broker for this bench.
func (b *bench) broker(flags ...string) *process {
	b.Helper()
	p := b.start("perf-broker", append([]string{"-q", "--listen", "127.0.0.1:0", "--ready-file", "broker.ready"}, flags...)...)
	b.eventually(p, "a broker that is ready", func() bool {
		text, err := os.ReadFile(b.path("broker.ready"))
		first, _, whole := strings.Cut(string(text), "\n")
		b.url = first
		return err == nil && whole
	})
	return p
}

// eventually waits for something that p is to do.
func (b *bench) eventually(p *process, what string, done func() bool) {
	b.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !done() {
		select {
		case <-p.ended:
			if !done() {
				b.Fatalf("waited for %s, but %s ended\n%s", what, p.name, p.stderr.String())
			}
		case <-limit:
			b.Fatalf("waited %v for %s\n%s", patience, what, p.stderr.String())
		case <-tick.C:
		}
	}
}

// exists reports whether there is something of that name.
func (b *bench) exists(name string) bool {
	_, err := os.Lstat(b.path(name))
	return err == nil
}
