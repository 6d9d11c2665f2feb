package broker_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp/broker"
)

func TestRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{NoAutoCreate: true, Addresses: []string{"here", "topic://news"}, Forbidden: []string{"secret"}})
		defer w.close()
		ses := w.session()
		for addr, want := range map[string]amqp.ErrCond{
			"nowhere": amqp.ErrCondNotFound, "queue://news": amqp.ErrCondNotFound, "secret": amqp.ErrCondUnauthorizedAccess, "queue://": amqp.ErrCondInvalidField,
		} {
			_, err := ses.NewSender(w.ctx, addr, nil)
			var le *amqp.LinkError
			var ae *amqp.Error
			switch {
			case errors.As(err, &le) && le.RemoteErr != nil:
				ae = le.RemoteErr
			case errors.As(err, &ae):
			}
			if ae == nil || ae.Condition != want {
				t.Errorf("sender to %q: %v, want %s", addr, err, want)
			}
			if _, err = ses.NewReceiver(w.ctx, addr, nil); err == nil || !strings.Contains(err.Error(), string(want)) {
				t.Errorf("receiver from %q: %v, want %s", addr, err, want)
			}
		}
		if _, err := ses.NewReceiver(w.ctx, "", &amqp.ReceiverOptions{DynamicAddress: true}); err == nil {
			t.Error("a dynamic address was accepted")
		}
		if _, err := ses.NewSender(w.ctx, "topic://news", &amqp.SenderOptions{TargetCapabilities: []string{"queue"}}); err == nil {
			t.Error("an address that contradicts its capability was accepted")
		}
		// The session has survived all of it.
		if _, err := ses.NewSender(w.ctx, "here", nil); err != nil {
			t.Error(err)
		}
		if _, err := ses.NewReceiver(w.ctx, "topic://news", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestSASL(t *testing.T) {
	t.Parallel()
	plain := amqp.SASLTypePlain("user", "pass")
	for _, c := range []struct {
		name string
		cfg  broker.Config
		sasl amqp.SASLType
		fail bool
	}{
		{"none", broker.Config{}, nil, false},
		{"anonymous", broker.Config{}, amqp.SASLTypeAnonymous(), false},
		{"plain where there are no users", broker.Config{}, plain, true},
		{"plain", broker.Config{Users: map[string]string{"user": "pass"}}, plain, false},
		{"wrong password", broker.Config{Users: map[string]string{"user": "other"}}, plain, true},
		{"unknown user", broker.Config{Users: map[string]string{"other": "pass"}}, plain, true},
		{"anonymous beside users", broker.Config{Users: map[string]string{"user": "pass"}}, amqp.SASLTypeAnonymous(), false},
		{"anonymous, user required", broker.Config{RequireUser: true, Users: map[string]string{"user": "pass"}}, amqp.SASLTypeAnonymous(), true},
		{"none, user required", broker.Config{RequireUser: true, Users: map[string]string{"user": "pass"}}, nil, true},
		{"plain, user required", broker.Config{RequireUser: true, Users: map[string]string{"user": "pass"}}, plain, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := start(t, c.cfg)
				defer w.close()
				conn, err := amqp.NewConn(w.ctx, w.pipe(), &amqp.ConnOptions{SASLType: c.sasl})
				if (err != nil) != c.fail {
					t.Fatalf("error %v", err)
				}
				if err != nil {
					if strings.Contains(err.Error(), "pass") {
						t.Errorf("the password is in the error: %v", err)
					}
					return
				}
				if p := conn.Properties(); p["product"] != "perf-broker" || p["version"] != "dev" {
					t.Errorf("properties %v", p)
				}
				_ = conn.Close() // on a pipe the library may report its own closing of it
			})
		})
	}
}

// Idle connections live as long as both sides send heartbeats; a silent one dies.
func TestHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{IdleTimeout: 10 * time.Second})
		defer w.close()
		conn := w.dial(&amqp.ConnOptions{IdleTimeout: 4 * time.Second})
		ses, err := conn.NewSession(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ses.NewSender(w.ctx, "q", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		w.send(s, "still here")
	})
}

func TestSilentPeerIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{IdleTimeout: 10 * time.Second})
		defer w.close()
		peer := w.pipe()
		got := make(chan string)
		go func() { got <- readAll(peer) }()
		if _, err := peer.Write(opening()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		out := <-got
		if d := time.Since(began); d < 10*time.Second || d > 12*time.Second || !strings.Contains(out, "amqp:resource-limit-exceeded") {
			t.Errorf("after %v: %q", d, out)
		}
	})
}

func TestCloseTellsClients(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		s := w.sender("q", nil)
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: -1})
		w.send(s, "a", "b")
		if err := r.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		w.receive(r)
		w.close()
		err := s.Send(w.ctx, amqp.NewMessage([]byte("c")), nil)
		if err == nil || !strings.Contains(err.Error(), "amqp:connection:forced") {
			t.Errorf("send after the close: %v", err)
		}
		if d := cmp.Diff(map[broker.Outcome]int{broker.Unsettled: 1, broker.Queued: 1}, w.outcomes()); d != "" {
			t.Error(d)
		}
	})
}
