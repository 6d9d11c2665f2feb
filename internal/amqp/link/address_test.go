package link

import (
	"slices"
	"strings"
	"testing"
)

func TestResolveAddress(t *testing.T) {
	t.Parallel()
	const artemis, perf = "apache-activemq-artemis", "perf-broker"
	for _, c := range []struct {
		typed, product, version string
		style                   Style
		role                    Role
		want, capability        string
		warns                   bool
	}{
		{typed: "queue://a", product: artemis, version: "2.40.0", want: "a", capability: "queue"},
		{typed: "topic://a", product: artemis, version: "2.40.0", want: "a", capability: "topic"},
		{typed: "queue://a::q", product: artemis, version: "2.40.0", want: "a::q", capability: "queue"},
		{typed: "queue://a", product: perf, want: "a", capability: "queue"},
		{typed: "topic://a", product: perf, want: "a", capability: "topic"},
		{typed: "queue://a", product: "RabbitMQ", version: "3.10.8", want: "/queue/a"},
		{typed: "topic://a.b", product: "RabbitMQ", version: "3.13.0", want: "/topic/a.b"},
		{typed: "queue://a/b%", product: "RabbitMQ", version: "3.10.8", want: "/queue/a%2Fb%25"},
		{typed: "queue://a/b", product: "RabbitMQ", version: "4.1.2", want: "/queues/a%2Fb"},
		{typed: "queue://a", product: "RabbitMQ", version: "10.0", want: "/queues/a"},
		{typed: "topic://a", product: "RabbitMQ", version: "4.1.2", want: "/exchanges/amq.topic/a"},
		{typed: "topic://a", product: "RabbitMQ", version: "4.1.2", role: RoleReceiver, want: "/topic/a", warns: true},
		{typed: "queue://a", product: "ActiveMQ", version: "5.18.3", want: "queue://a"},
		{typed: "topic://a", product: "ActiveMQ", version: "5.18.3", want: "topic://a"},
		{typed: "queue://a", product: "qpid", version: "9.2.0", want: "a"},
		{typed: "topic://a", product: "qpid", version: "9.2.0", want: "amq.topic/a"},
		{typed: "queue://a", product: "", want: "a", capability: "queue", warns: true},
		{typed: "topic://a", product: "something", want: "a", capability: "topic", warns: true},
		{typed: "queue://a", product: "something", style: StyleRabbitMQ3, want: "/queue/a"},
		{typed: "queue://a", product: artemis, style: StyleVerbatim, want: "queue://a"},
		{typed: "a", product: "something", want: "a"},
		{typed: "/queue/a%2F", product: "RabbitMQ", version: "3.10.8", want: "/queue/a%2F"},
		{typed: "Queue://a", product: artemis, want: "Queue://a"},
	} {
		a, warning, err := ResolveAddress(c.typed, c.product, c.version, c.style, c.role)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		var capabilities []string
		if c.capability != "" {
			capabilities = []string{c.capability}
		}
		if a.Text != c.want || !slices.Equal(a.Capabilities, capabilities) || (warning != "") != c.warns {
			t.Errorf("%s on %s %s: %+v, %q", c.typed, c.product, c.version, a, warning)
		}
	}
}

func TestAddressErrors(t *testing.T) {
	t.Parallel()
	for _, typed := range []string{"", "queue://", "topic://", "queue://a\nb", "\x1b[1m"} {
		if err := CheckAddress(typed); err == nil || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%q: %v", typed, err)
		}
	}
	if err := CheckAddress("queue://a"); err != nil {
		t.Error(err)
	}
}

func TestStyleNames(t *testing.T) {
	t.Parallel()
	for s := StyleAuto; s <= StyleVerbatim; s++ {
		if got, err := ParseStyle(s.String()); err != nil || got != s {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseStyle("nope"); err == nil || !strings.Contains(err.Error(), "rabbitmq3") {
		t.Errorf("%v", err)
	}
}
