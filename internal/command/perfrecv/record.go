package perfrecv

import (
	"errors"
	"fmt"
	"slices"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
)

const stopSignal = consume.StopSignal

// config is perf.config: what was done, with all defaults, and without secrets.
type config struct {
	Addresses   []string `json:"addresses"`
	Attached    []string `json:"attached"` // as they went into the attach frames
	Consumers   int      `json:"consumers"`
	Connections int      `json:"connections"`
	Credit      int      `json:"credit"`
	AckEvery    string   `json:"ack_every"`
	Count       int64    `json:"count,omitempty"`
	DurationNS  int64    `json:"duration_ns,omitempty"`
	IdleNS      int64    `json:"idle_ns,omitempty"`
	WaitNS      int64    `json:"wait_ns,omitempty"`
	WarmupNS    int64    `json:"warmup_ns"`
	StartNS     int64    `json:"start_ns"`
	Run         string   `json:"run,omitempty"`
	Foreign     string   `json:"foreign"`
	URL         string   `json:"url"`
	Hostname    string   `json:"hostname,omitempty"`
	PeerProduct string   `json:"peer_product,omitempty"`
	PeerVersion string   `json:"peer_version,omitempty"`
	Client      string   `json:"client"`
	Watch       []string `json:"watch,omitempty"` // scopes of samples, beside tool, host and connections
	ClockListen string   `json:"clock_listen,omitempty"`
	linkConfig
	consumerConfig
}

func (r *run) config() config {
	o, peer := r.o, r.conns[0].Peer()
	c := config{
		Addresses: r.addresses, Consumers: r.consumers, Connections: r.connections, Credit: o.credit, AckEvery: o.ackEvery.String(),
		Count: o.count, DurationNS: int64(o.duration), IdleNS: int64(o.idle), WaitNS: int64(o.wait), WarmupNS: int64(o.warmup),
		linkConfig: r.linkConfig(), consumerConfig: r.consumerConfig(),
		StartNS: r.clock.Now(), Run: r.runID, Foreign: o.foreign.String(), URL: r.link.URL.String(), Hostname: r.link.Hostname,
		PeerProduct: peer.Product, PeerVersion: peer.Version, Client: o.conn.Client.String(), Watch: o.watch.List(),
	}
	if r.probes != nil {
		c.ClockListen = r.probes.Address()
	}
	for i := range r.addresses {
		c.Attached = append(c.Attached, r.seats[i].link.Address().Text)
	}
	return c
}

// record starts the log, with everything in it that is known by now.
func (r *run) record() error {
	run := r.runID
	if run == "" {
		run = newRun()
	}
	meta, err := cli.BaseMeta(tool, run, r.clock, &r.o.run)
	if err != nil {
		return err
	}
	now := r.clock.Now()
	for k, s := range r.seats {
		r.history = append(r.history, attachment{k: k, subscription: s.link.Subscription(), attached: now})
	}
	meta[format.KeyOrder] = format.OrderReceived
	if err := errors.Join(meta.SetJSON(format.KeyConfig, r.config()), meta.SetJSON(format.KeySubscriptions, r.subscriptions())); err != nil {
		return err
	}
	r.rec, err = recorder.NewRecv(recorder.Options{
		Target: r.target.Name, Stdout: r.env.Stdout, Force: r.o.log.Force, Sync: recorder.Sync(r.o.log.Sync.String()), CreatedBy: tool + " version " + cli.Version(),
		Process: r.receiverID, Meta: meta, Clock: r.clock,
		OnError: func(err error) { r.group.Stop(consume.StopError, err) },
	})
	if err != nil {
		return err
	}
	if r.target.Made && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: writing %s\n", tool, r.target.Name)
	}
	if err := r.makeConsumers(); err != nil {
		return errors.Join(err, r.rec.Close(consume.StopError, false, nil))
	}
	r.events.Attach(r.rec.Event)
	r.sample()
	return nil
}

// sample begins with the samples of the log.
func (r *run) sample() {
	if !r.o.live.Quiet {
		r.watch.Missing(r.env.Stderr, tool)
	}
	r.watch.Connections(r.conns)
	for _, s := range r.seats {
		of := func(quantity string, read func(l receiver) int) {
			r.watch.Of(int32(s.connection()), quantity, func() int64 { l, _ := s.get(); return int64(read(l)) })
		}
		of("credit_messages", func(l receiver) int { return l.Credit() })
		// What waits for a slow consumer waits in the consumer; it is read a moment after
		// the link, so that the difference may be off by what was begun with between.
		c := r.list[s.k]
		of("waiting_messages", func(l receiver) int { waiting, _ := l.Queued(); return waiting + c.Waiting() })
		r.watch.Of(int32(s.connection()), "unsettled_bytes", c.UnsettledBytes)
		of("unsettled_messages", func(l receiver) int { _, unsettled := l.Queued(); return max(0, unsettled-c.Waiting()) })
	}
	r.watch.Start(r.rec.Sample)
}

// meet notes a sender and its clock in the log at once, so that also a log that
// is being written can be aligned.
func (r *run) meet(s format.Sender) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.senders, s) || len(r.senders) >= format.MaxStrings {
		return // another consumer has met it, or a hostile queue fills the memory
	}
	r.senders = append(r.senders, s)
	meta := format.Meta{}
	if meta.SetJSON(format.KeySenders, r.senders) == nil {
		r.rec.SetMeta(meta)
	}
}

// finish closes the log, prints the SUMMARY and decides the exit status.
func (r *run) finish(t *totals) error {
	reason, stopError := r.group.Reason()
	if err := r.watch.Stop(); err != nil {
		r.rec.Event(recorder.Event{At: t.stopped, Kind: "error", Connection: format.Null32, Text: err.Error()})
	}
	if e, ok := r.clockEvent(); ok {
		r.rec.Event(e)
	}
	r.rec.Event(recorder.Event{At: t.stopped, Kind: "stop", Connection: format.Null32, Text: reason})
	last := format.Meta{}
	if run := r.mostOften(); r.runID == "" && run != "" {
		last[format.KeyRun] = run
	}
	err := last.SetJSON(format.KeySubscriptions, r.subscriptions())
	r.rec.SetMeta(last)
	restore := connect.Frugal()
	err = errors.Join(err, r.rec.Close(reason, true, counters(&t.sum)))
	restore()
	switch {
	case r.o.stats.JSON():
		t.totalObject(reason)
	case !r.o.live.Quiet:
		t.summary(reason, err == nil)
	}
	admitted := r.group.Admitted()
	short := fmt.Sprintf("%d of %d messages were received", admitted, r.o.count)
	switch {
	case err != nil:
		return err
	case r.failure != nil:
		return r.failure
	case stopError != nil && reason == consume.StopIdle && r.o.count > 0: // --wait was reached
		return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("%s: %w", short, stopError)}
	case stopError != nil:
		return stopError
	case r.o.count > 0 && admitted < r.o.count:
		return &cli.ExitError{Code: cli.ExitUnmet, Err: errors.New(short)}
	case reason == stopSignal && r.o.duration > 0:
		return &cli.ExitError{Code: cli.ExitUnmet, Err: errors.New("interrupted before the end")}
	}
	return nil
}

// counters returns the totals for perf.counters.
func counters(s *live.Recv) map[string]int64 {
	return map[string]int64{
		"rows": s.Rows, "received": s.Received, "other_run": s.OtherRun, "foreign": s.Foreign,
		"accepted": s.Accepted, "rejected": s.Rejected, "modified": s.Modified, "returned": s.Returned,
		"committed": s.Committed, "rolled_back": s.RolledBack, "tx_failed": s.TxFailed,
		"released": s.Released, "discarded": s.Discarded, "redelivered": s.Redelivery, "unaligned": s.Unaligned,
	}
}
