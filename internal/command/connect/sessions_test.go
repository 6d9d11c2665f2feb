package connect

import (
	"net"
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/timestamp"
)

// Links of a connection share a session only if that is asked for, and begin
// another one after it was forgotten.
func TestSessions(t *testing.T) {
	t.Parallel()
	b, err := broker.New(broker.Config{})
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
		_ = b.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	for _, mode := range []string{"each", "shared"} {
		f := parse(t, nil, "-u", "amqp://"+l.Addr().String(), "--sessions", mode)
		cfg, err := f.Config(timestamp.NewClock(), func(amqp.Event) {})
		if err != nil {
			t.Fatal(err)
		}
		conns, err := Dial(t.Context(), cfg, 2)
		if err != nil {
			t.Fatal(err)
		}
		s := f.Sessions()
		first, err := s.Of(t.Context(), conns[0])
		if err != nil {
			t.Fatal(err)
		}
		second, _ := s.Of(t.Context(), conns[0])
		other, _ := s.Of(t.Context(), conns[1])
		s.Forget(conns[0])
		third, _ := s.Of(t.Context(), conns[0])
		if shared := mode == "shared"; f.SessionMode() != mode || (first != nil) != shared || first != second || shared && (first == other || first == third) {
			t.Errorf("%s: %p, %p, %p, %p", mode, first, second, other, third)
		}
		if err := Close([]*fakeLink{}, conns); err != nil {
			t.Error(err)
		}
	}
}
