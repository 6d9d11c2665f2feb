package cli

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
)

// DefaultURL is where brokers listen.
const DefaultURL = "amqp://127.0.0.1:5672"

// ConnFlags are the flags about the connection to a broker. The URL may hold a
// password: it is printed nowhere by this package, and --help shows the default
// without what stands in the environment.
type ConnFlags struct {
	url           string
	env           *Env
	User          string
	passwordFile  string
	Hostname      string
	ContainerID   string
	Timeout       time.Duration
	IdleTimeout   time.Duration
	TLSCA         string
	TLSCert       string
	TLSKey        string
	TLSServerName string
	TLSInsecure   bool
}

// Register defines the flags.
func (c *ConnFlags) Register(fs *pflag.FlagSet, env *Env) {
	c.env = env
	fs.StringVarP(&c.url, "url", "u", "", "broker, amqp[s]://[USER[:PASSWORD]@]HOST[:PORT] (default $AMQP_URL, else "+DefaultURL+")")
	fs.StringVar(&c.User, "user", "", "user, instead of that of the URL; the password is in --password-file or $AMQP_PASSWORD")
	fs.StringVar(&c.passwordFile, "password-file", "", "file whose first line is the password of --user")
	fs.StringVar(&c.Hostname, "hostname", "", "virtual host in the open frame, vhost:NAME on RabbitMQ (default the URL's host)")
	fs.StringVar(&c.ContainerID, "container-id", "", "prefix of the container ids (default amqpperf)")
	fs.DurationVar(&c.Timeout, "timeout", 10*time.Second, "longest wait for an answer to connect, attach and close")
	fs.DurationVar(&c.IdleTimeout, "idle-timeout", time.Minute, "a connection from which nothing came for so long is dead; at least 4s")
	fs.StringVar(&c.TLSCA, "tls-ca", "", "PEM file of the authorities to trust with amqps (default the system's)")
	fs.StringVar(&c.TLSCert, "tls-cert", "", "PEM file of a client certificate")
	fs.StringVar(&c.TLSKey, "tls-key", "", "PEM file of its key")
	fs.StringVar(&c.TLSServerName, "tls-server-name", "", "name to verify in the broker's certificate (default the URL's host)")
	fs.BoolVar(&c.TLSInsecure, "tls-insecure", false, "do not verify the broker's certificate")
}

// URL returns the URL to connect to, with its password.
func (c *ConnFlags) URL() string {
	if c.url != "" {
		return c.url
	}
	if url := c.env.Getenv("AMQP_URL"); url != "" {
		return url
	}
	return DefaultURL
}

// Password returns the password of --user, "" if none was given.
func (c *ConnFlags) Password() (string, error) {
	switch {
	case c.User == "" && c.passwordFile != "":
		return "", Usagef("--password-file needs --user")
	case c.passwordFile == "":
		return c.env.Getenv("AMQP_PASSWORD"), nil
	}
	b, err := os.ReadFile(c.passwordFile)
	if err != nil {
		return "", fmt.Errorf("--password-file: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

// RunFlags are the flags that name a run.
type RunFlags struct {
	run    string
	env    *Env
	Name   string
	Labels Labels
}

// Register defines the flags. what says what --run does in this command.
func (r *RunFlags) Register(fs *pflag.FlagSet, env *Env, what string) {
	r.env = env
	fs.StringVar(&r.run, "run", "", what)
	fs.StringVar(&r.Name, "name", "", "name of the run in reports")
	fs.Var(&r.Labels, "label", "label KEY=VALUE in reports; repeatable")
}

// Run returns the run asked for, by flag or $PERF_RUN; "" if none was.
func (r *RunFlags) Run() string {
	if r.run != "" {
		return r.run
	}
	return r.env.Getenv("PERF_RUN")
}

// LogFlags are the flags about the log that is written.
type LogFlags struct {
	Output string
	Force  bool
	Sync   Enum // none, second or always; "" if Register was not called
}

// Register defines the flags.
func (l *LogFlags) Register(fs *pflag.FlagSet, tool string) {
	fs.StringVarP(&l.Output, "output", "o", "", "log: a Parquet file, or - for Arrow streams on standard output (default "+tool+"-TIME.parquet)")
	fs.BoolVar(&l.Force, "force", false, "replace an existing log")
	l.Sync = NewEnum("when", syncNone, syncNone, "second", "always")
	fs.Var(&l.Sync, "sync", "when the disk must have what is recorded, for the case of a power cut: none (a kill loses at most a second anyway), second, or always (5 times a second)")
}

// syncNone is the value of --sync that asks for nothing.
const syncNone = "none"

// Target returns the name of the log, made from tool and start time if none
// was given, and whether that was so. Binary data for a terminal is refused.
//
// A reader that goes away (| head) does not kill the process from then on: it
// has messages under way, and ends its recording in order with an error.
func (l *LogFlags) Target(env *Env, tool string, start time.Time) (name string, made bool, err error) {
	signal.Ignore(syscall.SIGPIPE)
	switch l.Output {
	case "":
		// To the millisecond, since two short runs start within a second.
		return fmt.Sprintf("%s-%s.parquet", tool, start.UTC().Format("20060102T150405.000Z")), true, nil
	case "-":
		if sync := l.Sync.String(); sync != "" && sync != syncNone {
			return "", false, Usagef("--sync %s: a pipe cannot be synced: give -o FILE", sync)
		}
		return "-", false, RefuseTerminal(env.Stdout, "the log")
	}
	return l.Output, false, nil
}

// LiveFlags are the flags about what a command prints while it runs.
type LiveFlags struct {
	Quiet    bool
	Progress bool
	env      *Env
}

// Register defines the flags.
func (l *LiveFlags) Register(fs *pflag.FlagSet, env *Env) {
	l.env = env
	fs.BoolVarP(&l.Quiet, "quiet", "q", false, "print neither live lines nor the SUMMARY")
	fs.BoolVar(&l.Progress, "progress", false, "print a live line every second, also if standard error is no terminal")
}

// Validate reports flags that contradict each other.
func (l *LiveFlags) Validate() error {
	if l.Quiet && l.Progress {
		return Usagef("--quiet and --progress contradict each other")
	}
	return nil
}

// Live reports whether live lines are wanted.
func (l *LiveFlags) Live() bool {
	return !l.Quiet && (l.Progress || IsTerminal(l.env.Stderr))
}
