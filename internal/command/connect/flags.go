// Package connect is what the commands that load a broker share in wiring: the
// flags about the connection and what they make of a link's configuration, the
// name of the log, and opening and closing many connections at a time.
package connect

import (
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/units"
	"amqpperf/timestamp"
)

// Flags are the flags of the group Connection.
type Flags struct {
	cli.ConnFlags

	Style  link.Style
	Client link.Client

	sasl          link.SASL
	sessions      cli.Enum
	sndBuf        units.Size
	rcvBuf        units.Size
	maxFrameSize  units.Size
	sessionWindow units.Count
}

// The values of --sessions.
const (
	sessionsEach   = "each"
	sessionsShared = "shared"
)

// Register defines the flags.
func (f *Flags) Register(cmd *cobra.Command, env *cli.Env) {
	f.sessions = cli.NewEnum("how", sessionsEach, sessionsEach, sessionsShared)
	cli.Group(cmd, "Connection", func(fs *pflag.FlagSet) {
		f.ConnFlags.Register(fs, env)
		fs.Var(&f.Style, "address-style", "how queue:// and topic:// are written: auto, artemis, rabbitmq3, rabbitmq4, activemq, brokerj, verbatim")
		fs.Var(&f.Client, "client", "who runs sessions and links: own (instants of socket reads and writes), or library (go-amqp alone, as a second opinion)")
		fs.Var(&f.sasl, "sasl", "plain, anonymous or external (default plain with a user, external with a client certificate, else anonymous)")
		fs.Var(&f.sessions, "sessions", "a session for each link, or one that the links of a connection share: each, shared")
		fs.Var(&f.sndBuf, "sndbuf", "send buffer of the sockets, SO_SNDBUF (default the system's, which adapts)")
		fs.Var(&f.rcvBuf, "rcvbuf", "receive buffer of the sockets, SO_RCVBUF (default the system's, which adapts)")
		fs.Var(&f.maxFrameSize, "max-frame-size", "largest frame that we take, and some brokers then send: 512 to 16MiB (default 64KiB)")
		fs.Var(&f.sessionWindow, "session-window", "transfer frames that may be under way to us on a session (default 1048576; --client own)")
		for _, name := range []string{"sndbuf", "rcvbuf", "max-frame-size", "session-window"} {
			fs.Lookup(name).DefValue = ""
		}
	})
}

// Config returns the configuration of the connections, checked. Errors are
// usage errors, but for a password file that cannot be read.
func (f *Flags) Config(clock *timestamp.Clock, onEvent func(amqp.Event)) (link.Config, error) {
	u, err := link.ParseURL(f.URL())
	if err != nil {
		return link.Config{}, cli.Usagef("--url: %w", err)
	}
	password, err := f.Password()
	if err != nil {
		return link.Config{}, err
	}
	if f.User != "" {
		u = u.WithUser(f.User, password)
	}
	if f.Timeout <= 0 {
		return link.Config{}, cli.Usagef("--timeout %v: must be above 0", f.Timeout)
	}
	c := link.Config{
		URL: u, Hostname: f.Hostname, ContainerID: f.ContainerID, Timeout: f.Timeout, IdleTimeout: f.IdleTimeout,
		TLS:   link.TLS{CAFile: f.TLSCA, CertFile: f.TLSCert, KeyFile: f.TLSKey, ServerName: f.TLSServerName, Insecure: f.TLSInsecure},
		Style: f.Style, Client: f.Client, Now: clock.Now, OnEvent: onEvent,
		SASL: f.sasl, SndBuf: int(f.sndBuf), RcvBuf: int(f.rcvBuf), MaxFrameSize: uint32(f.maxFrameSize), SessionWindow: uint32(f.sessionWindow),
	}
	if int64(f.sessionWindow) > math.MaxInt32 {
		return link.Config{}, cli.Usagef("--session-window %v: at most %d", f.sessionWindow, math.MaxInt32)
	}
	if err := c.Check(); err != nil {
		return link.Config{}, cli.Usagef("%w", err)
	}
	return c, nil
}
