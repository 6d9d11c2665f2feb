package perfrecv_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrecv"
	"amqpperf/internal/command/perfsend"
)

func startBroker(t *testing.T, c broker.Config) (b *broker.Broker, url string) {
	t.Helper()
	b, err := broker.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	t.Cleanup(func() {
		_ = b.Close() // a test may have closed it
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return b, "amqp://" + l.Addr().String()
}

// session runs perf-recv in-process.
type session struct {
	env            *cli.Env
	url            string
	stdout, stderr bytes.Buffer
	signals        chan os.Signal
	dir, log       string
}

func newSession(t *testing.T, url string) *session {
	t.Helper()
	s := &session{url: url, signals: make(chan os.Signal, 2), dir: t.TempDir()}
	s.log = filepath.Join(s.dir, "recv.parquet")
	s.env = &cli.Env{
		Stdin: strings.NewReader(""), Stdout: &s.stdout, Stderr: &s.stderr,
		Getenv: func(string) string { return "" }, Signals: s.signals, Exit: func(int) {},
	}
	return s
}

func (s *session) run(args string) int {
	return cli.Run(s.env, perfrecv.New, append([]string{"-u", s.url, "-o", s.log}, strings.Fields(args)...))
}

// without runs perf-recv without -o.
func (s *session) without(args string) int {
	return cli.Run(s.env, perfrecv.New, append([]string{"-u", s.url}, strings.Fields(args)...))
}

// send runs perf-send in-process, without a log.
func send(t *testing.T, url, args string) {
	t.Helper()
	sendTo(t, url, "/dev/null", args)
}

// sendTo runs perf-send in-process.
func sendTo(t *testing.T, url, log, args string) {
	t.Helper()
	var stderr bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: &stderr, Getenv: func(string) string { return "" }, Signals: make(chan os.Signal)}
	if code := cli.Run(env, perfsend.New, append([]string{"-u", url, "-o", log, "-q"}, strings.Fields(args)...)); code != 0 {
		t.Errorf("perf-send %s: exit %d: %s", args, code, &stderr)
	}
}

// awaitFile waits until a file is there.
func awaitFile(name string) {
	for range 6000 {
		if _, err := os.Stat(name); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

type rows struct {
	meta format.Meta
	b    format.Recv
}

func (s *session) read(t *testing.T) *rows {
	t.Helper()
	l, err := format.Open(s.log)
	if err != nil {
		t.Fatalf("%v; standard error: %s", err, &s.stderr)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &rows{}
	if err := l.Read(&r.b); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if l.NumRows() != int64(r.b.Len()) || !l.Complete() {
		t.Errorf("%d rows read of %d, complete %v", r.b.Len(), l.NumRows(), l.Complete())
	}
	r.meta = l.Meta()
	return r
}

func (r *rows) count(outcome string) (n int) {
	for i := range r.b.Len() {
		if s, _ := r.b.Outcome.At(i); s == outcome {
			n++
		}
	}
	return n
}

// Two consumers compete for a queue until it is idle: every message once, rows
// in order of receipt, one subscription, the sender's clock in the log.
func TestQueue(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, url)
	ready := filepath.Join(s.dir, "ready")
	var wg sync.WaitGroup
	wg.Go(func() {
		awaitFile(ready)
		send(t, url, "-n 300 -r 3k --run mine queue://q")
	})
	code := s.run("-n 300 --consumers 2 --ack-every 7 --ready-file " + ready + " queue://q")
	wg.Wait()
	r := s.read(t)
	if code != 0 || r.b.Len() != 300 || r.count(format.Accepted) != 300 {
		t.Errorf("exit %d, %d rows, %d accepted: %s", code, r.b.Len(), r.count(format.Accepted), &s.stderr)
	}
	if _, err := os.Stat(ready); err == nil {
		t.Error("the ready file is still there")
	}
	for key, want := range map[string]string{
		format.KeySchema: "recv/1", format.KeyTool: "perf-recv", format.KeyRun: "mine", format.KeyOrder: format.OrderReceived,
		format.KeyStop: "count", format.KeyComplete: "true",
	} {
		if r.meta[key] != want {
			t.Errorf("%s is %q, want %q", key, r.meta[key], want)
		}
	}
	subs, ok, err := r.meta.Subscriptions()
	if !ok || err != nil || len(subs) != 1 || subs[0].Destination != "queue://q" || subs[0].Name != nil || subs[0].Attached == 0 {
		t.Errorf("subscriptions %+v, %v", subs, err)
	}
	if senders, err := r.meta.Senders(); err != nil || len(senders) != 1 || senders[0].Sender != r.b.Sender[0] {
		t.Errorf("senders %+v, %v", senders, err)
	}
	seen := map[int64]bool{}
	last := map[int32]int64{}
	for i := range r.b.Len() {
		if seen[r.b.Seq[i]] || r.b.Received[i] < r.b.Sent[i] || r.b.Sent[i] < r.b.Intended[i] || r.b.Started[i] < r.b.Received[i] || r.b.Settled[i] < r.b.Started[i] || r.b.Received[i] < last[r.b.Consumer[i]] {
			t.Fatalf("row %d: seq %d, intended %d, sent %d, received %d, started %d, settled %d", i, r.b.Seq[i], r.b.Intended[i], r.b.Sent[i], r.b.Received[i], r.b.Started[i], r.b.Settled[i])
		}
		seen[r.b.Seq[i]] = true
		last[r.b.Consumer[i]] = r.b.Received[i]
	}
	for _, want := range []string{"--- SUMMARY perf-recv: queue://q, stopped by count", "received            300", "transfer   mean", "e2e        mean"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &s.stderr)
		}
	}
}

// On a topic every consumer is a subscription of its own, and gets everything.
func TestTopic(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, url)
	ready := filepath.Join(s.dir, "ready")
	var wg sync.WaitGroup
	wg.Go(func() {
		awaitFile(ready)
		send(t, url, "-n 50 topic://t")
	})
	code := s.run("-n 150 --wait 10s --consumers 3 --ready-file " + ready + " topic://t")
	wg.Wait()
	r := s.read(t)
	subs, _, err := r.meta.Subscriptions()
	if code != 0 || len(subs) != 3 || err != nil || r.count(format.Accepted) != 150 {
		t.Fatalf("exit %d, %+v, %v, %d accepted: %s", code, subs, err, r.count(format.Accepted), &s.stderr)
	}
	of := map[string]int{}
	for i := range r.b.Len() {
		name, _ := r.b.Subscription.At(i)
		of[name]++
	}
	for _, sub := range subs {
		if sub.Name == nil || of[*sub.Name] != 50 {
			t.Errorf("subscription %+v got %v", sub, of)
		}
	}
}

// -n takes no more than it says: the rest goes back and comes again.
func TestCount(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 100 queue://q")
	first, second := newSession(t, url), newSession(t, url)
	if code := first.run("-n 30 --credit 50 queue://q"); code != 0 {
		t.Errorf("exit %d: %s", code, &first.stderr)
	}
	if r := first.read(t); r.count(format.Accepted) != 30 || r.count(format.Released) != r.b.Len()-30 || r.meta[format.KeyStop] != "count" {
		t.Errorf("%d rows, %d accepted, %d released", r.b.Len(), r.count(format.Accepted), r.count(format.Released))
	}
	if code := second.run("-n 71 --idle 300ms queue://q"); code != cli.ExitUnmet || !strings.Contains(second.stderr.String(), "70 of 71 messages were received") {
		t.Errorf("exit %d: %s", code, &second.stderr)
	}
	if r := second.read(t); r.count(format.Accepted) != 70 || r.b.Len() != 70 {
		t.Errorf("%d rows", r.b.Len())
	}
}

// One ADDRESS stands for several, each with its consumers.
func TestDestinations(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 30 --num-destinations 3 queue://q%d")
	s := newSession(t, url)
	if code := s.run("-n 30 --consumers 2 --num-destinations 3 queue://q%d"); code != 0 {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	n := map[string]int{}
	r := s.read(t)
	for i := range r.b.Len() {
		to, _ := r.b.Destination.At(i)
		n[to]++
	}
	if n["queue://q0"] != 10 || n["queue://q1"] != 10 || n["queue://q2"] != 10 {
		t.Errorf("received %v", n)
	}
}

// Messages of another run are logged and settled, and neither counted nor waited for.
func TestOtherRun(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 10 --run old queue://q")
	send(t, url, "-n 5 --run new queue://q")
	s := newSession(t, url)
	if code := s.run("-n 5 --run new queue://q"); code != 0 || !strings.Contains(s.stderr.String(), "other runs           10") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	if r := s.read(t); r.count(format.Accepted) != 15 || r.meta[format.KeyRun] != "new" {
		t.Errorf("%d accepted, run %s", r.count(format.Accepted), r.meta[format.KeyRun])
	}
}

// A message of somebody else is given back, and named.
func TestForeign(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	conn, err := goamqp.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the broker is closed anyway
	session, err := conn.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	sender, err := session.NewSender(t.Context(), "queue://q", nil)
	if err != nil {
		t.Fatal(err)
	}
	kind := "application/x-order"
	order := goamqp.NewMessage([]byte("an order of a customer"))
	order.Properties = &goamqp.MessageProperties{ContentType: &kind}
	if err := sender.Send(t.Context(), order, nil); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		text string
	}{
		{"--idle 300ms", cli.ExitFailure, "queue://q: a message without a stamp of perf-send arrived (content type application/x-order"},
		{"--foreign release -d 400ms", 0, "foreign               1"},
		{"--foreign accept -d 400ms", 0, "foreign               1"},
		{"--foreign accept -d 400ms --force", 0, "received              0"},
	} {
		s := newSession(t, url)
		if code := s.run(tt.args + " queue://q"); code != tt.code || !strings.Contains(s.stderr.String(), tt.text) {
			t.Errorf("%s: exit %d, want %d with %q: %s", tt.args, code, tt.code, tt.text, &s.stderr)
		}
		if r := s.read(t); r.b.Len() != 0 {
			t.Errorf("%d rows", r.b.Len())
		}
	}
}

func TestInterruptedAndBroken(t *testing.T) {
	t.Parallel()
	b, url := startBroker(t, broker.Config{})
	send(t, url, "-n 20 queue://q")
	for _, tt := range []struct {
		args, stop string
		code       int
		act        func(*session)
	}{
		{"", "signal", cli.ExitOK, func(s *session) { s.signals <- syscall.SIGINT }},
		{"-d 1m", "signal", cli.ExitUnmet, func(s *session) { s.signals <- syscall.SIGTERM }},
		{"-n 100", "signal", cli.ExitUnmet, func(s *session) { s.signals <- syscall.SIGTERM }},
		{"-d 1m", "error", cli.ExitFailure, func(*session) { _ = b.Close() }},
	} {
		s := newSession(t, url)
		ready := filepath.Join(s.dir, "ready")
		var wg sync.WaitGroup
		wg.Go(func() {
			awaitFile(ready)
			tt.act(s)
		})
		code := s.run(tt.args + " --ready-file " + ready + " queue://q")
		wg.Wait()
		if r := s.read(t); code != tt.code || r.meta[format.KeyStop] != tt.stop {
			t.Errorf("%q: exit %d, want %d; stopped by %s: %s", tt.args, code, tt.code, r.meta[format.KeyStop], &s.stderr)
		}
	}
}

// Nothing comes within --wait.
func TestWait(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, url)
	code := s.run("--wait 100ms queue://empty")
	if r := s.read(t); code != cli.ExitFailure || r.meta[format.KeyStop] != "idle" || !strings.Contains(s.stderr.String(), "no message came within --wait 100ms") {
		t.Errorf("exit %d, stopped by %s: %s", code, r.meta[format.KeyStop], &s.stderr)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{Forbidden: []string{"queue://secret"}})
	for _, tt := range []struct {
		args string
		code int
		text string
	}{
		{"", 2, "no ADDRESS given"},
		{"--ack-every 11 --credit 10 queue://a", 2, "--ack-every 11 is more than --credit 10"},
		{"--ack-every 0 queue://a", 2, "want a number of messages from 1, or auto"},
		{"--credit 0 queue://a", 2, "--credit 0"},
		{"--idle 0 queue://a", 2, "--idle 0s: must be above 0"},
		{"--wait 2s -d 1s queue://a", 2, "--wait 2s is never reached"},
		{"-n 0 queue://a", 2, "-n 0"},
		{"--consumers 0 queue://a", 2, "--consumers 0"},
		{"--connections 2 queue://a", 2, "--connections 2"},
		{"--num-destinations 2 queue://a", 2, "there is no %d in queue://a"},
		{"--foreign x queue://a", 2, "must be one of stop, release, accept"},
		{"queue://secret", 1, "attach queue://secret: amqp:unauthorized-access"},
		{"--ready-file /nonexistent/x -d 1s queue://a", 1, "--ready-file: "},
	} {
		s := newSession(t, url)
		if code := s.run(tt.args); code != tt.code || !strings.Contains(s.stderr.String(), tt.text) || s.stdout.Len() > 0 {
			t.Errorf("%s: exit %d, want %d with %q: %s", tt.args, code, tt.code, tt.text, &s.stderr)
		}
	}
}

// Names of files that are made up carry tool and time.
func ExampleNew() {
	env := &cli.Env{Stdout: os.Stdout, Stderr: os.Stdout, Getenv: func(string) string { return "" }}
	code := cli.Run(env, perfrecv.New, []string{"--credit", "10", "--ack-every", "100", "queue://bench"})
	fmt.Println("exit", code)
	// Output:
	// perf-recv: --ack-every 100 is more than --credit 10: the broker would stop before the first answer; raise --credit
	// Try 'perf-recv --help' for more information.
	// exit 2
}
