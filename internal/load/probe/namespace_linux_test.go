package probe_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

const (
	namespaceSwitch = "PERF_TEST_NETNS" // 1: make namespaces; server, client: be that process
	linePrefix      = "probe-test: "
	monotonicAhead  = 86_400 // seconds, of the server's time namespace
	serverIP        = "198.18.77.2"
	clientIP        = "198.18.77.1"
)

// hostReport is what the processes in the namespaces tell the test.
type hostReport struct {
	Address string
	Token   string
	Anchor  timestamp.Anchor // before it is skewed
	Skewed  timestamp.Anchor
	Base    int64
	Rows    []recorder.ClockRow
}

func (h hostReport) print() error {
	b, err := json.Marshal(h)
	if err == nil {
		_, err = fmt.Printf("\n%s%s\n", linePrefix, b)
	}
	return err
}

// Two hosts for real: network namespaces joined by a veth pair with delay and
// jitter where the kernel has netem, and a time namespace whose monotonic clock
// is a day ahead. The server's clock is 3 ms off and drifts by 20 ppm, both
// ways. Truth is known, because in truth both are one machine.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	if os.Getenv(namespaceSwitch) != "1" || os.Geteuid() != 0 {
		t.Skipf("needs root and %s=1: makes network and time namespaces", namespaceSwitch)
	}
	server, client := namespaces(t)
	for _, skew := range [][2]int64{{3_000_000, 20}, {-3_000_000, -20}} {
		there := startServer(t, server, skew)
		out := command(t, "ip", "netns", "exec", client, "env", namespaceSwitch+"=client",
			"PROBE_ADDRESS="+there.Address, "PROBE_TOKEN="+there.Token, os.Args[0], "-test.run=^TestNamespaceClient$")
		here, err := readReport(bytes.NewReader(out))
		if err != nil || len(here.Rows) < 300 {
			t.Fatalf("client: %d rows, %v: %s", len(here.Rows), err, out)
		}
		verifyNamespaces(t, here, there, skew)
	}
}

func verifyNamespaces(t *testing.T, here, there hostReport, skew [2]int64) {
	t.Helper()
	if here.Anchor.ClockID == there.Anchor.ClockID {
		t.Fatal("both are in one time namespace")
	}
	p := []clock.Process{{Anchor: here.Anchor}, {Anchor: there.Skewed}}
	for _, r := range here.Rows {
		peer, err := clock.ParsePeer(r.Peer)
		if err != nil {
			t.Fatal(err)
		}
		p[0].Exchanges = append(p[0].Exchanges, clock.Exchange{Peer: peer, T1: r.T1, T2: r.T2, T3: r.T3, T4: r.T4})
	}
	s := clock.Solve(p, 0, clock.Policy{})
	first, last := here.Rows[0].T1, here.Rows[len(here.Rows)-1].T4
	var worst, widest int64
	const instants = 10_000
	for i := range int64(instants) {
		x := first + (last-first)/instants*i
		raw := x - here.Anchor.Offset() + monotonicAhead*1_000_000_000 + there.Anchor.Offset()
		own := raw + skew[0] + (raw-there.Base)*skew[1]/1_000_000
		off, bound, source := s.Model(1).At(own)
		e := own + off - x
		e = max(e, -e)
		// The truth itself is known to within both anchors.
		if source != clock.Probes || e > bound+here.Anchor.Gap+there.Anchor.Gap {
			t.Fatalf("at %v of the run: off by %d ns, bound %d (%s)", time.Duration(x-first), e, bound, source)
		}
		worst, widest = max(worst, e), max(widest, bound)
	}
	t.Logf("%d exchanges: error at most %v, bound at most %v, %+v", len(here.Rows), time.Duration(worst), time.Duration(widest), s.Evidence().Pairs)
	if widest > 20_000_000 {
		t.Errorf("bound %v says nothing", time.Duration(widest))
	}
}

// namespaces makes two network namespaces that a veth pair joins.
func namespaces(t *testing.T) (server, client string) {
	t.Helper()
	id := strconv.Itoa(os.Getpid())
	server, client = "perfs"+id, "perfc"+id
	for _, n := range []string{server, client} {
		command(t, "ip", "netns", "add", n)
		t.Cleanup(func() { command(t, "ip", "netns", "delete", n) }) // and with it its interfaces
	}
	command(t, "ip", "link", "add", "perf0", "netns", server, "type", "veth", "peer", "name", "perf0", "netns", client)
	for n, ip := range map[string]string{server: serverIP, client: clientIP} {
		command(t, "ip", "-n", n, "address", "add", ip+"/30", "dev", "perf0")
		command(t, "ip", "-n", n, "link", "set", "perf0", "up")
	}
	if out, err := exec.Command("tc", "-n", client, "qdisc", "add", "dev", "perf0", "root", "netem", "delay", "2ms", "1ms").CombinedOutput(); err != nil {
		t.Logf("no netem, so no delay and jitter: %v: %s", err, out)
	}
	return server, client
}

func command(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return out
}

// startServer runs a server in a network and a time namespace until the end of
// the test.
func startServer(t *testing.T, namespace string, skew [2]int64) hostReport {
	t.Helper()
	c := exec.Command("ip", "netns", "exec", namespace, "unshare", "--time", "--monotonic", strconv.Itoa(monotonicAhead), "--fork", "--kill-child",
		"env", namespaceSwitch+"=server", fmt.Sprintf("PROBE_SKEW=%d %d", skew[0], skew[1]), os.Args[0], "-test.run=^TestNamespaceServer$")
	stdin, err := c.StdinPipe() // its end ends the server
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		if err := c.Wait(); err != nil {
			t.Errorf("server: %v", err)
		}
	})
	r, err := readReport(stdout)
	if err != nil {
		t.Fatalf("server: %v", err)
	}
	return r
}

func readReport(r io.Reader) (h hostReport, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), linePrefix); ok {
			return h, json.Unmarshal([]byte(text), &h)
		}
	}
	return h, fmt.Errorf("no report: %w", io.ErrUnexpectedEOF)
}

// TestNamespaceServer is the server process of TestNamespaces.
func TestNamespaceServer(t *testing.T) { //nolint:paralleltest // a process of its own
	if os.Getenv(namespaceSwitch) != "server" {
		t.Skip("only a process of TestNamespaces")
	}
	var offset, ppm int64
	if _, err := fmt.Sscan(os.Getenv("PROBE_SKEW"), &offset, &ppm); err != nil {
		t.Fatal(err)
	}
	c := timestamp.NewClock()
	ahead := skewed{c, c.Now(), offset, ppm}
	token := probe.NewToken()
	s, err := probe.Listen(serverIP+":0", probe.ServerOptions{Token: token, Clock: ahead, Receiver: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := (hostReport{Address: s.Address(), Token: token.String(), Anchor: c.Anchor(), Skewed: ahead.Anchor(), Base: ahead.base}).print(); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNamespaceClient is the client process of TestNamespaces.
func TestNamespaceClient(t *testing.T) { //nolint:paralleltest // a process of its own
	if os.Getenv(namespaceSwitch) != "client" {
		t.Skip("only a process of TestNamespaces")
	}
	token, err := probe.ParseToken(os.Getenv("PROBE_TOKEN"))
	if err != nil {
		t.Fatal(err)
	}
	c := timestamp.NewClock()
	rows, _, err := run(t, probe.Options{Address: os.Getenv("PROBE_ADDRESS"), Token: token, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	if err := (hostReport{Anchor: c.Anchor(), Rows: rows}).print(); err != nil {
		t.Error(err)
	}
}
