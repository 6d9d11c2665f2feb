//go:build !race

package crash

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"amqpperf/format"
)

// piped starts a command whose standard output is a pipe, and returns the end that is read.
func (b *bench) piped(name string, args ...string) (*process, *os.File) {
	b.Helper()
	p := &process{b: b, name: name, cmd: b.command(name, args...), ended: make(chan struct{})}
	r, w, err := os.Pipe()
	b.must(err)
	b.Cleanup(func() { _ = r.Close() }) // usually closed before
	p.cmd.Stdout, p.cmd.Stderr = w, &p.stderr
	p.begin()
	b.must(w.Close())
	return p, r
}

// TestReaderGoes: "| head" ends a recorder in order, with exit 1 and a word, and an offline tool as it does every filter.
func TestReaderGoes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker("--credit", "100000", "--log", "broker.csv")
	b.run(0, "perf-send", "-q", "-o", "ok.parquet", "-n", "20000", "queue://q")
	for name, args := range map[string][]string{
		"perf-recv": {"-q", "-o", "-", "queue://q"},
		"perf-send": {"-q", "-o", "-", "-r", "1k", "-d", "300s", "queue://p"},
	} {
		p, r := b.piped(name, args...)
		if _, err := io.ReadFull(r, make([]byte, 4096)); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, p.stderr.String())
		}
		b.must(r.Close())
		p.want(1)
		p.says("the log's reader has gone")
	}
	for name, args := range map[string][]string{
		"perf-merge":  {"-q", "-f", "csv", "ok.parquet"},
		"perf-report": {"-f", "csv", "ok.parquet"},
	} {
		p, r := b.piped(name, args...)
		b.must(r.Close())
		p.status()
		p.sober()
		if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && !(s.Signaled() && s.Signal() == syscall.SIGPIPE) && p.cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%s: %v, want SIGPIPE or exit status 1", name, p.cmd.ProcessState)
		}
	}
}

// TestSlowReader: a reader that reads nothing until everything was sent and received gets every row all the same, and holds up nobody.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker("--log", "broker.csv")
	const n = 20_000 // more than a pipe holds
	recv, recvPipe := b.piped("perf-recv", "-q", "-o", "-", "-n", "20000", "queue://q")
	send, sendPipe := b.piped("perf-send", "-q", "-o", "-", "-n", "20000", "queue://q")
	b.eventually(recv, "everything to be received", func() bool {
		text, err := os.ReadFile(b.path("broker.csv"))
		return err == nil && bytes.Count(text, []byte("\n")) > n // a line for each that is settled, below the header
	})
	for name, r := range map[string]*os.File{"send": sendPipe, "recv": recvPipe} {
		l, err := format.OpenStream(name, slow{r})
		b.must(err)
		rows := 0
		batch := map[string]format.Batch{"send": &format.Send{}, "recv": &format.Recv{}}[name]
		for {
			if err := l.Read(batch); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(name, err)
			}
			rows += batch.Len()
		}
		if rows != n || !l.Complete() {
			t.Errorf("%s: %d of %d rows, complete %v", name, rows, n, l.Complete())
		}
		b.must(l.Close())
	}
	recv.want(0)
	send.want(0)
}

// slow reads in small pieces.
type slow struct{ r io.Reader }

// Read implements io.Reader.
func (s slow) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 97)]) }

// TestNoFile: devices and FIFOs are written as streams, and nothing is left beside them.
func TestNoFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker()
	b.must(syscall.Mkfifo(b.path("fifo"), 0o600))
	b.run(0, "perf-send", "-q", "-o", "ok.parquet", "-n", "10", "queue://other")
	for name, args := range map[string][]string{
		"perf-send":  {"-q", "-n", "10", "queue://q", "-o"},
		"perf-recv":  {"-q", "-n", "10", "queue://r", "-o"},
		"perf-merge": {"-q", "-f", "arrow", "ok.parquet", "-o"},
	} {
		feed := func() {
			if name == "perf-recv" {
				b.run(0, "perf-send", "-q", "-n", "10", "-o", "/dev/null", "queue://r")
			}
		}
		feed()
		b.run(0, name, append(args, "/dev/null")...)
		feed()
		p := b.start(name, append(args, "fifo")...)
		l, err := format.Open(b.path("fifo"))
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, p.stderr.String())
		}
		batch := map[string]format.Batch{"perf-send": &format.Send{}, "perf-recv": &format.Recv{}, "perf-merge": &format.Merged{}}[name]
		rows := 0
		for {
			if err := l.Read(batch); err != nil {
				break
			}
			rows += batch.Len()
		}
		b.must(l.Close())
		p.want(0)
		if rows != 10 {
			t.Errorf("%s: %d rows through a FIFO", name, rows)
		}
	}
	if left, _ := filepath.Glob(b.path("*.spool")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
