package connect

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/link"
	"amqpperf/timestamp"
)

// serve starts a broker on an address, "" for any.
func serve(t *testing.T, address string) (b *broker.Broker, bound string) {
	t.Helper()
	b, err := broker.New(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if address == "" {
		address = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	t.Cleanup(func() {
		_ = b.Close() // the test may have closed it
		<-served
	})
	return b, l.Addr().String()
}

type eventLog struct {
	mu   sync.Mutex
	list []amqp.Event
}

func (l *eventLog) add(e amqp.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, e)
}

func (l *eventLog) of(kind amqp.EventKind) (found []amqp.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.list {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func lines(t *testing.T, address string, longest time.Duration, events *eventLog, onNew func(*link.Conn)) *Lines {
	t.Helper()
	u, err := link.ParseURL("amqp://" + address)
	if err != nil {
		t.Fatal(err)
	}
	cfg := link.Config{URL: u, Now: timestamp.NewClock().Now, OnEvent: events.add}
	conns, err := Dial(t.Context(), cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := NewLines(cfg, Reconnect{Longest: longest}, conns, onNew)
	t.Cleanup(func() { _ = Close[*fakeLink](nil, l.All()) }) // the broker may be gone
	return l
}

// The broker goes away and comes back: two links of one connection share one
// new connection, a failed attach is tried again, and the event says so.
func TestRestore(t *testing.T) {
	t.Parallel()
	b, address := serve(t, "")
	events, news := &eventLog{}, &eventLog{}
	l := lines(t, address, time.Minute, events, func(c *link.Conn) { news.add(amqp.Event{Connection: c.Index(), Kind: "new"}) })
	old := l.Conn(0)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	<-old.Done()
	var wg sync.WaitGroup
	conns := make([]*link.Conn, 2)
	attempts := make([]int, 2)
	for i := range conns {
		wg.Go(func() {
			err := l.Restore(t.Context(), 0, errors.New("cut"), func(_ context.Context, c *link.Conn) error {
				attempts[i]++
				if i == 1 && attempts[i] == 1 {
					return errors.New("not yet")
				}
				conns[i] = c
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	serve(t, address)
	wg.Wait()
	if conns[0] != conns[1] || conns[0] == old || l.Conn(0) != conns[0] || l.All()[0] != conns[0] || len(news.of("new")) != 1 {
		t.Errorf("connections %v, %d new ones", conns, len(news.of("new")))
	}
	again := events.of(EventReconnect)
	if len(again) != 2 || !strings.HasPrefix(again[0].Text, "again after ") || attempts[1] != 2 {
		t.Errorf("events %+v, attempts %v", again, attempts)
	}
}

// A connection that lives is not made again for a link that is lost.
func TestRestoreLink(t *testing.T) {
	t.Parallel()
	_, address := serve(t, "")
	events := &eventLog{}
	l := lines(t, address, time.Minute, events, nil)
	old := l.Conn(0)
	err := l.Restore(t.Context(), 0, errors.New("detached"), func(_ context.Context, c *link.Conn) error {
		if c != old {
			t.Error("another connection")
		}
		return nil
	})
	again := events.of(EventReconnect)
	if err != nil || len(again) != 1 || !strings.HasSuffix(again[0].Text, "lost: detached") {
		t.Errorf("%v, events %+v", err, again)
	}
}

// An outage that lasts too long is given up with the last cause, one that the
// user ends with the context's error; neither is an event.
func TestRestoreGivesUp(t *testing.T) {
	t.Parallel()
	b, address := serve(t, "")
	events := &eventLog{}
	l := lines(t, address, 300*time.Millisecond, events, nil)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	<-l.Conn(0).Done()
	never := func(context.Context, *link.Conn) error { return errors.New("there is no connection") }
	err := l.Restore(t.Context(), 0, errors.New("cut"), never)
	if err == nil || !strings.Contains(err.Error(), "gave up after --reconnect 300ms: ") || strings.Contains(err.Error(), "no connection") {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Restore(ended, 0, nil, never); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if again := events.of(EventReconnect); len(again) != 0 {
		t.Errorf("events %+v", again)
	}
}

func TestReconnectFlag(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args []string
		want time.Duration
		err  bool
	}{
		{nil, 0, false}, {[]string{"--reconnect"}, DefaultOutage, false}, {[]string{"--reconnect=5s"}, 5 * time.Second, false},
		{[]string{"--reconnect=0"}, 0, true}, {[]string{"--reconnect=-1s"}, 0, true}, {[]string{"--reconnect=5"}, 0, true},
	} {
		var r Reconnect
		fs := pflag.NewFlagSet("x", pflag.ContinueOnError)
		r.Register(fs)
		if err := fs.Parse(tt.args); (err != nil) != tt.err || r.Longest != tt.want || r.Enabled() != (tt.want > 0) {
			t.Errorf("%v: %v, %v", tt.args, r.Longest, err)
		}
	}
}
