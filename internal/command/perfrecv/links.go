package perfrecv

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
)

// linkFlags say what is asked of the broker for each link.
type linkFlags struct {
	presettled  bool
	browse      bool
	selector    string
	durable     bool
	durableSub  string
	shared      string
	keep        bool
	unsubscribe bool
	tx          int
	txRollback  connect.Share
	reconnect   connect.Reconnect
}

func (f *linkFlags) register(cmd *cobra.Command) {
	cli.Group(cmd, "Link", func(fs *pflag.FlagSet) {
		fs.BoolVar(&f.presettled, "presettled", false, "have the broker send settled: nothing is answered, and what comes after -n is gone")
		fs.BoolVar(&f.browse, "browse", false, "leave the messages in the queue")
		fs.StringVar(&f.selector, "selector", "", "only messages for which the `EXPRESSION` holds, in SQL as in JMS: \"colour = 'red' AND size > 3\"")
		fs.BoolVar(&f.durable, "durable", false, "ask for a durable queue, where the broker makes one: RabbitMQ wants the same of sender and receiver")
		fs.StringVar(&f.durableSub, "durable-subscription", "", "durable subscription `NAME` to a topic; it belongs to --container-id, which is then used as it is; NAME-0, NAME-1… with several consumers; ended at the end")
		fs.StringVar(&f.shared, "shared", "", "subscription `NAME` to a topic that all consumers share; with the same --durable-subscription it is durable too")
		fs.BoolVar(&f.keep, "keep-subscription", false, "let the durable subscription go on collecting messages after the end")
		fs.BoolVar(&f.unsubscribe, "unsubscribe", false, "end the durable subscription with what is left in it, and exit: nothing is received and no log is written")
		fs.IntVar(&f.tx, "tx", 0, "answer in transactions of so many messages, each of which is waited for (default none)")
		fs.Var(&f.txRollback, "tx-rollback", "roll back that share of the transactions, such as 0.1: evenly spread; their messages come again (default none)")
		f.reconnect.Register(fs)
	})
}

// validate reports flags that cannot be honoured or contradict others.
func (f *linkFlags) validate(given func(string) bool, o *options, addresses []string) error {
	answered := given("ack-every") || given("outcome")
	own := o.conn.Client != link.ClientLibrary
	switch {
	case f.presettled && (answered || f.tx > 0):
		return cli.Usagef("--presettled: what the broker has settled is not answered, leave --ack-every, --outcome and --tx out")
	case f.browse && (answered || f.tx > 0):
		return cli.Usagef("--browse: what stays in the queue is not answered, leave --ack-every, --outcome and --tx out")
	case f.browse && f.durable:
		return cli.Usagef("--browse and --durable: the queue to browse is there already, leave --durable out")
	case given("tx") && f.tx < 1:
		return cli.Usagef("--tx %d: at least 1; leave it out for no transactions", f.tx)
	case f.tx > 0 && given("ack-every"):
		return cli.Usagef("--tx and --ack-every contradict each other: messages are answered with their transaction")
	case f.tx > o.credit:
		return cli.Usagef("--tx %d is more than --credit %d: the broker would stop before the first transaction is full; raise --credit", f.tx, o.credit)
	case given("tx-rollback") && f.tx == 0:
		return cli.Usagef("--tx-rollback: there are no transactions without --tx")
	case f.txRollback == 1 && o.count == 0 && o.duration == 0:
		return cli.Usagef("--tx-rollback 1 gives every message back, and it comes again for ever: -n or -d must end the run")
	case !own && (f.browse || f.tx > 0 || f.unsubscribe):
		return cli.Usagef("--client library can neither browse nor end a subscription and has no transactions: --client own does")
	}
	return f.validateSubscription(given, o, addresses)
}

// validateSubscription does so for the flags about subscriptions.
func (f *linkFlags) validateSubscription(given func(string) bool, o *options, addresses []string) error {
	durable, shared := given("durable-subscription"), given("shared")
	switch {
	case durable && f.durableSub == "" || shared && f.shared == "":
		return cli.Usagef("--durable-subscription and --shared: the name must not be empty")
	case durable && shared && f.durableSub != f.shared:
		return cli.Usagef("--durable-subscription %s and --shared %s: a subscription has one name, give both the same", f.durableSub, f.shared)
	case durable && !shared && o.conn.ContainerID == "":
		return cli.Usagef("--durable-subscription %s: it belongs to a container, name that with --container-id", f.durableSub)
	case f.keep && !durable, f.unsubscribe && !durable:
		return cli.Usagef("--keep-subscription and --unsubscribe: name the subscription with --durable-subscription")
	case f.keep && f.unsubscribe:
		return cli.Usagef("--keep-subscription and --unsubscribe contradict each other")
	case f.browse && (durable || shared):
		return cli.Usagef("--browse is for queues, a subscription is to a topic")
	case f.durable && (durable || shared):
		return cli.Usagef("--durable is about a queue; a subscription is durable by --durable-subscription")
	}
	for _, a := range addresses {
		switch topic := strings.HasPrefix(a, "topic://"); {
		case (durable || shared) && !topic:
			return cli.Usagef("%s: --durable-subscription and --shared need topic://NAME", a)
		case f.browse && topic:
			return cli.Usagef("%s: --browse needs a queue", a)
		}
	}
	if !f.unsubscribe {
		return nil
	}
	for _, name := range []string{"count", "duration", "idle", "wait", "output", "ready-file", "start-delay"} {
		if given(name) {
			return cli.Usagef("--unsubscribe receives nothing and writes no log: leave --%s out", name)
		}
	}
	return nil
}

// receiverConfig is that of the link of a consumer.
func (r *run) receiverConfig(k int) link.ReceiverConfig {
	f := &r.o.link
	c := link.ReceiverConfig{
		Address: r.address(k), Credit: r.o.credit, Presettled: f.presettled, Browse: f.browse, Selector: f.selector, DurableQueue: f.durable,
		Durable: f.durableSub != "", Shared: f.shared != "", Subscription: f.shared, Unsubscribe: f.durableSub != "" && !f.keep,
		Tx: f.tx, TxRollback: float64(f.txRollback),
	}
	if c.Durable && !c.Shared {
		// Consumers may be on one connection, whose links must have different names.
		c.Subscription = f.durableSub
		if r.consumers > 1 {
			c.Subscription = fmt.Sprintf("%s-%d", f.durableSub, k)
		}
	}
	return c
}

// linkConfig is the part of perf.config about the links.
type linkConfig struct {
	Presettled   bool    `json:"presettled,omitempty"`
	Browse       bool    `json:"browse,omitempty"`
	Selector     string  `json:"selector,omitempty"`
	Durable      bool    `json:"durable,omitempty"`
	DurableSub   string  `json:"durable_subscription,omitempty"`
	Shared       string  `json:"shared,omitempty"`
	Keep         bool    `json:"keep_subscription,omitempty"`
	Tx           int     `json:"tx,omitempty"`
	TxRollback   float64 `json:"tx_rollback,omitempty"`
	ReconnectNS  int64   `json:"reconnect_ns,omitempty"`
	SessionsMode string  `json:"sessions"`
}

func (r *run) linkConfig() linkConfig {
	f := &r.o.link
	return linkConfig{
		Presettled: f.presettled, Browse: f.browse, Selector: f.selector, Durable: f.durable, DurableSub: f.durableSub, Shared: f.shared, Keep: f.keep,
		Tx: f.tx, TxRollback: float64(f.txRollback), ReconnectNS: int64(f.reconnect.Longest), SessionsMode: r.o.conn.SessionMode(),
	}
}
