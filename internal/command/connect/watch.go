package connect

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/watch"
	"amqpperf/timestamp"
)

// WatchFlags are the flags of the group Watching.
type WatchFlags struct{ opts watch.Options }

// Register defines the flags.
func (f *WatchFlags) Register(cmd *cobra.Command) {
	cli.Group(cmd, "Watching", func(fs *pflag.FlagSet) {
		fs.IntSliceVar(&f.opts.PIDs, "watch-pid", nil, "sample CPU and memory of process `PID` too, such as the broker's; repeatable")
		fs.StringArrayVar(&f.opts.Names, "watch-name", nil, "the same of all processes called `NAME`, now and later; repeatable")
		fs.StringArrayVar(&f.opts.Cgroups, "watch-cgroup", nil, "the same of the cgroup `PATH`, such as /system.slice/broker.service; repeatable")
	})
}

// List returns what the flags name, as the scopes of the samples: "pid:17".
func (f *WatchFlags) List() (scopes []string) {
	for _, pid := range f.opts.PIDs {
		scopes = append(scopes, fmt.Sprintf("pid:%d", pid))
	}
	for _, name := range f.opts.Names {
		scopes = append(scopes, "name:"+name)
	}
	for _, path := range f.opts.Cgroups {
		scopes = append(scopes, "cgroup:"+path)
	}
	return scopes
}

// Watch samples the tool, its host, its connections and what the flags name
// into the log of a run, once a second.
type Watch struct {
	w      *watch.Watcher
	cancel context.CancelFunc
	done   sync.WaitGroup
	failed error // of Run
}

// New returns a Watch that does not sample yet. An error is a usage error.
func (f *WatchFlags) New(clock *timestamp.Clock) (*Watch, error) {
	o := f.opts
	o.Clock = clock
	w, err := watch.New(o)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return &Watch{w: w}, nil
}

// Missing tells of what is not there: it is waited for, but it may be misspelt.
func (w *Watch) Missing(stderr io.Writer, tool string) {
	if missing := w.w.Missing(); len(missing) > 0 {
		fmt.Fprintf(stderr, "%s: nothing yet: %s\n", tool, strings.Join(missing, ", "))
	}
}

// Connections adds the TCP state of the connections, as far as they show their
// sockets.
func (w *Watch) Connections(conns []*link.Conn) {
	for _, c := range conns {
		if s, ok := any(c).(interface{ NetConn() net.Conn }); ok && s.NetConn() != nil {
			_, _ = w.w.RegisterConn(c.Index(), s.NetConn()) // without a socket there is nothing to sample
		}
	}
}

// Of adds a quantity of a connection; those of one connection and quantity are
// added up. read must not wait.
func (w *Watch) Of(conn int32, quantity string, read func() int64) {
	w.w.RegisterOf(conn, quantity, read)
}

// Start samples into emit until Stop.
func (w *Watch) Start(emit func(at int64, what string, value int64)) {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	w.done.Go(func() { w.failed = w.w.Run(ctx, emit) })
}

// Stop takes the last sample and returns when it was emitted. An error means
// that hiccups could not be sampled, and nothing else. It may be called without
// a Start.
func (w *Watch) Stop() error {
	if w.cancel == nil {
		return nil
	}
	w.cancel()
	w.done.Wait()
	return w.failed
}

// Reconnected watches a connection in the place of the one with its number.
func (w *Watch) Reconnected(c *link.Conn) { w.Connections([]*link.Conn{c}) }
