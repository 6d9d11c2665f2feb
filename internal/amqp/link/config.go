package link

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"amqpperf/internal/amqp"
)

// Defaults and limits of a Config.
const (
	DefaultTimeout     = 10 * time.Second
	DefaultIdleTimeout = 60 * time.Second
	// MinIdleTimeout is the shortest idle timeout taken. Half of it is announced,
	// and brokers refuse or round away less than 1 s; below 4 s there is no margin.
	MinIdleTimeout = 4 * time.Second
	// DefaultMaxFrameSize is the largest frame that we accept, in bytes.
	DefaultMaxFrameSize = 65536
	// DefaultSessionWindow is how many transfer frames a session may have under way to us.
	DefaultSessionWindow = 1 << 20
	// closeTimeout bounds each polite shutdown; after it the socket is closed.
	closeTimeout   = 2 * time.Second
	leastFrameSize = 1024 // AMQP allows 512, for which go-amqp announces 65536
	mostFrameSize  = 16 << 20
	// maxSessions is how many sessions of a connection ClientOwn allows the peer.
	maxSessions = 256
)

// Config says how connections are made. Zero values mean the defaults given.
type Config struct {
	// URL is where to connect, with the credentials. Without a user: SASL ANONYMOUS
	// (EXTERNAL with a client certificate); with one: PLAIN.
	URL URL
	// Client says who runs sessions and links. "": ClientOwn.
	Client Client
	// Hostname goes into the open frame: the virtual host, e.g. "vhost:perf" on
	// RabbitMQ. "": the URL's host.
	Hostname string
	// ContainerID is the prefix of the container id, which gets a random part and
	// the index of the connection: brokers refuse the same one twice. "": "amqpperf".
	ContainerID string
	// ContainerExact uses ContainerID as it is for connection 0, and with "-" and the
	// index behind it for the others: for durable subscriptions, which belong to it.
	ContainerExact bool
	// SASL is the mechanism. "": by URL.
	SASL SASL
	// TLS may be set with an amqps URL only.
	TLS TLS
	// Timeout bounds connecting, attaching and every other wait for an answer. 0: 10 s.
	Timeout time.Duration
	// IdleTimeout ends a connection from which nothing has come for that long; half of
	// it is announced. 0: 60 s; at least 4 s.
	IdleTimeout time.Duration
	// SndBuf and RcvBuf are the sizes of the socket's buffers in bytes (SO_SNDBUF,
	// SO_RCVBUF), set before it connects, so that they count for the TCP window too.
	// Linux doubles them for its own use, and caps them at net.core.wmem_max and rmem_max.
	// 0: the system's, which adapt.
	SndBuf, RcvBuf int
	// MaxFrameSize is the largest frame that we accept, in bytes, as announced in our
	// open; some brokers send no larger ones either. 0: 64 KiB; 1 KiB to 16 MiB.
	MaxFrameSize uint32
	// SessionWindow is how many transfer frames a session may have under way to us,
	// renewed at half. 0: 1048576. ClientOwn only: the library's is 5000.
	SessionWindow uint32
	// Style is how queue:// and topic:// are written for this broker. 0: by the
	// product in its open frame.
	Style Style
	// Now is the clock of all instants (ns since the Unix epoch), timestamp.Clock's
	// Now. It must be set.
	Now func() int64
	// OnEvent is told what happens to connections and links, from several goroutines
	// at once; it must not block. nil: nobody is told.
	OnEvent func(amqp.Event)

	serial uint32 // where our serial numbers start, for tests of their wrap
}

// TLS are the settings of an amqps connection. The zero value verifies the
// broker's certificate against the system's authorities.
type TLS struct {
	// CAFile is a PEM file of the authorities to trust instead of the system's.
	CAFile string
	// CertFile and KeyFile are PEM files of a client certificate; both or none.
	CertFile, KeyFile string
	// ServerName is the name to verify and to send (SNI). "": the URL's host.
	ServerName string
	// Insecure verifies nothing.
	Insecure bool
}

// Check reports the first thing in c that cannot be honoured.
func (c Config) Check() error {
	switch {
	case c.URL.host == "":
		return errors.New("no broker URL")
	case c.Now == nil:
		return errors.New("link: no clock")
	case !c.URL.tls && c.TLS != TLS{}:
		return errors.New("TLS options need an amqps:// URL")
	case (c.TLS.CertFile == "") != (c.TLS.KeyFile == ""):
		return errors.New("a client certificate needs both its file and that of its key")
	case c.TLS.Insecure && c.TLS.CAFile != "":
		return errors.New("a CA file and no verification contradict each other")
	case c.SndBuf < 0 || c.RcvBuf < 0:
		return fmt.Errorf("socket buffers of %d and %d bytes: above 0, or 0 for the system's", c.SndBuf, c.RcvBuf)
	case c.MaxFrameSize != 0 && (c.MaxFrameSize < leastFrameSize || c.MaxFrameSize > mostFrameSize):
		return fmt.Errorf("max-frame-size of %d bytes: %d bytes to 16 MiB", c.MaxFrameSize, leastFrameSize)
	case c.SessionWindow != 0 && c.Client.orDefault() == ClientLibrary:
		return errors.New("the session window is that of --client own: go-amqp has a fixed one")
	case c.SessionWindow > 1<<31-1:
		return fmt.Errorf("session window of %d frames: at most 2147483647", c.SessionWindow)
	case c.ContainerExact && c.ContainerID == "":
		return errors.New("an exact container id, but none is given")
	case c.Timeout < 0:
		return fmt.Errorf("negative timeout %v", c.Timeout)
	case c.IdleTimeout != 0 && c.IdleTimeout < MinIdleTimeout:
		return fmt.Errorf("idle timeout %v: at least %v, brokers refuse or ignore shorter ones", c.IdleTimeout, MinIdleTimeout)
	}
	return c.checkSASL()
}

// withDefaults fills in the defaults.
func (c Config) withDefaults() Config {
	if c.Hostname == "" {
		c.Hostname = c.URL.host
	}
	if c.ContainerID == "" {
		c.ContainerID = "amqpperf"
	}
	if c.MaxFrameSize == 0 {
		c.MaxFrameSize = DefaultMaxFrameSize
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.OnEvent == nil {
		c.OnEvent = func(amqp.Event) {}
	}
	return c
}

// config makes the tls.Config; the files are read on every call.
func (t TLS) config(host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.Insecure, MinVersion: tls.VersionTLS12}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("CA file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("CA file %s: no PEM certificate in it", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{cert}
	}
	return c, nil
}

// randomName returns a name that nobody else has: prefix, dash, 8 hex digits.
func randomName(prefix string) string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return prefix + "-" + hex.EncodeToString(b[:])
}
