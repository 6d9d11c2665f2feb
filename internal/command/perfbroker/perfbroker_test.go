package perfbroker

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

// output collects a stream and tells when it has changed.
type output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newOutput() *output { return &output{changed: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// await waits for a match of the pattern and returns its first group.
func (o *output) await(t *testing.T, pattern string) string {
	t.Helper()
	re, limit := regexp.MustCompile(pattern), time.After(20*time.Second)
	for {
		if m := re.FindStringSubmatch(o.String()); m != nil {
			return m[1]
		}
		select {
		case <-o.changed:
		case <-limit:
			t.Fatalf("no %q in %q", pattern, o.String())
		}
	}
}

// running is a perf-broker in this process.
type running struct {
	url     string
	stderr  *output
	stdout  *output
	signals chan os.Signal
	status  chan int
}

func start(t *testing.T, env map[string]string, args ...string) *running {
	t.Helper()
	r := &running{stderr: newOutput(), stdout: newOutput(), signals: make(chan os.Signal, 2), status: make(chan int, 1)}
	e := &cli.Env{Stdin: strings.NewReader(""), Stdout: r.stdout, Stderr: r.stderr, Signals: r.signals,
		Getenv: func(k string) string { return env[k] }}
	go func() { r.status <- cli.Run(e, New, append([]string{"--listen", "127.0.0.1:0"}, args...)) }()
	r.url = r.stderr.await(t, `listening on (\S+)\n`)
	return r
}

// stop ends the broker as ^C does and returns its exit status.
func (r *running) stop(t *testing.T) int {
	t.Helper()
	r.signals <- os.Interrupt
	select {
	case status := <-r.status:
		return status
	case <-time.After(20 * time.Second):
		t.Fatal("perf-broker does not end")
		return 0
	}
}

// stamped makes bodies that are a stamp of ours.
type stamped struct{}

func (stamped) Append(dst []byte, m *amqp.Message) []byte {
	before := len(dst)
	dst = timestamp.Stamp{Run: "a run, \"quoted\"", Sender: 7, Producer: 1, Seq: m.Seq, Intended: 1, Sent: m.Sent}.Append(dst)
	return append(dst, make([]byte, int(m.Size)-(len(dst)-before))...)
}

// sink counts completions.
type sink struct{ done chan amqp.Completion }

func (s sink) Completed(batch []amqp.Completion) {
	for _, c := range batch {
		for id := c.First; id <= c.Last; id++ { // one value a message: the client may report ranges
			s.done <- amqp.Completion{First: id, Last: id, State: c.State, At: c.At, Error: c.Error}
		}
	}
}

func (s sink) Down(int64, error) {}

// send sends n messages to an address.
func send(t *testing.T, url, address string, n int) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	u, err := link.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c, err := link.Dial(ctx, link.Config{URL: u, Now: timestamp.NewClock().Now}, 0)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(ctx) }() // the messages count
	done := sink{make(chan amqp.Completion, n)}
	s, err := c.NewSender(ctx, link.SenderConfig{Address: address, Body: stamped{}, Sink: done})
	if err != nil {
		return err
	}
	messages := make([]amqp.Message, n)
	for i := range messages {
		messages[i] = amqp.Message{ID: uint64(i), Seq: int64(i), Size: 200}
	}
	for len(messages) > 0 {
		k, err := s.Submit(ctx, messages)
		if err != nil {
			return err
		}
		messages = messages[k:]
	}
	for range n {
		if got := <-done.done; got.State != amqp.Accepted {
			t.Errorf("completion %+v", got)
		}
	}
	return nil
}

func TestServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ready, log := filepath.Join(dir, "ready"), filepath.Join(dir, "log.csv")
	b := start(t, nil, "--ready-file", ready, "--log", log, "--service-time", "10us")
	text, err := os.ReadFile(ready)
	if err != nil || !strings.HasPrefix(string(text), b.url+"\n") {
		t.Errorf("ready file %q: %v; the URL is %s", text, err, b.url)
	}
	if err := send(t, b.url, "queue://bench", 20); err != nil {
		t.Fatal(err)
	}
	if status := b.stop(t); status != cli.ExitOK {
		t.Errorf("exit status %d: %s", status, b.stderr)
	}
	if _, err := os.Stat(ready); !os.IsNotExist(err) {
		t.Errorf("the ready file is still there: %v", err)
	}
	for _, want := range []string{"SUMMARY perf-broker " + b.url, "connections  1\n", "queue://bench  messages 20", "queued 20"} {
		if !strings.Contains(b.stderr.String(), want) {
			t.Errorf("no %q in %s", want, b.stderr)
		}
	}
	checkLog(t, log, 20)
}

// checkLog reads the CSV and compares stamps with arrivals.
func checkLog(t *testing.T, name string, n int) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != n+1 {
		t.Fatalf("%d lines, want %d: %v", len(rows), n+1, err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	for i, row := range rows[1:] {
		if got := row[column["run"]]; got != `a run, "quoted"` {
			t.Errorf("line %d: run %q", i+2, got)
		}
		if row[column["seq"]] != row[column["stamp_seq"]] || row[column["sender"]] != "7" {
			t.Errorf("line %d: %q", i+2, row)
		}
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3tw0rd"
	b := start(t, map[string]string{PasswordEnv: secret}, "--user", "demo", "--require-user")
	if err := send(t, b.url, "queue://q", 1); err == nil {
		t.Error("somebody without a name was let in")
	}
	with := strings.Replace(b.url, "amqp://", "amqp://demo:"+secret+"@", 1)
	if err := send(t, with, "queue://q", 1); err != nil {
		t.Error(err)
	}
	if err := send(t, strings.Replace(with, secret, "wrong", 1), "queue://q", 1); err == nil {
		t.Error("a wrong password was taken")
	}
	if status := b.stop(t); status != cli.ExitOK {
		t.Errorf("exit status %d", status)
	}
	if out := b.stderr.String() + b.stdout.String(); strings.Contains(out, secret) {
		t.Errorf("the password is printed: %s", out)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	if err := os.WriteFile(other, []byte("precious\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, want string
		status     int
	}{
		{"--stall 5s", "AT:FOR", 2},
		{"--stall 5s:0s", "AT:FOR", 2},
		{"--service-time exp:0s", "mean", 2},
		{"--service-time fast", "500us", 2},
		{"--seed 5", "exp:MEAN", 2},
		{"--user x", PasswordEnv, 2},
		{"--require-user", "--user", 2},
		{"--password-file x", "--user", 2},
		{"--listen localhost", "HOST:PORT", 2},
		{"--delay -1s", "delay", 2},
		{"--credit 0", "credit", 2},
		{"--max-frame-size 100", "512", 2},
		{"--idle-timeout -1s", "negative", 2},
		{"--force", "--log", 2},
		{"--nope", "nope", 2},
		{"queue://x", "flags only", 2},
		{"--ready-file " + other, "not the ready file", 2},
		{"--log " + other, "--force", 1},
		{"--log " + filepath.Join(dir, "none", "log"), "no such", 1},
		{"--user x --password-file " + filepath.Join(dir, "none"), "password file", 1},
		{"--listen 192.0.2.1:1", "192.0.2.1", 1},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			stderr := newOutput()
			env := &cli.Env{Stdin: strings.NewReader(""), Stdout: newOutput(), Stderr: stderr, Getenv: func(string) string { return "" }}
			args := strings.Fields(c.args)
			if !strings.Contains(c.args, "--listen") {
				args = append(args, "--listen", "127.0.0.1:0")
			}
			if status := cli.Run(env, New, args); status != c.status || !strings.Contains(stderr.String(), c.want) {
				t.Errorf("exit status %d, want %d with %q: %s", status, c.status, c.want, stderr)
			}
		})
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "precious\n" {
		t.Errorf("the file of somebody else is now %q: %v", text, err)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	stdout := newOutput()
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: stdout, Stderr: newOutput(), Getenv: func(string) string { return "" }}
	if status := cli.Run(env, New, []string{"--help"}); status != cli.ExitOK {
		t.Errorf("exit status %d", status)
	}
	for _, want := range []string{"Usage:\n  perf-broker [flags]", "Examples:\n", "Behaviour:\n", "--stall AT:FOR", "--version"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in the help:\n%s", want, stdout)
		}
	}
}

func TestStaleReadyFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "ready")
	for _, stale := range []string{"amqp://127.0.0.1:1\npid 1\n", ""} {
		if err := os.WriteFile(name, []byte(stale), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := writeReady(name, "amqp://127.0.0.1:2")
		if err != nil {
			t.Fatalf("%q: %v", stale, err)
		}
		if text, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(text), "amqp://127.0.0.1:2\n") {
			t.Errorf("%q: %v", text, err)
		}
		if err := r.remove(); err != nil {
			t.Error(err)
		}
	}
}
