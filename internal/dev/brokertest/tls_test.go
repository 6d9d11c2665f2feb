package brokertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tlsURL is the broker's port with TLS, without user and password.
func (b *bench) tlsURL() (anonymous, user string) {
	b.Helper()
	user = b.broker("tls-url")
	return "amqps://" + user[strings.LastIndexAny(user, "@/")+1:], user
}

// TestTLS sends and receives over TLS, by password and, where the broker can do that, by certificate (SASL EXTERNAL).
func TestTLS(t *testing.T) {
	ours(t)
	if !able("tls") {
		return
	}
	bothClients(t, func(b *bench) {
		anonymous, user := b.tlsURL()
		ca := []string{"--tls-ca", filepath.Join(bin, "ca.pem")}
		b.through(user, ca)
		if able("certificates") {
			b.through(anonymous, append(ca, certificateFlags(externalUser())...))
		}
	})
}

// through sends and receives with these options.
func (b *bench) through(url string, options []string) {
	b.Helper()
	b.url, b.address = url, b.address+"x"
	recv := b.receiver(b.name("recv"), append([]string{"-n", "200"}, options...)...)
	b.run("perf-send", append([]string{"-q", "-o", b.name("send"), "-n", "200", b.address}, options...)...)
	recv.want(0)
	b.report(b.name("send"), b.name("recv")).wantCounts(map[string]int{"intended": 200, "accepted": 200, "received": 200, "lost": 0})
}

func (b *bench) name(kind string) string {
	return kind + b.address[strings.LastIndex(b.address, "-"):] + ".parquet"
}

// externalUser is whose certificate the broker takes.
func externalUser() string {
	if os.Getenv("PERF_TEST_BROKER") == "rabbitmq" {
		return "guest"
	}
	return "perf"
}

func certificateFlags(name string) []string {
	return []string{"--tls-cert", filepath.Join(bin, name+".pem"), "--tls-key", filepath.Join(bin, name+"-key.pem")}
}

// TestTLSRefused: who is not known, or does not know the broker, gets nowhere.
func TestTLSRefused(t *testing.T) {
	ours(t)
	if !able("tls") {
		return
	}
	bothClients(t, func(b *bench) {
		anonymous, user := b.tlsURL()
		ca := []string{"--tls-ca", filepath.Join(bin, "ca.pem")}
		b.refused(user, nil, "certificate")
		b.refused(user, []string{"--tls-ca", filepath.Join(bin, "other-ca.pem")}, "certificate")
		b.refused(user, append(ca, "--tls-server-name", "example.org"), "example.org")
		if able("certificates") {
			b.refused(anonymous, append(ca, certificateFlags(nobody)...), "amqp:unauthorized-access")
			b.refused(anonymous, append(ca, certificateFlags("stranger")...), "")
		}
	})
}

// refused wants an error that says so.
func (b *bench) refused(url string, options []string, says string) {
	b.Helper()
	b.url = url
	send := b.start("perf-send", append([]string{"-q", "-o", "refused.parquet", "--force", "-n", "1", b.address}, options...)...)
	send.want(1)
	if text := send.stderr.String(); !strings.Contains(text, says) || strings.Contains(text, "panic") {
		b.Errorf("%v: the error does not say %q:\n%s", options, says, text)
	}
}
