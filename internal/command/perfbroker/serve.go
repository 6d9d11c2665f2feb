package perfbroker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

// serve runs the broker until ctx is done.
func serve(ctx context.Context, env *cli.Env, o options) (err error) {
	config, err := o.config(env)
	if err != nil {
		return err
	}
	log, err := openLog(env, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.close()) }()
	count := newTally()
	config.ArrivalLog = func(r *broker.Record) {
		count.add(r)
		log.record(r)
	}
	b, err := broker.New(config)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	l, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	url := urlOf(l.Addr())
	counting := &countingListener{Listener: l}
	served := make(chan error, 1)
	go func() { served <- b.Serve(counting) }()
	ready, err := writeReady(o.readyFile, url)
	if err == nil {
		if !o.quiet {
			fmt.Fprintf(env.Stderr, "perf-broker: listening on %s\n", url)
		}
		select {
		case <-ctx.Done():
		case err = <-served:
			served <- nil
		}
	}
	err = errors.Join(err, ready.remove(), b.Close(), <-served)
	if !o.quiet {
		count.print(env.Stderr, url, counting.accepted.Load())
	}
	return err
}

// config makes the broker's configuration of the flags.
func (o *options) config(env *cli.Env) (broker.Config, error) {
	users, err := o.users(env)
	if err != nil {
		return broker.Config{}, err
	}
	service := o.service.Service
	service.Seed = o.seed
	return broker.Config{
		Version:           cli.Version(),
		Users:             users,
		RequireUser:       o.requireUser,
		MaxFrameSize:      uint32(o.maxFrameSize),
		MaxMessageSize:    uint64(o.maxMessageSize),
		IdleTimeout:       o.idle(),
		Credit:            o.credit,
		MaxQueued:         o.maxQueued,
		NoAutoCreate:      o.noAutoCreate,
		Addresses:         o.addresses,
		Forbidden:         o.forbidden,
		Service:           service,
		Stalls:            o.stalls,
		Delay:             o.delay,
		MaxUnsettledBytes: int64(o.maxUnsettledBytes),
		Now:               timestamp.NewClock().Now,
	}, nil
}

// users returns the one user with the password, nil if there is none.
func (o *options) users(env *cli.Env) (map[string]string, error) {
	if o.user == "" {
		return nil, nil
	}
	password := env.Getenv(PasswordEnv)
	if o.passwordFile != "" {
		text, err := os.ReadFile(o.passwordFile)
		if err != nil {
			return nil, fmt.Errorf("password file: %w", err)
		}
		line, _, _ := strings.Cut(string(text), "\n")
		if password = strings.TrimSuffix(line, "\r"); password == "" {
			return nil, fmt.Errorf("password file %s: its first line is empty", o.passwordFile)
		}
	}
	return map[string]string{o.user: password}, nil
}

// listen opens the listener; a text that is no HOST:PORT is a usage error.
func listen(ctx context.Context, address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, cli.Usagef("--listen %q: HOST:PORT", address)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", address, err)
	}
	return l, nil
}

// urlOf returns the URL for clients on this host: one cannot connect to "all addresses".
func urlOf(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "amqp://" + a.String()
	}
	host := tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "amqp://" + net.JoinHostPort(host, fmt.Sprint(tcp.Port))
}

// countingListener counts connections for the summary.
type countingListener struct {
	net.Listener
	accepted atomic.Int64
}

// Accept implements net.Listener.
func (l *countingListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return c, err
}

// arrivalLog is the CSV of --log; the zero value is none.
type arrivalLog struct {
	csv  *broker.CSVLog
	file io.Closer
}

// openLog opens the file of --log.
func openLog(env *cli.Env, o options) (*arrivalLog, error) {
	switch o.log {
	case "":
		return &arrivalLog{}, nil
	case "-":
		return &arrivalLog{csv: broker.NewCSVLog(env.Stdout, stampColumns(), appendStamp)}, nil
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(o.log, mode, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("--log %s exists; --force replaces it", o.log)
	} else if err != nil {
		return nil, fmt.Errorf("--log: %w", err)
	}
	return &arrivalLog{csv: broker.NewCSVLog(f, stampColumns(), appendStamp), file: f}, nil
}

func (l *arrivalLog) record(r *broker.Record) {
	if l.csv != nil {
		l.csv.Record(r)
	}
}

func (l *arrivalLog) close() error {
	if l.csv == nil {
		return nil
	}
	err := l.csv.Close()
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
	}
	return err
}

// idle returns the idle timeout in the broker's terms, where 0 is the default.
func (o *options) idle() time.Duration {
	if o.idleTimeout == 0 {
		return -1
	}
	return o.idleTimeout
}
