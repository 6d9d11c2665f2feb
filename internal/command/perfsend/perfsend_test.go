package perfsend_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfsend"
)

// startBroker serves on a free port and returns its URL.
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

// session runs the command in-process.
type session struct {
	env            *cli.Env
	vars           map[string]string
	stdout, stderr bytes.Buffer
	signals        chan os.Signal
	log            string
}

func newSession(t *testing.T) *session {
	t.Helper()
	s := &session{vars: map[string]string{}, signals: make(chan os.Signal, 2), log: filepath.Join(t.TempDir(), "send.parquet")}
	s.env = &cli.Env{
		Stdin: strings.NewReader(""), Stdout: &s.stdout, Stderr: &s.stderr,
		Getenv: func(k string) string { return s.vars[k] }, Signals: s.signals, Exit: func(int) {},
	}
	return s
}

func (s *session) run(args string) int {
	return cli.Run(s.env, perfsend.New, strings.Fields(args))
}

// rows is a send log in memory.
type rows struct {
	meta format.Meta
	b    format.Send
}

func (r *rows) outcome(i int) string { s, _ := r.b.Outcome.At(i); return s }

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

// count returns how many rows have the outcome.
func (r *rows) count(outcome string) (n int) {
	for i := range r.b.Len() {
		if r.outcome(i) == outcome {
			n++
		}
	}
	return n
}

type config struct {
	Loop       string   `json:"loop"`
	RateNum    int64    `json:"rate_num"`
	RateDen    int64    `json:"rate_den"`
	Size       int64    `json:"size"`
	MaxPending int      `json:"max_pending"`
	Addresses  []string `json:"addresses"`
	Attached   []string `json:"attached"`
	Producers  int      `json:"producers"`
	WarmupNS   int64    `json:"warmup_ns"`
	StartNS    int64    `json:"start_ns"`
	URL        string   `json:"url"`
	Peer       string   `json:"peer_product"`
	Client     string   `json:"client"`
}

// Three producers on two addresses share a schedule of 2000/s: 400 messages in
// 200 ms, every intended instant on the grid, and everything that a report
// needs is in the log.
func TestPaced(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	s.vars["PERF_RUN"] = "r1"
	if code := s.run("-u " + url + " -r 2k -d 200ms --warmup 50ms --producers 3 -s 1000 --name n --label k=v -o " + s.log + " queue://a queue://b"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	var c config
	if ok, err := r.meta.JSON(format.KeyConfig, &c); !ok || err != nil {
		t.Fatal(err)
	}
	if c.Loop != "open" || c.RateNum != 2000 || c.RateDen != 1 || c.Size != 1000 || c.MaxPending != 1000 || len(c.Addresses) != 2 ||
		c.Producers != 6 || c.WarmupNS != int64(50*time.Millisecond) || c.URL != url || c.Peer != "perf-broker" || c.Attached[1] != "b" {
		t.Errorf("config %+v", c)
	}
	for key, want := range map[string]string{
		format.KeySchema: "send/1", format.KeyTool: "perf-send", format.KeyRun: "r1", format.KeyName: "n", format.KeyLabels: `{"k":"v"}`,
		format.KeyOrder: format.OrderSeq, format.KeyStop: "duration", format.KeyComplete: "true",
	} {
		if r.meta[key] != want {
			t.Errorf("%s is %q, want %q", key, r.meta[key], want)
		}
	}
	if n := r.count(format.Accepted); n != 400 || r.b.Len() != 400 {
		t.Errorf("%d rows, %d accepted", r.b.Len(), n)
	}
	for i := range r.b.Len() {
		index := r.b.Seq[i]*6 + int64(r.b.Producer[i])
		address, _ := r.b.Destination.At(i)
		if r.b.Intended[i] != c.StartNS+index*500_000 || r.b.Ready[i] < r.b.Intended[i] || r.b.Sent[i] < r.b.Ready[i] || r.b.Acked[i] < r.b.Sent[i] ||
			address != c.Addresses[r.b.Producer[i]%2] || r.b.Size[i] != 1000 {
			t.Fatalf("row %d: message %d, intended %d, ready %d, sent %d, acked %d, %s", i, index, r.b.Intended[i]-c.StartNS, r.b.Ready[i], r.b.Sent[i], r.b.Acked[i], address)
		}
	}
	for _, want := range []string{"--- SUMMARY perf-send: queue://a queue://b, 2k/s over 6 producers, stopped by duration", "sent                400", "send ack   mean", "without the 50ms of warm-up"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &s.stderr)
		}
	}
}

// A closed loop shares -n with its remainder, and is labelled as such; both
// clients do.
func TestClosedLoop(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"own", "library"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			testClosedLoop(t, client)
		})
	}
}

func testClosedLoop(t *testing.T, client string) {
	t.Helper()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	if code := s.run("--client " + client + " -u " + url + " -n 1001 --max-pending 10 --producers 2 --connections 1 -q -o " + s.log + " queue://a"); code != 0 || s.stderr.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	var c config
	if _, err := r.meta.JSON(format.KeyConfig, &c); err != nil || c.Loop != "closed" || c.Client != client || r.meta[format.KeyStop] != "count" {
		t.Errorf("%+v, %v, stopped by %s", c, err, r.meta[format.KeyStop])
	}
	of := map[int32]int{}
	for i := range r.b.Len() {
		of[r.b.Producer[i]]++
		if r.b.Ready[i] != r.b.Intended[i] || r.b.Sent[i] < r.b.Intended[i] {
			t.Fatalf("row %d: intended %d, ready %d, sent %d", i, r.b.Intended[i], r.b.Ready[i], r.b.Sent[i])
		}
	}
	if of[0] != 501 || of[1] != 500 || r.count(format.Accepted) != 1001 {
		t.Errorf("messages by producer %v", of)
	}
}

// The broker goes away in mid-run: every intended message has a row, those
// after it are unsent with the cause, and the log is closed before exit 1.
func TestBrokerGoesAway(t *testing.T) {
	t.Parallel()
	_, to := startBroker(t, broker.Config{})
	url := newCutter(t, to, true, 60_000)
	s := newSession(t)
	code := s.run("-u " + url + " -r 1k -n 100k -o " + s.log + " queue://a")
	r := s.read(t)
	if code != cli.ExitFailure || r.meta[format.KeyStop] != "error" || r.count(format.Accepted) == 0 || !strings.Contains(s.stderr.String(), "perf-send: ") {
		t.Errorf("exit %d, stopped by %s, %d accepted: %s", code, r.meta[format.KeyStop], r.count(format.Accepted), &s.stderr)
	}
	for i := range r.b.Len() {
		if r.b.Seq[i] != int64(i) {
			t.Fatalf("row %d is message %d", i, r.b.Seq[i])
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	for _, tt := range []struct {
		args string
		code int
	}{{"-r 1k -d 1m", cli.ExitUnmet}, {"-n 1G --max-pending 10", cli.ExitUnmet}, {"-r 1k", cli.ExitOK}} {
		s := newSession(t)
		through := whenSent(t, url, 50_000, func() { s.signals <- syscall.SIGTERM })
		code := s.run("-u " + through + " -o " + s.log + " " + tt.args + " queue://a")
		if r := s.read(t); code != tt.code || r.meta[format.KeyStop] != "signal" || r.b.Len() == 0 || r.count(format.Accepted) != r.b.Len() {
			t.Errorf("%s: exit %d, want %d; stopped by %s, %d rows: %s", tt.args, code, tt.code, r.meta[format.KeyStop], r.b.Len(), &s.stderr)
		}
	}
}

// Without credit the messages wait; what the drain leaves is unsent, and fewer
// than -n asked for is exit 3.
func TestDrain(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{Credit: 10, MaxQueued: 10})
	s := newSession(t)
	code := s.run("-u " + url + " -r 1k -n 50 --drain 200ms -o " + s.log + " queue://a")
	r := s.read(t)
	if code != cli.ExitUnmet || r.b.Len() != 50 || r.count(format.Unsent) == 0 || r.count(format.Accepted)+r.count(format.Unsent) != 50 {
		t.Errorf("exit %d, %d rows, %d accepted, %d unsent: %s", code, r.b.Len(), r.count(format.Accepted), r.count(format.Unsent), &s.stderr)
	}
	for i := range r.b.Len() {
		if wait, _ := r.b.Wait.At(i); r.outcome(i) == format.Unsent && wait != format.WaitCredit {
			t.Errorf("message %d waited for %s", i, wait)
		}
	}
}

// Streams go to standard output, and nothing else does.
func TestPipe(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	if code := s.run("-u " + url + " -n 10 -o - queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	l, err := format.OpenStream("pipe", &s.stdout)
	if err != nil {
		t.Fatal(err)
	}
	var b format.Send
	if err := l.Read(&b); err != nil || b.Len() != 10 {
		t.Errorf("%d rows, %v", b.Len(), err)
	}
}

// The password is in no output and in no file, whatever happens.
func TestPasswordIsKept(t *testing.T) {
	t.Parallel()
	const secret = "hunter2hunter2"
	_, url := startBroker(t, broker.Config{Users: map[string]string{"u": secret}, RequireUser: true})
	with := strings.Replace(url, "amqp://", "amqp://u:"+secret+"@", 1)
	wrong := strings.Replace(url, "amqp://", "amqp://u:x"+secret+"@", 1)
	for args, code := range map[string]int{
		"-u " + with + " -n 3 queue://a":               cli.ExitOK,
		"-u " + url + " --user u -n 3 queue://a":       cli.ExitOK,
		"-u " + wrong + " -n 3 queue://a":              cli.ExitFailure,
		"-u " + with + "/vhost -n 3 queue://a":         cli.ExitUsage,
		"-u u:" + secret + "@127.0.0.1 -n 3 queue://a": cli.ExitUsage,
	} {
		s := newSession(t)
		s.vars["AMQP_PASSWORD"] = secret
		got := s.run("-o " + s.log + " " + args)
		if got != code {
			t.Errorf("%s: exit %d, want %d: %s", args, got, code, &s.stderr)
		}
		b, err := os.ReadFile(s.log)
		if (err == nil) != (code == cli.ExitOK) {
			t.Errorf("%s: %v", args, err)
		}
		for what, text := range map[string][]byte{"the log": b, "standard output": s.stdout.Bytes(), "standard error": s.stderr.Bytes()} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s: the password is in %s", args, what)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{Forbidden: []string{"queue://secret"}, MaxMessageSize: 2000})
	exists := filepath.Join(t.TempDir(), "exists")
	if err := os.WriteFile(exists, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args string
		code int
		text string
	}{
		{"", 2, "no ADDRESS given"},
		{"-r 0 queue://a", 2, "above 0"},
		{"-r x queue://a", 2, "not a number"},
		{"-r 1k --rate-per-producer 1k queue://a", 2, "contradict"},
		{"-n 0 queue://a", 2, "-n 0: at least 1"},
		{"-d -1s queue://a", 2, "-d -1s: must be above 0"},
		{"-d 1s --warmup 1s queue://a", 2, "--warmup 1s leaves nothing"},
		{"-s 79 queue://a", 2, "-s 79: a body holds a stamp of 80 bytes"},
		{"--run=abc -s 66 queue://a", 2, "give -s 67 or more"},
		{"--run=a\x01 queue://a", 2, "control character"},
		{"--max-pending -1 queue://a", 2, "--max-pending -1"},
		{"--producers 0 queue://a", 2, "--producers 0"},
		{"--connections 2 queue://a", 2, "--connections 2: 1 to the number of producers, 1"},
		{"--producers 1000000 queue://a", 2, "open files"},
		{"--drain -1s queue://a", 2, "--drain -1s"},
		{"-q --progress queue://a", 2, "contradict"},
		{"--start-at 2020-01-01T00:00:00Z queue://a", 2, "has passed"},
		{"--idle-timeout 1s queue://a", 2, "idle timeout 1s: at least 4s"},
		{"--tls-ca x queue://a", 2, "amqps"},
		{"--address-style x queue://a", 2, "address style"},
		{"--client x queue://a", 2, "own or library"},
		{"--rate-per-producer 1G --producers 2 queue://a", 2, "at most 1G"},
		{"queue://", 2, "has no name"},
		{"-n 1 -o " + exists + " queue://a", 1, "refused to overwrite"},
		{"-n 1 queue://secret", 1, "attach queue://secret: amqp:unauthorized-access"},
		{"-n 1 -s 3000 queue://a", 1, "at most 2000 bytes"},
		{"-n 1 -u amqp://127.0.0.1:1 queue://a", 1, "connection refused"},
	} {
		s := newSession(t)
		log := " -o " + s.log
		if strings.Contains(tt.args, "-o ") {
			log = ""
		}
		code := s.run("-u " + url + log + " " + tt.args)
		if code != tt.code || !strings.Contains(s.stderr.String(), tt.text) || s.stdout.Len() > 0 {
			t.Errorf("%s: exit %d, want %d with %q: %s", tt.args, code, tt.code, tt.text, &s.stderr)
		}
		if _, err := os.Stat(s.log); err == nil {
			t.Errorf("%s: it left a log", tt.args)
		}
	}
}

// Too many connections for the system are refused before the first is opened.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 2_000_000 {
		t.Skipf("the limit of open files is %d, %v", limit.Cur, err)
	}
	s := newSession(t)
	if code := s.run("--producers 2000000 -o " + s.log + " queue://a"); code != 2 || !strings.Contains(s.stderr.String(), "open files") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	if _, err := os.Stat(s.log); !os.IsNotExist(err) {
		t.Errorf("there is a log: %v", err)
	}
}
