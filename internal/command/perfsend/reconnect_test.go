package perfsend_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

func stampOf(t *testing.T, m *goamqp.Message) timestamp.Stamp {
	t.Helper()
	s, err := timestamp.Parse(m.GetData())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cutter passes connections on and cuts each of the first ones after so many bytes
// of the client's.
type cutter struct {
	to string
	wg sync.WaitGroup
}

// newCutter returns the URL of one. With last there is nobody any more after the
// last cut.
func newCutter(t *testing.T, url string, last bool, after ...int64) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{to: strings.TrimPrefix(url, "amqp://")}
	c.wg.Go(func() {
		for n := 0; ; n++ {
			in, err := l.Accept()
			if err != nil {
				return
			}
			limit := int64(1 << 40)
			if n < len(after) {
				limit = after[n]
			}
			c.wg.Go(func() {
				c.pass(in, limit, func() {
					if last && n == len(after)-1 {
						_ = l.Close() // the cleanup does so, too
					}
				})
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // nothing is accepted any more
		c.wg.Wait()
	})
	return "amqp://" + l.Addr().String()
}

// whenSent returns the URL of a proxy that calls back once so many bytes of the
// client's have passed, and goes on.
func whenSent(t *testing.T, url string, bytes int64, do func()) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{to: strings.TrimPrefix(url, "amqp://")}
	c.wg.Go(func() {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", c.to)
		if err != nil {
			_ = in.Close()
			return
		}
		c.wg.Go(func() {
			_, _ = io.Copy(in, out) // ends with the broker's side
			_ = in.Close()
		})
		if _, err := io.CopyN(out, in, bytes); err == nil {
			do()
		}
		_, _ = io.Copy(out, in) // ends with the client's side
		_ = out.Close()
	})
	t.Cleanup(func() {
		_ = l.Close() // nothing is accepted any more
		c.wg.Wait()
	})
	return "amqp://" + l.Addr().String()
}

// pass calls back before the cut.
func (c *cutter) pass(in net.Conn, limit int64, before func()) {
	defer in.Close() //nolint:errcheck // it is cut
	out, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer out.Close() //nolint:errcheck // likewise
	c.wg.Go(func() {
		_, _ = io.Copy(in, out) // ends with the cut
		_ = in.Close()
	})
	_, _ = io.CopyN(out, in, limit)
	before()
}

// The connection is cut twice. Every message has its row; what was under way has
// failed, and with --resend it is sent again as the next attempt, so that all arrive.
func TestReconnect(t *testing.T) {
	t.Parallel()
	for _, flags := range []string{"--sessions shared", "--resend --sessions shared", "--resend --tx 10"} {
		t.Run(flags, func(t *testing.T) {
			t.Parallel()
			testReconnect(t, flags)
		})
	}
}

func testReconnect(t *testing.T, flags string) {
	t.Helper()
	resend := strings.Contains(flags, "--resend")
	_, url := startBroker(t, broker.Config{})
	through := newCutter(t, url, false, 60_000, 90_000)
	s := newSession(t)
	// Two producers share the connection.
	code := s.run("-u " + through + " --reconnect=30s " + flags + " -r 1k -n 400 -s 500 --producers 2 --connections 1 -o " + s.log + " queue://a")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	accepted, rows := map[string]bool{}, map[string]int{}
	incarnations := map[int32]bool{}
	for i := range r.b.Len() {
		key := fmt.Sprint(r.b.Producer[i], "/", r.b.Seq[i])
		if attempt := int(r.b.Attempt[i]); attempt != rows[key] {
			t.Errorf("message %s: attempt %d after %d rows", key, attempt, rows[key])
		}
		rows[key]++
		incarnations[r.b.Connection[i]] = true
		wait, _ := r.b.Wait.At(i)
		switch r.outcome(i) {
		case format.Accepted:
			accepted[key] = true
		case format.Failed:
			if resend && i+1 < r.b.Len() && r.b.Seq[i+1] != r.b.Seq[i] {
				t.Errorf("message %s has failed and was not sent again", key)
			}
		default:
			t.Errorf("message %s: %s after waiting for %s", key, r.outcome(i), wait)
		}
		if r.b.Attempt[i] > 0 && wait != format.WaitConnection {
			t.Errorf("message %s, attempt %d, has waited for %s", key, r.b.Attempt[i], wait)
		}
	}
	if len(rows) != 400 || len(incarnations) < 2 || resend && len(accepted) != 400 || !resend && r.b.Len() != 400 {
		t.Errorf("%d messages in %d rows, %d accepted, connections %v", len(rows), r.b.Len(), len(accepted), incarnations)
	}
	kinds := s.events(t)
	if kinds["reconnect"] < 2 { // of each producer's link
		t.Errorf("events %v", kinds)
	}
	// Everything that was said to be accepted is there; else this does not end.
	receiveWhile(t, url, "a", func() bool { return len(accepted) > 0 }, func(m *goamqp.Message) {
		stamp := stampOf(t, m)
		delete(accepted, fmt.Sprint(stamp.Producer, "/", stamp.Seq))
	})
}

// An outage that lasts too long ends the run: everything that was intended has its
// row, and the reason is told.
func TestReconnectGivesUp(t *testing.T) {
	t.Parallel()
	_, broker := startBroker(t, broker.Config{})
	url := newCutter(t, broker, true, 60_000)
	s := newSession(t)
	code := s.run("-u " + url + " -r 1k -n 100k --reconnect=300ms --resend --sessions shared --producers 2 --connections 1 -o " + s.log + " queue://a")
	r := s.read(t)
	if code != cli.ExitFailure || r.meta[format.KeyStop] != "error" || !strings.Contains(s.stderr.String(), "gave up after --reconnect 300ms") {
		t.Errorf("exit %d, stopped by %s: %s", code, r.meta[format.KeyStop], &s.stderr)
	}
	next := map[int32]int64{}
	for i := range r.b.Len() {
		if p := r.b.Producer[i]; r.b.Attempt[i] > 0 || r.b.Seq[i] != next[p] {
			t.Fatalf("row %d is message %d of producer %d, attempt %d", i, r.b.Seq[i], p, r.b.Attempt[i])
		}
		next[r.b.Producer[i]]++
		if reason, _ := r.b.Error.At(i); r.outcome(i) == format.Unsent && !strings.Contains(reason, "gave up") {
			t.Errorf("message %d of producer %d is unsent: %s", r.b.Seq[i], r.b.Producer[i], reason)
		}
	}
}

// events counts the log's events by kind.
func (s *session) events(t *testing.T) map[string]int {
	t.Helper()
	l, err := format.Open(s.log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it was read only
	var b format.Event
	if err := l.Table(&b); err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for i := range b.Len() {
		kind, _ := b.Kind.At(i)
		out[kind]++
	}
	return out
}
