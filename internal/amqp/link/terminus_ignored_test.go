package link

import (
	"strings"
	"testing"
)

// What RabbitMQ takes and does not do is refused before it is asked.
func TestIgnoredByRabbitMQ(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		version string
		cfg     ReceiverConfig
		want    string
	}{
		{"3.10.8", ReceiverConfig{Selector: "n > 1"}, "RabbitMQ 3 ignores selectors"},
		{"4.0.5", ReceiverConfig{Selector: "n > 1"}, "RabbitMQ 4 ignores selectors"},
		{"3.10.8", ReceiverConfig{Browse: true}, "nothing would be received"},
		{"4.0.5", ReceiverConfig{Browse: true}, "would be gone"},
		{"3.10.8", ReceiverConfig{Durable: true}, "RabbitMQ 3 ignores durable subscriptions"},
		{"4.0.5", ReceiverConfig{Durable: true}, "RabbitMQ 4 ignores durable subscriptions"},
		{"4.0.5", ReceiverConfig{}, ""},
	} {
		err := tt.cfg.ignored(Peer{Product: "RabbitMQ", Version: tt.version})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %+v: %v, want %q", tt.version, tt.cfg, err, tt.want)
		}
	}
	all := ReceiverConfig{Selector: "n > 1", Browse: true, Durable: true}
	if err := all.ignored(Peer{Product: "apache-activemq-artemis", Version: "2.40.0"}); err != nil {
		t.Errorf("Artemis: %v", err)
	}
}
