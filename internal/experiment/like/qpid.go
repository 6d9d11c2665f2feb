package like

import (
	"errors"
	"fmt"
	"strings"
)

func qpidSend() *tool {
	t := &tool{name: "qpid-send", what: "qpid-send", send: true, begin: qpidDefaults, end: qpidSendEnd}
	t.options = append(qpidCommon(),
		mapped("perf-send --count; the default is 1, as there; 0, no limit, is refused", true, func(c *call, v string) error {
			n, err := whole(v)
			if err == nil && n == 0 {
				return errors.New("0 goes on for ever: give a number, or use perf-send")
			}
			return err
		}, "--messages", "-m"),
		word(sender, "message-id", "perf-send --message-id", "--id", "-i"),
		refused("perf-send sets no reply-to", true, "--reply-to"),
		refused("a message that says that it is the last has no stamp; perf-recv ends by -n or --idle", true, "--send-eos"),
		mapped("perf-send --durable", true, func(c *call, v string) error {
			on, err := yes(v)
			if on {
				turnOn(&c.send, "durable")
			}
			return err
		}, "--durable"),
		number(sender, "ttl", "ms", "perf-send --ttl", "--ttl"),
		number(sender, "priority", "", "perf-send --priority", "--priority"),
		word(sender, "property", "perf-send --property", "--property", "-P"),
		refused("perf-send sets no correlation-id", true, "--correlation-id"),
		refused("perf-send sets no user-id", true, "--user-id"),
		refused("perf-send sets no user-id", true, "--auto-user-id"),
		refused("write it into a file, and use perf-send --content FILE --stamp properties", true, "--content-string"),
		mapped("perf-send --size; the default is 0, as there", true, func(_ *call, v string) error {
			_, err := whole(v)
			return err
		}, "--content-size"),
		refused("perf-send makes no maps", true, "--content-map", "-M"),
		refused("use perf-send --content - --content-lines --stamp properties", false, "--content-stdin"),
		mapped("perf-send --max-pending; 0, one after the other, is 1", true, func(c *call, v string) error {
			n, err := whole(v)
			c.pending = int(max(n, 1))
			return err
		}, "--capacity"),
		number(sender, "tx", "", "perf-send --tx", "--tx"),
		mapped("perf-send --tx-rollback 1/N", true, rollback, "--rollback-frequency"),
		number(sender, "rate", "", "perf-send --rate", "--send-rate"),
		nothing("every message has a sequence number in its stamp", true, "--sequence"),
		nothing("every message has its instants in its stamp", true, "--timestamp"),
		refused("groups by a property of that name are not made", true, "--group-key"),
		refused("see --group-key", true, "--group-prefix"),
		refused("see --group-key", true, "--group-size"),
		refused("see --group-key", false, "--group-randomize-size"),
		refused("see --group-key", true, "--group-interleave"),
	)
	return t
}

func qpidReceive() *tool {
	t := &tool{name: "qpid-receive", what: "qpid-receive", recv: true, begin: qpidDefaults, end: qpidReceiveEnd}
	t.options = append(qpidCommon(),
		mapped("perf-recv --idle and --wait; the default there is 0: it ends when the queue is empty, here after 1 s without a message", true, func(_ *call, v string) error {
			_, err := whole(v)
			return err
		}, "--timeout"),
		mapped("no --idle: it goes on until -m messages or ^C", false, func(*call, string) error { return nil }, "--forever", "-f"),
		number(receiver, "count", "", "perf-recv --count", "--messages", "-m"),
		nothing("duplicates are counted, and never hidden", false, "--ignore-duplicates"),
		nothing("gaps, duplicates and order are accounted for from the logs, also of several senders", false, "--verify-sequence"),
		nothing("redelivered messages are counted", false, "--check-redelivered"),
		mapped("perf-recv --credit; 0, one fetched at a time, is 1", true, func(c *call, v string) error {
			n, err := whole(v)
			set(&c.recv, "credit", fmt.Sprint(max(n, 1)))
			c.given["credit"] = v
			return err
		}, "--capacity"),
		mapped("perf-recv --ack-every; the default is 100, as there; 0, never, is --browse", true, func(_ *call, v string) error {
			_, err := whole(v)
			return err
		}, "--ack-frequency"),
		number(receiver, "tx", "", "perf-recv --tx", "--tx"),
		mapped("perf-recv --tx-rollback 1/N", true, rollback, "--rollback-frequency"),
		nothing("bodies are not printed; `perf-merge -f log` prints a line for each delivery", true, "--print-content"),
		nothing("bodies are not printed", true, "--print-object-type"),
		nothing("headers are not printed; perf-merge prints what was recorded", true, "--print-headers"),
		refused("perf-recv tells that it is attached by --ready-file, which perf-run waits for", true, "--ready-address"),
		number(receiver, "rate", "", "perf-recv --rate", "--receive-rate"),
		refused("messages are not answered by messages", true, "--reply-to"),
		nothing("messages are never answered by messages", false, "--ignore-reply-to"),
	)
	return t
}

func qpidCommon() []Option {
	return []Option{
		mapped("url; the default is 127.0.0.1, as there", true, func(c *call, v string) error {
			return c.qpidURL(v)
		}, "--broker", "-b"),
		mapped("the address; what stands after ; is refused", true, func(c *call, v string) error {
			if strings.Contains(v, ";") {
				return errors.New("options of an address after ';' are not understood: make the queue beforehand, or let the broker")
			}
			c.addresses = append(c.addresses, v)
			return nil
		}, "--address", "-a"),
		mapped("{protocol:amqp1.0} and users; the rest is refused", true, qpidConnection, "--connection-options"),
		nothing("a report is always made, of both sides if there are logs of both", false, "--report-total"),
		nothing("reports can be made for any interval afterwards: perf-report --interval", true, "--report-every"),
		nothing("it is about the text that is printed", true, "--report-header"),
		nothing("a connection that is lost is an event in the log", false, "--failover-updates"),
		nothing("it is about that tool's own log", true, "--log-enable"),
		nothing("it is about that tool's own log", true, "--log-disable"),
		nothing("it is about that tool's own log", true, "--log-prefix"),
		nothing("it is about that tool's own log", true, "--log-to-file"),
		nothing("it is about that tool's own log", true, "--log-to-stderr"),
		nothing("it is about that tool's own log", true, "--log-to-stdout"),
		nothing("it is about that tool's own log", true, "--log-to-syslog"),
	}
}

func rollback(c *call, v string) error {
	n, err := whole(v)
	if err == nil && n > 0 {
		side := &c.send
		if c.tool.recv {
			side = &c.recv
		}
		set(side, "tx-rollback", fmt.Sprintf("%.6g", 1/float64(n)))
	}
	return err
}

func (c *call) qpidURL(v string) error {
	v = strings.TrimPrefix(v, "amqp:tcp:")
	v = strings.TrimPrefix(v, "amqp:")
	if strings.ContainsAny(v, ", ") {
		return errors.New("several brokers: one is loaded")
	}
	if strings.Contains(v, "@") {
		return errors.New("a user in the URL: set AMQP_URL with it and leave the option out")
	}
	if !strings.Contains(v, "://") {
		v = "amqp://" + v
	}
	c.s.URL = v
	return nil
}

// qpidConnection reads {name:value,…}.
func qpidConnection(c *call, v string) error {
	for part := range strings.SplitSeq(strings.Trim(strings.TrimSpace(v), "{}"), ",") {
		name, value, _ := strings.Cut(part, ":")
		name, value = strings.Trim(name, ` '"`), strings.Trim(value, ` '"`)
		switch name {
		case "":
		case "protocol":
			if value != "amqp1.0" {
				return fmt.Errorf("protocol %s: AMQP 1.0 is what is spoken here: protocol:amqp1.0", value)
			}
		case "username":
			set(&c.send, "user", value)
			set(&c.recv, "user", value)
		case "password":
			c.env["AMQP_PASSWORD"] = value
			c.note("password can be read by others in the list of processes: set AMQP_PASSWORD instead")
		case "container_id", "container-id":
			set(&c.send, "container-id", value)
			set(&c.recv, "container-id", value)
		case "sasl_mechanisms", "sasl-mechanisms":
			set(&c.send, "sasl", strings.ToLower(value))
			set(&c.recv, "sasl", strings.ToLower(value))
		case "tcp_nodelay", "tcp-nodelay":
			c.note("tcp_nodelay has no meaning here: it is always on")
		case "reconnect":
			c.note("reconnect has no meaning here: see --reconnect of perf-send and perf-recv")
		default:
			return fmt.Errorf("%s is not understood", name)
		}
	}
	return nil
}

func qpidDefaults(c *call) {
	c.s.URL = "amqp://127.0.0.1"
	c.pending = 1000
}

func qpidEnd(c *call) error {
	if len(c.addresses) == 0 {
		return errors.New("--address is needed")
	}
	if len(c.addresses) > 1 {
		return errors.New("--address is given more than once")
	}
	if !strings.Contains(c.given["--connection-options"], "amqp1.0") {
		c.note("AMQP 1.0 is spoken, not 0-10, which is the default there")
	}
	return nil
}

func qpidSendEnd(c *call) error {
	set(&c.send, "max-pending", fmt.Sprint(c.pending))
	count := c.given["--messages"]
	if count == "" {
		count = "1"
	}
	set(&c.send, "count", count)
	size := c.given["--content-size"]
	if size == "" {
		size = "0"
	}
	set(&c.send, "size", size)
	// As theirs: sequence and time travel in properties, and the body has its size.
	set(&c.send, "stamp", "properties")
	return qpidEnd(c)
}

func qpidReceiveEnd(c *call) error {
	if c.given["credit"] == "" {
		set(&c.recv, "credit", "1000")
	}
	if _, forever := c.given["--forever"]; !forever {
		wait := "1s"
		if n, _ := whole(c.given["--timeout"]); n > 0 { // take has read it before
			wait = fmt.Sprintf("%ds", n)
		}
		set(&c.recv, "idle", wait)
		set(&c.recv, "wait", wait)
	} else {
		set(&c.recv, "wait", c.s.Timeout.String()) // no idle beside it: it goes on until ^C
	}
	every := c.given["--ack-frequency"]
	_, tx := c.given["--tx"]
	switch n, _ := whole(every); { // take has read it before
	case tx:
	case every == "":
		set(&c.recv, "ack-every", "100")
	case n == 0:
		turnOn(&c.recv, "browse")
	default:
		set(&c.recv, "ack-every", every)
	}
	return qpidEnd(c)
}
