package link

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/internal/amqp/broker"
)

// TestTLS: a CA file, a server name and no verification each do what they say.
func TestTLS(t *testing.T) {
	t.Parallel()
	lender := httptest.NewTLSServer(nil) // of a certificate for 127.0.0.1 and example.com
	lender.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: lender.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	b := ownBroker(t, broker.Config{})
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = b.Serve(tls.NewListener(plain, &tls.Config{Certificates: lender.TLS.Certificates})) }() // ends with the broker
	u := parsed(t, "amqps://"+plain.Addr().String())
	for name, c := range map[string]struct {
		tls  TLS
		want string // of the error
	}{
		"unknown authority": {TLS{}, "unknown authority"},
		"CA file":           {TLS{CAFile: ca}, ""},
		"server name":       {TLS{CAFile: ca, ServerName: "example.com"}, ""},
		"wrong server name": {TLS{CAFile: ca, ServerName: "other.example"}, "other.example"},
		"insecure":          {TLS{Insecure: true}, ""},
		"no CA file":        {TLS{CAFile: ca + "x"}, "CA file"},
		"no PEM":            {TLS{CAFile: os.Args[0]}, "no PEM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, u)
			cfg.TLS = c.tls
			conn, err := Dial(limit(t), cfg, 0)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(limit(t)); err != nil {
				t.Error(err)
			}
		})
	}
	// The subtests run in parallel, the broker must outlive them.
	t.Run("round trip", func(t *testing.T) {
		ctx := limit(t)
		cfg := config(t, u)
		cfg.TLS = TLS{CAFile: ca}
		conn, sink := dial(t, cfg, 0), newLedger(t)
		if _, ok := conn.NetConn().(*net.TCPConn); !ok {
			t.Errorf("the socket below TLS is a %T", conn.NetConn())
		}
		s, err := conn.NewSender(ctx, SenderConfig{Address: queue(t), Body: numbered{}, Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		if err := submitAll(ctx, s, messages(0, 10, 100_000)); err != nil {
			t.Fatal(err)
		}
		sink.await(ctx, 10)
	})
}
