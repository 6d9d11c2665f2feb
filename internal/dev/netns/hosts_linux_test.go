package netns_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/join"
	"amqpperf/internal/dev/netns"
	"amqpperf/timestamp"
)

// The ways of the link, of which one is longer than the other: what probes cannot see.
var (
	there = netns.Way{Delay: 2 * time.Millisecond, Jitter: time.Millisecond}
	back  = netns.Way{Delay: time.Millisecond, Jitter: 500 * time.Microsecond}
)

// ahead is the receiver's monotonic clock before the sender's, in seconds.
const ahead = 86_400

// hosts returns two joined hosts, or skips.
func hosts(t *testing.T) (first, second *netns.Host) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes network namespaces")
	}
	var both [2]*netns.Host
	for i := range both {
		h, err := netns.New()
		if err != nil {
			t.Skipf("no network namespaces here: %v", err)
		}
		t.Cleanup(func() { _ = h.Close() })
		both[i] = h
	}
	l, err := netns.Connect(both[0], both[1], there, back)
	if err != nil {
		t.Skipf("no link between network namespaces here: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return both[0], both[1]
}

// A packet is under way for at least as long as it was told, both ways, and the
// addresses of a host are nowhere else.
func TestLink(t *testing.T) {
	t.Parallel()
	first, second := hosts(t)
	var far, near net.PacketConn
	for h, c := range map[*netns.Host]*net.PacketConn{first: &near, second: &far} {
		address := map[*netns.Host]string{first: netns.FirstAddress, second: netns.SecondAddress}[h]
		if err := h.Do(func() (err error) {
			*c, err = net.ListenPacket("udp4", address+":0")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer (*c).Close() //nolint:errcheck // it loses nothing
	}
	if c, err := net.ListenPacket("udp4", netns.SecondAddress+":0"); err == nil {
		_ = c.Close()
		t.Error("the second host's address is one of this host too")
	}
	go func() {
		b := make([]byte, 64)
		for {
			n, from, err := far.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = far.WriteTo(b[:n], from)
		}
	}()
	b := make([]byte, 64)
	for i := range 20 {
		began := time.Now()
		if _, err := near.WriteTo([]byte{byte(i)}, far.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		n, _, err := near.ReadFrom(b)
		if took := time.Since(began); err != nil || n != 1 || b[0] != byte(i) || took < there.Delay+back.Delay {
			t.Errorf("packet %d came back as %v after %v: %v", i, b[:n], took, err)
		}
	}
}

// Two hosts: a sender beside the broker, and a receiver at the end of a link with
// jitter, whose monotonic clock is a day ahead and whose wall clock is 3 ms off and
// drifts by 20 ppm. In truth both are one machine, so the truth is known: every
// message's way is corrected to within its bound.
func TestTwoHosts(t *testing.T) {
	t.Parallel()
	if err := exec.Command("unshare", "--time", "--monotonic", "1", "true").Run(); err != nil {
		t.Skipf("no time namespaces here: %v", err)
	}
	for _, skew := range []struct{ offset, ppm int64 }{{3_000_000, 20}, {-3_000_000, -20}} {
		t.Run(fmt.Sprintf("%+d us %+d ppm", skew.offset/1000, skew.ppm), func(t *testing.T) {
			t.Parallel()
			send, recv := record(t, fmt.Sprint(skew.offset, " ", skew.ppm))
			verify(t, send, recv, float64(skew.ppm)/1e6, skew.offset)
		})
	}
}

// record makes a run on two hosts and returns its logs.
func record(t *testing.T, skew string) (send, recv string) {
	t.Helper()
	first, second := hosts(t)
	dir := t.TempDir()
	send, recv = filepath.Join(dir, "send.parquet"), filepath.Join(dir, "recv.parquet")
	ready := filepath.Join(dir, "ready")
	url := serve(t, first)
	receiver := start(t, second, []string{"unshare", "--time", "--monotonic", strconv.Itoa(ahead), "--fork", "--kill-child"}, skew,
		"perf-recv", "-q", "-u", url, "-n", "200", "-o", recv, "--clock-listen", netns.SecondAddress+":0", "--ready-file", ready, "queue://q")
	text := receiver.await(t, ready)
	peer := strings.Fields(strings.Split(text, "\n")[1])[1]
	sender := start(t, first, nil, "", "perf-send", "-q", "-u", url, "-n", "200", "-r", "200", "-o", send, "--clock-peer", peer, "--clock-token", ready, "queue://q")
	sender.succeed(t)
	receiver.succeed(t)
	return send, recv
}

// serve starts a broker on a host and returns its URL.
func serve(t *testing.T, h *netns.Host) string {
	t.Helper()
	b, err := broker.New(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var l net.Listener
	if err := h.Do(func() (err error) {
		l, err = net.Listen("tcp4", netns.FirstAddress+":0")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return "amqp://" + l.Addr().String()
}

// process is a program on a host.
type process struct {
	stderr bytes.Buffer
	ended  chan struct{}
	err    error // valid when ended is closed
}

// start starts this binary as a program, by way of a prefix.
func start(t *testing.T, h *netns.Host, prefix []string, skew string, args ...string) *process {
	t.Helper()
	words := append(prefix[:len(prefix):len(prefix)], os.Args[0])
	c := exec.CommandContext(t.Context(), words[0], words[1:]...)
	c.Env = append(os.Environ(), asProcess+"="+strings.Join(args, " "), skewed+"="+skew)
	p := &process{ended: make(chan struct{})}
	c.Stderr = &p.stderr
	if err := h.Do(c.Start); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = c.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() { <-p.ended }) // the test's context has ended it
	return p
}

// await returns what the process has written into a file.
func (p *process) await(t *testing.T, name string) string {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if text, err := os.ReadFile(name); err == nil {
			return string(text)
		}
		select {
		case <-tick.C:
		case <-p.ended:
			t.Fatalf("it ended before it was ready: %v: %s", p.err, &p.stderr)
		}
	}
}

func (p *process) succeed(t *testing.T) {
	t.Helper()
	<-p.ended
	if p.err != nil {
		t.Fatalf("%v: %s", p.err, &p.stderr)
	}
}

// verify compares the merged way of every message with the true one.
func verify(t *testing.T, send, recv string, gain float64, offset int64) {
	t.Helper()
	sent, here := raw(t, send, &format.Send{})
	received, far := raw(t, recv, &format.Recv{})
	if here.ClockID == far.ClockID {
		t.Fatal("both are in one time namespace")
	}
	const day = ahead * int64(time.Second)
	if d := far.Offset() + day - here.Offset() - offset; d > int64(time.Millisecond) || d < -int64(time.Millisecond) {
		t.Errorf("the receiver's clock is off by %v more than it was told", time.Duration(d))
	}
	j, err := join.Open([]string{send, recv}, join.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close() //nolint:errcheck // it was read only
	rows := 0
	var worst, widest, shortest int64 = 0, 0, 1 << 62
	var b format.Merged
	for {
		if err := j.Next(&b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			rows++
			own := received[b.Seq[i]]
			arrived := far.Monotonic - day + int64(float64(own-far.Wall)/(1+gain)) // by the machine's monotonic clock
			truth := arrived - (sent[b.Seq[i]] - here.Offset())
			off := b.Received[i] - b.Sent[i] - truth
			off = max(off, -off)
			// The truth itself is known to within both anchors; a microsecond is for rounding.
			if b.Bound[i] == format.Null || off > b.Bound[i]+here.Gap+far.Gap+1000 {
				t.Errorf("message %d: off by %d ns, bound %d ns", b.Seq[i], off, b.Bound[i])
			}
			worst, widest, shortest = max(worst, off), max(widest, b.Bound[i]), min(shortest, truth)
		}
	}
	acc := j.Accounting()
	if rows != 200 || acc.Clock.Source != clock.Probes || shortest < int64(there.Delay) || widest > int64(time.Second) {
		t.Errorf("%d rows, aligned by %s, bound at most %d ns, shortest way %d ns: %v", rows, acc.Clock.Source, widest, shortest, acc.Notes)
	}
	t.Logf("off by at most %v, bound at most %v", time.Duration(worst), time.Duration(widest))
}

// raw returns what a log has, by seq: the sent or received instants by the clock of
// its process, and the anchor of that.
func raw(t *testing.T, name string, b format.Batch) (map[int64]int64, timestamp.Anchor) {
	t.Helper()
	l, err := format.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	at := map[int64]int64{}
	for {
		if err := l.Read(b); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch b := b.(type) {
		case *format.Send:
			for i := range b.Len() {
				at[b.Seq[i]] = b.Sent[i]
			}
		case *format.Recv:
			for i := range b.Len() {
				at[b.Seq[i]] = b.Received[i]
			}
		}
	}
	a, ok, err := l.Meta().Anchor()
	if err != nil || !ok {
		t.Fatalf("%s: no anchor: %v", name, err)
	}
	return at, a
}
