package broker_test

import (
	"io"
	"net"
	"testing"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// opening is what a client without SASL sends first.
func opening() []byte {
	return wire.AppendFrame([]byte(wire.ProtocolAMQP), wire.FrameAMQP, 0, &wire.Open{ContainerID: "raw"})
}

// readAll reads until the peer hangs up.
func readAll(c net.Conn) string {
	b, _ := io.ReadAll(c)
	return string(b)
}

// A client may send open, begin and close in one write and then only listen:
// the answers must come without another byte from it.
func TestPipelinedClient(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		c := w.pipe()
		all := wire.AppendFrame(opening(), wire.FrameAMQP, 0, &wire.Begin{IncomingWindow: 10, OutgoingWindow: 10})
		all = wire.AppendFrame(all, wire.FrameAMQP, 0, &wire.Close{})
		done := make(chan string)
		go func() { done <- readAll(c) }()
		if _, err := c.Write(all); err != nil {
			t.Fatal(err)
		}
		answer := []byte(<-done)[len(wire.ProtocolAMQP):]
		var codes []uint64
		for len(answer) > 0 {
			f, n, err := wire.Cut(answer, 1<<20)
			if err != nil || n == 0 {
				t.Fatalf("answer: %d bytes left, %v", len(answer), err)
			}
			code, err := wire.BodyCode(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			codes = append(codes, uint64(code))
			answer = answer[n:]
		}
		if want := []uint64{uint64(wire.CodeOpen), uint64(wire.CodeBegin), uint64(wire.CodeClose)}; len(codes) != 3 || codes[0] != want[0] || codes[1] != want[1] || codes[2] != want[2] {
			t.Errorf("answers %#x, want %#x", codes, want)
		}
	})
}
