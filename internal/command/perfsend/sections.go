package perfsend

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/amqp/message"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/produce"
)

// The values of --stamp.
const (
	stampBody       = "body"
	stampProperties = "properties"
)

// sectionFlags say what messages have beside their bodies.
type sectionFlags struct {
	durable     bool
	presettled  bool
	ttl         time.Duration
	priority    int
	group       parsed[message.Template]
	subject     parsed[message.Template]
	messageID   parsed[message.Value]
	contentType string
	properties  pairs
	annotations pairs
	body        link.BodySection
	stamp       cli.Enum
}

// pairs is a repeatable flag K[:TYPE]=V.
type pairs []message.Pair

// Set implements pflag.Value.
func (p *pairs) Set(s string) error {
	pair, err := message.ParsePair(s)
	*p = append(*p, pair)
	return err
}

// String implements pflag.Value.
func (p *pairs) String() string { return "" }

// Type implements pflag.Value.
func (p *pairs) Type() string { return "key[:type]=value" }

// texts returns the pairs as they read back.
func (p pairs) texts() (out []string) {
	for _, pair := range p {
		out = append(out, pair.String())
	}
	return out
}

func newSectionFlags() sectionFlags {
	template := parsed[message.Template]{read: message.ParseTemplate, which: "template"}
	return sectionFlags{
		priority: message.DefaultPriority, group: template, subject: template, body: link.BodyData,
		messageID: parsed[message.Value]{read: message.ParseMessageID, which: "template"},
		stamp:     cli.NewEnum("where", stampBody, stampBody, stampProperties),
	}
}

func (f *sectionFlags) register(fs *pflag.FlagSet) {
	fs.BoolVar(&f.durable, "persistent", false, "the same as --durable")
	fs.BoolVar(&f.presettled, "presettled", false, "send settled: nothing is acknowledged")
	fs.DurationVar(&f.ttl, "ttl", 0, "time to live of messages, whole ms (default for ever)")
	fs.IntVar(&f.priority, "priority", message.DefaultPriority, "priority of messages, 0 to 255: brokers tell ten apart, 4 is the normal one")
	fs.Var(&f.group, "group", "group-id, such as g{random:1|2|3}: a `TEMPLATE` may hold {seq}, {producer}, {random:a|b|c}")
	fs.Var(&f.subject, "subject", "subject, a `TEMPLATE`")
	fs.Var(&f.messageID, "message-id", "message-id, a `TEMPLATE`: {producer}-{seq}, or ulong:{seq} (default none)")
	fs.StringVar(&f.contentType, "content-type", "", "content-type of the bodies (default none)")
	fs.Var(&f.properties, "property", "application property KEY=TEMPLATE or KEY:TYPE=TEMPLATE, such as n:long={seq}; repeatable")
	fs.Var(&f.annotations, "annotation", "message annotation, written like --property; repeatable")
	fs.Var(&f.body, "body", "section that holds the body: data, or value (a binary)")
	fs.Var(&f.stamp, "stamp", "where perf-recv finds what it needs: body (its first bytes), or properties (an application property, and the body is all yours)")
}

// validate reports what cannot be encoded.
func (f *sectionFlags) validate(given func(string) bool) error {
	switch {
	case f.priority < 0 || f.priority > 255:
		return cli.Usagef("--priority %d: 0 to 255", f.priority)
	case given("ttl") && f.ttl <= 0:
		return cli.Usagef("--ttl %v: must be above 0; leave it out for messages that live for ever", f.ttl)
	}
	spec := f.spec(0)
	if err := spec.Check(); err != nil {
		return cli.Usagef("%w", err)
	}
	return nil
}

// spec returns the sections before the body.
func (f *sectionFlags) spec(seed uint64) message.Spec {
	return message.Spec{
		Durable: f.durable, Priority: uint8(f.priority), TTL: f.ttl, Annotations: f.annotations, Properties: f.properties,
		MessageID: f.messageID.V, Subject: f.subject.V, Group: f.group.V, ContentType: f.contentType, Seed: seed,
	}
}

// apart reports whether the stamp is not in the body.
func (f *sectionFlags) apart() bool { return f.stamp.String() == stampProperties }

// random reports whether a template draws.
func (f *sectionFlags) random() bool {
	templates := []message.Template{f.group.V, f.subject.V, f.messageID.V.Template}
	for _, list := range []pairs{f.properties, f.annotations} {
		for _, p := range list {
			templates = append(templates, p.Value.Template)
		}
	}
	for _, t := range templates {
		if t.Random() {
			return true
		}
	}
	return false
}

// sections makes those of a producer; nil leaves it to the link, which makes a
// header.
func (r *run) sections(p *produce.Producer, k int) (amqp.Sections, error) {
	spec := r.o.sections.spec(r.seed)
	var stamp message.Stamper
	if r.o.sections.apart() {
		stamp = p
	}
	if spec.Plain() && stamp == nil {
		return nil, nil
	}
	e, err := spec.New(int32(k), stamp)
	if err != nil {
		return nil, fmt.Errorf("sections of the messages: %w", err)
	}
	return e, nil
}
