package broker_test

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// raw writes performatives on channel 0.
func raw(t *testing.T, c net.Conn, ps ...wire.Performative) {
	t.Helper()
	var b []byte
	for _, p := range ps {
		b = wire.AppendFrame(b, wire.FrameAMQP, 0, p)
	}
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

// A consumer with credit that does not read holds back little, and only its own:
// the rest goes to others, and it gets its share when it reads on.
func TestConsumerThatDoesNotRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		slow := w.pipe()
		read := make(chan string)
		go func() { // the opening only, for now
			b := make([]byte, 1000)
			_, _ = slow.Read(b) // protocol header
			_, _ = slow.Read(b) // open
			read <- ""
		}()
		if _, err := slow.Write(opening()); err != nil {
			t.Fatal(err)
		}
		<-read
		raw(t, slow, &wire.Begin{IncomingWindow: 1 << 20, OutgoingWindow: 1},
			&wire.Attach{Name: "slow", Role: wire.RoleReceiver, Source: &wire.Source{Address: wire.Some("q")}, Target: &wire.Target{}},
			&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 1 << 20, Handle: wire.Some(uint32(0)), LinkCredit: wire.Some(uint32(1000))})
		s := w.sender("q", nil)
		body := strings.Repeat("x", 50_000)
		const n = 100 // 5 MB
		for range n {
			w.send(s, body)
		}
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: n})
		got := 0
		for ; got < n/2; got++ {
			w.accept(r, w.receive(r))
		}
		for {
			ctx, cancel := w.within(time.Second)
			m, err := r.Receive(ctx, nil)
			cancel()
			if err != nil {
				break
			}
			w.accept(r, m)
			got++
		}
		// About maxUnwritten in the output and as much again with the writer.
		if held := n - got; held == 0 || held > 50 {
			t.Errorf("the slow consumer holds %d messages", held)
		}
		if err := r.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		for range n {
			w.send(s, body)
		}
		go func() { read <- readAll(slow) }()
		time.Sleep(time.Second)
		raw(t, slow, &wire.Close{})
		out := <-read
		if d := strings.Count(out, body); d != 2*n-got {
			t.Errorf("the slow consumer got %d of %d messages when it read on", d, 2*n-got)
		}
		synctest.Wait()
	})
}

// Frames that come in single bytes are put together.
func TestOneByteAtATime(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		c := w.pipe()
		read := make(chan string)
		go func() { read <- readAll(c) }()
		b := wire.AppendFrame(opening(), wire.FrameAMQP, 0, &wire.Begin{})
		b = wire.AppendFrame(b, wire.FrameAMQP, 0, &wire.End{})
		b = wire.AppendFrame(b, wire.FrameAMQP, 0, &wire.Close{})
		for i := range b {
			if _, err := c.Write(b[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		out := []byte(<-read)[len(wire.ProtocolAMQP):]
		var got []wire.Code
		for len(out) > 0 {
			f, n, err := wire.Cut(out, 65536)
			if err != nil || n == 0 {
				t.Fatalf("%d bytes left: %v", len(out), err)
			}
			code, _ := wire.BodyCode(f.Body)
			got = append(got, code)
			out = out[n:]
		}
		if len(got) != 4 || got[0] != wire.CodeOpen || got[1] != wire.CodeBegin || got[2] != wire.CodeEnd || got[3] != wire.CodeClose {
			t.Errorf("got %v", got)
		}
	})
}

// A drain is answered although messages are there that a cap holds back.
func TestDrainUnderCap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{MaxUnsettledBytes: 10})
		defer w.close()
		s := w.sender("q", nil)
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: -1})
		if err := r.IssueCredit(5); err != nil {
			t.Fatal(err)
		}
		w.send(s, "0123456789", "0123456789")
		ctx, cancel := w.within(time.Second)
		defer cancel()
		if err := r.DrainCredit(ctx, nil); err != nil {
			t.Error(err)
		}
		w.receive(r)
	})
}
