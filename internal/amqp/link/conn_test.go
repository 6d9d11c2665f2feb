package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
)

// TestDialErrors: each failure is one typed, helpful line without the password.
func TestDialErrors(t *testing.T) { bothClients(t, testDialErrors) }

func testDialErrors(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3tw0rd"
	withUser := ownBroker(t, broker.Config{Users: map[string]string{"demo": secret}, RequireUser: true}).url
	anonymous := ownBroker(t, broker.Config{}).url
	for name, c := range map[string]struct {
		url       URL
		condition string
		want      string
	}{
		"wrong password": {withUser.WithUser("demo", secret+"x"), CondUnauthorized, `refused user "demo"`},
		"no user":        {withUser, CondUnauthorized, "wants a user"},
		"no PLAIN":       {anonymous.WithUser("demo", secret), CondUnauthorized, "does not take a user"},
		"nobody there":   {parsed(t, "amqp://demo:"+secret+"@"+freePort(t)), "", "nobody listens"},
		"not AMQP":       {parsed(t, "amqp://demo:"+secret+"@"+talker(t, "HTTP/1.1 400 Bad Request\r\n\r\n")), "", "no AMQP 1.0 broker"},
		"AMQP 0-9-1":     {parsed(t, "amqp://demo:"+secret+"@"+talker(t, "AMQP\x00\x00\x09\x01")), "", "no AMQP 1.0 broker"},
		"hangs up":       {parsed(t, "amqp://demo:"+secret+"@"+talker(t, "")), "", "closed the connection"},
		"echoes":         {parsed(t, "amqp://demo:"+secret+"@"+talker(t, "AMQP: bad "+secret)), "", "no AMQP 1.0 broker"},
		"no TLS":         {parsed(t, "amqps://demo:"+secret+"@"+talker(t, "HTTP/1.1 400 Bad Request\r\n\r\n")), "", "no TLS there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var events []amqp.Event
			cfg := config(t, c.url)
			cfg.OnEvent = func(e amqp.Event) { events = append(events, e) }
			_, err := Dial(limit(t), cfg, 0)
			var e *Error
			if !errors.As(err, &e) || e.Op != "connect" || e.Condition != c.condition || !strings.Contains(e.Description, c.want) {
				t.Errorf("%#v, want %q", err, c.want)
			}
			for cause := err; cause != nil; cause = errors.Unwrap(cause) {
				if s := fmt.Sprintf("%v %+v %#v", cause, cause, cause); strings.Contains(s, secret) {
					t.Errorf("the error shows the password: %s", s)
				}
			}
			if len(events) != 1 || events[0].Kind != amqp.EventError || strings.Contains(events[0].Text, secret) {
				t.Errorf("events %+v", events)
			}
		})
	}
}

// freePort returns an address where nobody listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // that is the point
	return l.Addr().String()
}

// talker returns the address of a peer that reads a little, says its text and hangs up.
func talker(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 8))
			_, _ = c.Write([]byte(text))
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}

// TestDialTimeout: a peer that says nothing costs the timeout and no more.
func TestDialTimeout(t *testing.T) { bothClients(t, testDialTimeout) }

func testDialTimeout(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	cfg := config(t, parsed(t, "amqp://"+l.Addr().String()))
	cfg.Timeout = 50 * time.Millisecond
	_, err = Dial(context.Background(), cfg, 0)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "no answer within 50ms") {
		t.Errorf("%v", err)
	}
}

// TestRefusedLinks: the peer's condition comes with the attach, and the connection can still be used.
func TestRefusedLinks(t *testing.T) { bothClients(t, testRefusedLinks) }

func testRefusedLinks(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	b := ownBroker(t, broker.Config{NoAutoCreate: true, Addresses: []string{"queue://here"}, Forbidden: []string{"queue://secret"}})
	c := dial(t, config(t, b.url), 0)
	for address, condition := range map[string]string{"queue://none": "amqp:not-found", "queue://secret": "amqp:unauthorized-access"} {
		var e *Error
		_, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: newLedger(t)})
		if !errors.As(err, &e) || e.Condition != condition || e.Op != "attach" || e.Address != address {
			t.Errorf("sender to %s: %v", address, err)
		}
		_, err = c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 1})
		if !errors.As(err, &e) || e.Condition != condition || e.Op != "attach" || e.Address != address {
			t.Errorf("receiver of %s: %v", address, err)
		}
	}
	if _, err := c.NewReceiver(ctx, ReceiverConfig{Address: "queue://here", Credit: 1}); err != nil {
		t.Error(err)
	}
	if p := c.Peer(); p.Product != "perf-broker" || p.MaxFrameSize != 65536 {
		t.Errorf("peer %+v", p)
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	good := Config{URL: parsed(t, "amqp://h"), Now: func() int64 { return 0 }}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Config){
		"no broker URL":    func(c *Config) { c.URL = URL{} },
		"clock":            func(c *Config) { c.Now = nil },
		"amqps://":         func(c *Config) { c.TLS.Insecure = true },
		"its key":          func(c *Config) { c.URL = parsed(t, "amqps://h"); c.TLS.CertFile = "x" },
		"contradict":       func(c *Config) { c.URL = parsed(t, "amqps://h"); c.TLS = TLS{CAFile: "x", Insecure: true} },
		"idle timeout 1s":  func(c *Config) { c.IdleTimeout = time.Second },
		"negative timeout": func(c *Config) { c.Timeout = -1 },
	} {
		c := good
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
