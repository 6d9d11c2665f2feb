package link

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// TestWireOptions: what is asked for is in the open and begin that the peer sees.
func TestWireOptions(t *testing.T) { bothClients(t, testWireOptions) }

func testWireOptions(t *testing.T) {
	t.Parallel()
	type seen struct {
		open  *wire.Open
		begin *wire.Begin
		init  *wire.SASLInit
	}
	for name, c := range map[string]struct {
		change func(*Config)
		check  func(seen) bool
	}{
		"max-frame-size": {func(c *Config) { c.MaxFrameSize = 1025 }, func(s seen) bool { return s.open.MaxFrameSize.V == 1025 }},
		"default frames": {func(*Config) {}, func(s seen) bool { return s.open.MaxFrameSize.V == DefaultMaxFrameSize }},
		"session window": {func(c *Config) {
			if c.Client == ClientOwn {
				c.SessionWindow = 7
			}
		}, func(s seen) bool { return s.begin.IncomingWindow == 7 || s.begin.IncomingWindow == 5000 }},
		"container": {func(c *Config) { c.ContainerID = "me" }, func(s seen) bool {
			return strings.HasPrefix(s.open.ContainerID, "me-") && strings.HasSuffix(s.open.ContainerID, "-3") && len(s.open.ContainerID) == len("me-01234567-3")
		}},
		"exact container": {func(c *Config) { c.ContainerID, c.ContainerExact = "me", true }, func(s seen) bool { return s.open.ContainerID == "me-3" }},
		"hostname":        {func(c *Config) { c.Hostname = "vhost:x" }, func(s seen) bool { return s.open.Hostname == "vhost:x" }},
		"no user":         {func(*Config) {}, func(s seen) bool { return s.init.Mechanism == wire.MechAnonymous }},
		"anonymous":       {func(c *Config) { c.SASL = SASLAnonymous }, func(s seen) bool { return s.init.Mechanism == wire.MechAnonymous }},
		"plain": {func(c *Config) { c.SASL, c.URL = SASLPlain, c.URL.WithUser("u", "p") }, func(s seen) bool {
			return s.init.Mechanism == wire.MechPlain && string(s.init.InitialResponse) == "\x00u\x00p"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := make(chan seen, 1)
			f := newFake(t, func(f *fake) {
				f.mechanisms = []wire.Symbol{wire.MechAnonymous, wire.MechPlain, wire.MechExternal}
				if f.attach(0) {
					got <- seen{f.opened, f.begun, f.init}
					f.finish()
				}
			})
			cfg := config(t, f.url)
			c.change(&cfg)
			if _, err := dial(t, cfg, 3).NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 1}); err != nil {
				t.Fatal(err)
			}
			if s := <-got; !c.check(s) {
				t.Errorf("open %+v, begin %+v, mechanism %s", s.open, s.begin, s.init.Mechanism)
			}
		})
	}
}

// TestFrameSize: no frame to us is larger than we announced, and a larger one is refused.
func TestFrameSize(t *testing.T) { bothClients(t, testFrameSize) }

func testFrameSize(t *testing.T) {
	t.Parallel()
	u := ownBroker(t, broker.Config{}).url
	for _, size := range []uint32{1024, 300_000} {
		address, sink := queue(t), newLedger(t)
		cfg := config(t, u)
		cfg.MaxFrameSize = size
		c := dial(t, cfg, 0)
		s, err := c.NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.NewReceiver(limit(t), ReceiverConfig{Address: address, Credit: 10})
		if err != nil {
			t.Fatal(err)
		}
		if err := submitAll(limit(t), s, messages(uint64(size), 2, 200_000)); err != nil {
			t.Fatal(err)
		}
		if seen := receiveAll(limit(t), t, r, 2); len(seen) != 2 {
			t.Errorf("size %d: %v", size, seen)
		}
	}
	f := newFake(t, func(f *fake) {
		if f.attach(0) {
			await[*wire.Flow](f)
			f.send(0, &wire.Message{Data: [][]byte{make([]byte, 2000)}})
			f.finish()
		}
	})
	cfg := config(t, f.url)
	cfg.MaxFrameSize = 1024
	r, err := dial(t, cfg, 0).NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Receive(limit(t), make([]amqp.Delivery, 1)); err == nil {
		t.Error("a frame of 2000 bytes was taken where 1024 were announced")
	}
}

// TestSocketBuffers: the sizes asked for are those of the socket.
func TestSocketBuffers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the sizes that other systems report are their own affair")
	}
	cfg := config(t, ownBroker(t, broker.Config{}).url)
	cfg.SndBuf, cfg.RcvBuf = 40_000, 50_000
	c := dial(t, cfg, 0)
	socket, ok := c.NetConn().(syscall.Conn)
	if !ok {
		t.Fatalf("%T", c.NetConn())
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var snd, rcv int
	if err := raw.Control(func(fd uintptr) {
		snd, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
		rcv, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
	}); err != nil {
		t.Fatal(err)
	}
	if snd != 2*40_000 || rcv != 2*50_000 { // Linux doubles them
		t.Errorf("send buffer %d, receive buffer %d", snd, rcv)
	}
	cfg.SndBuf = 1 << 30
	if _, err := Dial(limit(t), cfg, 0); err == nil || !strings.Contains(err.Error(), "net.core.wmem_max") {
		t.Errorf("a send buffer of 1 GiB: %v", err)
	}
}

// TestConfigContradictions: what cannot be honoured is refused before anything is dialled.
func TestConfigContradictions(t *testing.T) {
	t.Parallel()
	base := config(t, parsed(t, "amqp://127.0.0.1:1"))
	for text, change := range map[string]func(*Config){
		"socket buffers":         func(c *Config) { c.SndBuf = -1 },
		"max-frame-size of 1023": func(c *Config) { c.MaxFrameSize = 1023 },
		"to 16 MiB":              func(c *Config) { c.MaxFrameSize = 16<<20 + 1 },
		"--client own":           func(c *Config) { c.SessionWindow, c.Client = 1, ClientLibrary },
		"session window of":      func(c *Config) { c.SessionWindow = 1 << 31 },
		"PLAIN needs a user":     func(c *Config) { c.SASL = SASLPlain },
		"ANONYMOUS and a user":   func(c *Config) { c.SASL, c.URL = SASLAnonymous, c.URL.WithUser("u", "") },
		"needs a client cert":    func(c *Config) { c.SASL = SASLExternal },
		"exact container id":     func(c *Config) { c.ContainerExact = true },
		"is unknown":             func(c *Config) { c.SASL = "gssapi" },
		"EXTERNAL and a password": func(c *Config) {
			c.SASL, c.URL = SASLExternal, parsed(t, "amqps://u:p@h")
			c.TLS = TLS{CertFile: "c", KeyFile: "k"}
		},
	} {
		cfg := base
		change(&cfg)
		if err := cfg.Check(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, c := range []interface{ Set(string) error }{new(SASL), new(BodySection)} {
		if c.Set("nonsense") == nil {
			t.Errorf("%T takes nonsense", c)
		}
	}
}

// TestExternal: with a client certificate the mechanism is EXTERNAL, and the peer sees certificate and server name.
func TestExternal(t *testing.T) { bothClients(t, testExternal) }

func testExternal(t *testing.T) {
	t.Parallel()
	lender := httptest.NewTLSServer(nil)
	lender.Close()
	pair := lender.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"), ServerName: "example.com"}
	files.CAFile = files.CertFile
	for name, block := range map[string]*pem.Block{files.CertFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, files.KeyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"", "somebody"} {
		type seen struct {
			init  *wire.SASLInit
			state tls.ConnectionState
		}
		got := make(chan seen, 1)
		f := newFake(t, func(f *fake) {
			secure := tls.Server(f.conn, &tls.Config{Certificates: lender.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert})
			f.conn, f.mechanisms = secure, []wire.Symbol{wire.MechPlain, wire.MechExternal}
			if f.open() {
				got <- seen{f.init, secure.ConnectionState()}
				f.finish()
			}
		})
		cfg := config(t, parsed(t, "amqps://"+f.listener.Addr().String()))
		cfg.TLS = files
		if user != "" {
			cfg.SASL, cfg.URL = SASLExternal, cfg.URL.WithUser(user, "")
		}
		dial(t, cfg, 0)
		s := <-got
		if s.init.Mechanism != wire.MechExternal || string(s.init.InitialResponse) != user {
			t.Errorf("mechanism %s, identity %q", s.init.Mechanism, s.init.InitialResponse)
		}
		if s.state.ServerName != "example.com" || len(s.state.PeerCertificates) != 1 {
			t.Errorf("server name %q, %d certificates", s.state.ServerName, len(s.state.PeerCertificates))
		}
	}
}

// TestSharedByTwo: two links on one session, and another session beside it.
func TestSharedByTwo(t *testing.T) { bothClients(t, testSharedByTwo) }

func testSharedByTwo(t *testing.T) {
	t.Parallel()
	begins := make(chan uint16, 10)
	f := newFake(t, func(f *fake) {
		if !f.open() {
			return
		}
		for {
			switch x := f.read().(type) {
			case *wire.Begin:
				begins <- f.channel
				f.write(&wire.Begin{RemoteChannel: wire.Some(f.channel), IncomingWindow: 100, OutgoingWindow: 100})
			case *wire.Attach:
				f.write(&wire.Attach{Name: x.Name, Handle: x.Handle, Role: !x.Role, Source: x.Source, Target: x.Target, InitialDeliveryCount: wire.Some(uint32(0))})
			case *wire.Detach:
				f.write(&wire.Detach{Handle: x.Handle, Closed: true})
			case *wire.End:
				f.write(&wire.End{})
			case *wire.Close:
				f.write(&wire.Close{})
				return
			case nil:
				return
			}
		}
	})
	c := dial(t, config(t, f.url), 0)
	session, err := c.NewSession(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t), Session: session})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 10, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(begins); n != 1 {
		t.Errorf("%d sessions for two links that share one", n)
	}
	if err := errors.Join(s.Close(limit(t)), r.Close(limit(t))); err != nil {
		t.Error(err)
	}
	if err := c.Close(limit(t)); err != nil {
		t.Error(err)
	}
}
