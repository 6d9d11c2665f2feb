package like

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

func artemisClient() *tool {
	t := &tool{name: "artemis-client", what: "artemis perf client", send: true, recv: true, positions: true, begin: artemisDefaults, end: artemisEnd}
	t.options = append(artemisCommon(), artemisProducing()...)
	t.options = append(t.options, artemisConsuming()...)
	t.options = append(t.options,
		number(receiver, "connections", "", "perf-recv --connections", "--consumer-connections"),
		mapped("url of the receiver", true, func(c *call, v string) (err error) {
			c.recv.URL, err = c.artemisURL(v)
			return err
		}, "--consumer-url"),
		mapped("AMQP is what is spoken; CORE is refused", true, protocol, "--consumer-protocol"),
		number(sender, "count", "", "perf-send --count; the receiver ends when nothing more comes", "--message-count"),
		number(sender, "duration", "s", "perf-send --duration; it includes the warm-up, as there", "--duration"),
		number(sender, "warmup", "s", "perf-send --warmup; only a mark: reports can leave out another part", "--warmup"),
		mapped("perf-send --tx", true, commitInterval, "--commit-interval", "--tx-size"),
	)
	return t
}

func artemisProducer() *tool {
	t := &tool{name: "artemis-producer", what: "artemis perf producer", send: true, positions: true, begin: artemisDefaults, end: artemisEnd}
	t.options = append(artemisCommon(), artemisProducing()...)
	t.options = append(t.options,
		number(sender, "count", "", "perf-send --count", "--message-count"),
		number(sender, "duration", "s", "perf-send --duration; it includes the warm-up, as there", "--duration"),
		number(sender, "warmup", "s", "perf-send --warmup; only a mark: reports can leave out another part", "--warmup"),
		mapped("perf-send --tx", true, commitInterval, "--commit-interval", "--tx-size"),
	)
	return t
}

func artemisConsumer() *tool {
	t := &tool{name: "artemis-consumer", what: "artemis perf consumer", recv: true, positions: true, begin: artemisDefaults, end: artemisEnd}
	t.options = append(artemisCommon(), artemisConsuming()...)
	t.options = append(t.options,
		number(receiver, "connections", "", "perf-recv --connections", "--num-connections"),
		number(receiver, "count", "", "perf-recv --count", "--message-count"),
		number(receiver, "duration", "s", "perf-recv --duration", "--duration"),
		number(receiver, "warmup", "s", "perf-recv --warmup; only a mark: reports can leave out another part", "--warmup"),
		nothing("it is the producer's size of transactions, which a consumer there does not use", true, "--commit-interval", "--tx-size"),
	)
	return t
}

// artemisCommon are the options of all three.
func artemisCommon() []Option {
	return []Option{
		mapped("url; tcp:// becomes amqp://, what follows ? is said to have no meaning", true, func(c *call, v string) (err error) {
			c.s.URL, err = c.artemisURL(v)
			return err
		}, "--url"),
		mapped("AMQP is what is spoken; CORE, the default there, is refused when it is asked for", true, protocol, "--protocol"),
		mapped("--user of both sides", true, func(c *call, v string) error {
			set(&c.send, "user", v)
			set(&c.recv, "user", v)
			return nil
		}, "--user"),
		mapped("$AMQP_PASSWORD of both sides: others could read it on a command line", true, func(c *call, v string) error {
			c.env["AMQP_PASSWORD"] = v
			c.note("--password can be read by others in the list of processes: set AMQP_PASSWORD instead")
			return nil
		}, "--password"),
		mapped("--container-id of both sides", true, func(c *call, v string) error {
			set(&c.send, "container-id", v)
			set(&c.recv, "container-id", v)
			return nil
		}, "--clientID"),
		refused("there is no broker.xml here to look it up in: give --url", true, "--acceptor"),
		nothing("nothing is ever asked, and the result is always printed", false, "--silent"),
		nothing("what happened is in the run directory", false, "--verbose"),
		nothing("latencies are always recorded, of every message", false, "--show-latency"),
		nothing("every run has report.json, and the rows of every message, in the run directory", true, "--json"),
		mapped("perf-report --hlog", true, func(c *call, v string) error {
			c.s.Report = append(c.s.Report, scenario.Flag{Name: "hlog", Value: v})
			return nil
		}, "--hdr"),
		mapped("addresses NAME0, NAME1 ...", true, func(c *call, v string) error {
			n, err := whole(v)
			c.destinations = int(n)
			return err
		}, "--num-destinations"),
	}
}

func artemisProducing() []Option {
	return []Option{
		mapped("perf-send --durable", false, func(c *call, _ string) error { turnOn(&c.send, "durable"); return nil }, "--persistent"),
		number(sender, "size", "", "perf-send --size", "--message-size"),
		number(sender, "rate", "", "perf-send --rate: on a schedule, and what the wait for --max-pending costs is in response", "--rate"),
		number(sender, "ttl", "ms", "perf-send --ttl", "--ttl"),
		word(sender, "group", "perf-send --group", "--group"),
		mapped("perf-send --connections, as many as --threads", false, func(c *call, _ string) error { c.shared = true; return nil }, "--shared-connections"),
		number(sender, "producers", "", "perf-send --producers, for each destination too", "--producers"),
		mapped("only with --shared-connections: their number; threads are no setting here", true, func(c *call, v string) error {
			n, err := whole(v)
			c.threads = int(n)
			return err
		}, "--threads"),
		mapped("perf-send --max-pending; the default is 1, as there; 0 = no limit but the broker's credit", true, func(c *call, v string) error {
			n, err := whole(v)
			c.pending = int(n)
			return err
		}, "--max-pending"),
		mapped("perf-send --message-id ID:{producer}-{seq}", false, func(c *call, _ string) error {
			set(&c.send, "message-id", "ID:{producer}-{seq}")
			return nil
		}, "--enable-msg-id"),
		nothing("every message carries the instants at which it was intended and sent", false, "--enable-timestamp"),
	}
}

func artemisConsuming() []Option {
	return []Option{
		mapped("perf-recv --tx 1; theirs never commits, so that every message comes back at the end", false, func(c *call, _ string) error {
			set(&c.recv, "tx", "1")
			return nil
		}, "--tx"),
		mapped("perf-recv --shared perf, with N consumers of the subscription", true, func(c *call, v string) error {
			n, err := whole(v)
			if n > 0 {
				set(&c.recv, "shared", "perf")
				c.given["consumers"] = v
			}
			return err
		}, "--shared"),
		mapped("perf-recv --durable-subscription perf", false, func(c *call, _ string) error {
			c.durable = true
			set(&c.recv, "durable-subscription", "perf")
			return nil
		}, "--durable"),
		number(receiver, "consumers", "", "perf-recv --consumers, for each destination too", "--consumers"),
	}
}

func commitInterval(c *call, v string) error {
	n, err := whole(v)
	if err == nil && n > 0 {
		c.tx = int(n)
		set(&c.send, "tx", v)
	}
	return err
}

func protocol(_ *call, v string) error {
	switch strings.ToUpper(v) {
	case "AMQP":
		return nil
	case "CORE":
		return errors.New("CORE is a protocol of Artemis alone; AMQP 1.0, which the same port serves, is what is spoken here: --protocol AMQP")
	}
	return fmt.Errorf("%q: AMQP", v)
}

// artemisURL makes tcp://host:port?options a URL of ours.
func (c *call) artemisURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("it is no URL") // the cause would repeat what may be a password
	}
	for name, values := range u.Query() {
		switch {
		case strings.EqualFold(name, "sslEnabled") && values[0] == "true":
			return "", errors.New("sslEnabled=true: write amqps://HOST:PORT, and see perf-send --help for --tls-ca")
		case name == "jms.prefetchPolicy.all" || name == "jms.prefetchPolicy.queuePrefetch":
			set(&c.recv, "credit", values[0])
		case name == "confirmationWindowSize":
			c.note("confirmationWindowSize has no meaning here: every acknowledgement is the broker's own")
		default:
			c.note("%s in the URL has no meaning here: it is an option of a Java client", name)
		}
	}
	switch u.Scheme {
	case "tcp":
		u.Scheme = "amqp"
	case "amqp", "amqps":
	default:
		return "", fmt.Errorf("scheme %q: tcp, amqp or amqps", u.Scheme)
	}
	u.RawQuery = ""
	return u.String(), nil
}

func artemisDefaults(c *call) {
	c.s.URL = "amqp://localhost:61616"
	c.given = map[string]string{}
}

// artemisEnd does what needs all options.
func artemisEnd(c *call) error {
	if _, ok := c.given["--protocol"]; !ok {
		c.note("AMQP 1.0 is spoken, not CORE, which is the default there")
	}
	if len(c.addresses) == 0 {
		c.addresses = []string{"queue://TEST"}
	}
	var all []string
	for _, a := range c.addresses {
		if !strings.Contains(a, "://") && !strings.Contains(a, "::") {
			a = "queue://" + a
		}
		if c.destinations <= 1 {
			all = append(all, a)
			continue
		}
		for i := range c.destinations {
			all = append(all, fmt.Sprintf("%s%d", a, i))
		}
	}
	c.addresses = all
	if c.tool.send {
		if c.pending > 0 {
			c.pending = max(c.pending, c.tx)
		}
		set(&c.send, "max-pending", fmt.Sprint(c.pending))
		if _, ok := c.given["--threads"]; ok && !c.shared {
			c.note("--threads has no meaning here: producers are not bound to threads")
		}
		if c.shared {
			set(&c.send, "connections", fmt.Sprint(max(1, c.threads)))
		}
		if c.given["--message-count"] == "" && c.given["--duration"] == "" {
			c.note("without --duration and --message-count theirs goes on for ever; this run ends after 30 s")
		}
	}
	if n := c.given["consumers"]; n != "" {
		if c.given["--consumers"] != "" {
			return errors.New("--shared N and --consumers: N consumers share the subscription here, leave --consumers out")
		}
		set(&c.recv, "consumers", n)
	}
	if c.durable && c.given["--clientID"] == "" && c.given["consumers"] == "" {
		return errors.New("--durable needs --clientID: a durable subscription belongs to one")
	}
	return nil
}
