package link

import (
	"fmt"
	"net/url"
	"strings"
)

// Style is how a broker wants queue:// and topic:// addresses written.
type Style uint8

// The styles. StyleAuto takes the one of the product in the peer's open frame.
const (
	StyleAuto       Style = iota
	StyleCapability       // NAME and the terminus capability queue or topic: Artemis, perf-broker
	StyleRabbitMQ3        // /queue/NAME, /topic/NAME
	StyleRabbitMQ4        // /queues/NAME, /exchanges/amq.topic/NAME
	StyleActiveMQ         // queue://NAME, topic://NAME as they are
	StyleBrokerJ          // NAME, amq.topic/NAME
	StyleVerbatim         // the text as typed, no capability
)

// styleNames in the order of the constants: the values of --address-style.
func styleNames() []string {
	return []string{"auto", "artemis", "rabbitmq3", "rabbitmq4", "activemq", "brokerj", "verbatim"}
}

// ParseStyle parses the name of a style.
func ParseStyle(s string) (Style, error) {
	for i, name := range styleNames() {
		if s == name {
			return Style(i), nil
		}
	}
	return 0, fmt.Errorf("address style %q: one of %s", printable(s), strings.Join(styleNames(), ", "))
}

// String returns the name of the style.
func (s Style) String() string {
	if int(s) < len(styleNames()) {
		return styleNames()[s]
	}
	return fmt.Sprintf("style %d", uint8(s))
}

// Set implements pflag.Value.
func (s *Style) Set(v string) (err error) { *s, err = ParseStyle(v); return err }

// Type implements pflag.Value.
func (s *Style) Type() string { return "style" }

// Role is the end of a link that an address is for.
type Role uint8

// The roles.
const (
	RoleSender Role = iota
	RoleReceiver
)

// Kind is what the prefix of an address says.
type Kind uint8

// The kinds. KindVerbatim is an address without prefix: the broker decides.
const (
	KindVerbatim Kind = iota
	KindQueue
	KindTopic
)

// Address is an address as it goes into an attach frame.
type Address struct {
	Kind         Kind
	Text         string
	Capabilities []string // of the terminus; nil: none
}

// CheckAddress reports what is wrong with an address as typed, without a broker.
func CheckAddress(typed string) error {
	_, _, err := splitAddress(typed)
	return err
}

// splitAddress takes the prefix off.
func splitAddress(typed string) (Kind, string, error) {
	if typed == "" {
		return 0, "", fmt.Errorf("empty address: queue://NAME or topic://NAME")
	}
	if printable(typed) != typed {
		return 0, "", fmt.Errorf("address %q contains a control character", printable(typed))
	}
	kind, name := KindVerbatim, typed
	if rest, ok := strings.CutPrefix(typed, "queue://"); ok {
		kind, name = KindQueue, rest
	} else if rest, ok := strings.CutPrefix(typed, "topic://"); ok {
		kind, name = KindTopic, rest
	}
	if name == "" {
		return 0, "", fmt.Errorf("address %q has no name", typed)
	}
	return kind, name, nil
}

// ResolveAddress writes an address as typed the way a broker wants it. product
// and version are those of the peer's open frame. An address without queue:// or
// topic:// goes out as it is. warning is not empty if the address may mean
// something else to this broker.
func ResolveAddress(typed, product, version string, style Style, role Role) (a Address, warning string, err error) {
	kind, name, err := splitAddress(typed)
	if err != nil {
		return Address{}, "", err
	}
	if style == StyleAuto {
		var known bool
		if style, known = styleOf(product, version); !known && kind != KindVerbatim {
			warning = fmt.Sprintf("unknown broker product %q: %s is sent as %q with a capability; --address-style says otherwise",
				printable(product), typed, name)
		}
	}
	if kind == KindVerbatim || style == StyleVerbatim {
		return Address{Kind: kind, Text: typed}, "", nil
	}
	a = Address{Kind: kind, Text: name}
	switch style {
	case StyleRabbitMQ3:
		// The name is one path segment; the plugin decodes percent signs.
		escaped := strings.NewReplacer("%", "%25", "/", "%2F").Replace(name)
		a.Text = pick(kind, "/queue/", "/topic/") + escaped
	case StyleRabbitMQ4:
		a.Text = pick(kind, "/queues/", "/exchanges/amq.topic/") + url.PathEscape(name)
		if kind == KindTopic && role == RoleReceiver {
			// Version 2 addresses have no form for a source that binds by itself.
			a.Text = "/topic/" + name
			warning = "RabbitMQ 4 receives from a topic by an address of version 1 only (" + a.Text + "), which it may refuse"
		}
	case StyleActiveMQ:
		a.Text = typed
	case StyleBrokerJ:
		a.Text = pick(kind, "", "amq.topic/") + name
	default:
		a.Capabilities = []string{pick(kind, "queue", "topic")}
	}
	return a, warning, nil
}

func pick(k Kind, queue, topic string) string {
	if k == KindTopic {
		return topic
	}
	return queue
}

// styleOf returns the style of a product, and false if it is not known.
func styleOf(product, version string) (Style, bool) {
	p := strings.ToLower(product)
	switch {
	case strings.Contains(p, "artemis"), p == "perf-broker":
		return StyleCapability, true
	case p == "rabbitmq":
		if major, _, _ := strings.Cut(version, "."); len(major) == 1 && major >= "0" && major <= "3" {
			return StyleRabbitMQ3, true
		}
		return StyleRabbitMQ4, true
	case p == "activemq":
		return StyleActiveMQ, true
	case p == "qpid", strings.Contains(p, "broker-j"), strings.Contains(p, "qpid broker"):
		return StyleBrokerJ, true
	}
	return StyleCapability, false
}
