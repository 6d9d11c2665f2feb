// Package connect is what the commands that load a broker share in wiring: the
// flags about the connection and what they make of a link's configuration, the
// name of the log, and opening and closing many connections at a time.
package connect

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

// Flags are the flags of the group Connection.
type Flags struct {
	cli.ConnFlags

	Style  link.Style
	Client link.Client
}

// Register defines the flags.
func (f *Flags) Register(cmd *cobra.Command, env *cli.Env) {
	cli.Group(cmd, "Connection", func(fs *pflag.FlagSet) {
		f.ConnFlags.Register(fs, env)
		fs.Var(&f.Style, "address-style", "how queue:// and topic:// are written: auto, artemis, rabbitmq3, rabbitmq4, activemq, brokerj, verbatim")
		fs.Var(&f.Client, "client", "who runs sessions and links: own (instants of socket reads and writes), or library (go-amqp alone, as a second opinion)")
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
	}
	if err := c.Check(); err != nil {
		return link.Config{}, cli.Usagef("%w", err)
	}
	return c, nil
}
