package link

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, shown, hostPort, user, password string
		tls                                   bool
	}{
		{text: "amqp://host", shown: "amqp://host:5672", hostPort: "host:5672"},
		{text: "amqps://host", shown: "amqps://host:5671", hostPort: "host:5671", tls: true},
		{text: "amqp://host:1234/", shown: "amqp://host:1234", hostPort: "host:1234"},
		{text: "AMQP://u:p@host", shown: "amqp://u:xxxxx@host:5672", hostPort: "host:5672", user: "u", password: "p"},
		{text: "amqp://u@host", shown: "amqp://u@host:5672", hostPort: "host:5672", user: "u"},
		{text: "amqp://u:p%23s%40s%2F%25@host", shown: "amqp://u:xxxxx@host:5672", hostPort: "host:5672", user: "u", password: "p#s@s/%"},
		{text: "amqp://a%20b:p:q@host", shown: "amqp://a%20b:xxxxx@host:5672", hostPort: "host:5672", user: "a b", password: "p:q"},
		{text: "amqp://[::1]", shown: "amqp://[::1]:5672", hostPort: "[::1]:5672"},
		{text: "amqp://[::1]:99", shown: "amqp://[::1]:99", hostPort: "[::1]:99"},
		{text: "amqp://127.0.0.1:65535", shown: "amqp://127.0.0.1:65535", hostPort: "127.0.0.1:65535"},
	} {
		u, err := ParseURL(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if u.String() != c.shown || u.HostPort() != c.hostPort || u.User() != c.user || u.password != c.password || u.TLS() != c.tls {
			t.Errorf("%s: %v, %s, user %q, password %q, tls %v", c.text, u, u.HostPort(), u.User(), u.password, u.TLS())
		}
	}
}

// TestParseURLErrors holds the hints fast, and that no error shows a password (B-009, B-010).
func TestParseURLErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "empty"},
		{" amqp://host", "blank in front"},
		{"host:5672", "put amqp:// in front: amqp://host:5672"},
		{"u:s3cret@host:5672", "put amqp:// in front"},
		{"http://host", `scheme "http"`},
		{"u:s3cret@x://host", "scheme"},
		{"amqp://", "no host"},
		{"amqp://:5672", "no host"},
		{"amqp://u:s3cret@", "no host"},
		{"amqp://u:s3#cret@host", "write %23"},
		{"amqp://u:s3/cret@host", "write %2F"},
		{"amqp://u:s3?cret@host", "write %3F"},
		{"amqp://u:s3@cret@host", "write %40"},
		{"amqp://u:s3%cret@host", "write %25"},
		{"amqp://u:s3 cret@host", "write %20"},
		{"amqp://:s3cret@host", "empty user"},
		{"amqp://host:70000", "1 to 65535"},
		{"amqp://host:0", "1 to 65535"},
		{"amqp://host:", "no port"},
		{"amqp://host:http", "no number"},
		{"amqp://u:s3cret@host/perf", "vhost:perf"},
		{"amqp://host/perf?x=1", "vhost:perf"},
		{"amqp://host?x=1", "query"},
		{"amqp://host#x", "fragment"},
		{"amqp://::1", "brackets"},
		{"amqp://[::1", "brackets"},
		{"amqp://[nope]:1", "brackets"},
		{"amqp://ho st", "character"},
		{"amqp://ho\x1b[1mst", "character"},
	} {
		_, err := ParseURL(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
			continue
		}
		if s := err.Error(); strings.Contains(s, "s3") || strings.Contains(s, "cret") || strings.ContainsRune(s, '\x1b') {
			t.Errorf("%q: the error shows too much: %q", c.text, s)
		}
	}
}

func TestURLShowsNoPassword(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	u, err := ParseURL("amqps://user:" + secret + "@host")
	if err != nil {
		t.Fatal(err)
	}
	values := []any{u, &u, []URL{u}, map[string]URL{"u": u}, struct{ U URL }{u}, Config{URL: u}, &Config{URL: u}}
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, secret) || strings.Contains(s, fmt.Sprintf("%x", secret)) {
				t.Errorf("%s of %T: %s", verb, v, s)
			}
		}
	}
	if b, err := json.Marshal(u); err != nil || string(b) != `"amqps://user:xxxxx@host:5671"` {
		t.Errorf("%s: %v", b, err)
	}
	for _, text := range []string{"peer says " + secret, "x" + secret + "y"} {
		if strings.Contains(u.hide(text), secret) {
			t.Errorf("%q is shown", u.hide(text))
		}
	}
}

func FuzzParseURL(f *testing.F) {
	for _, s := range []string{"amqp://u:p@h:1", "amqps://[::1]", "h", "amqp://u:p#@h/x?y#z", "amqp://%zz@h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := ParseURL(s)
		if err != nil {
			return
		}
		// What was parsed reads back as the same place.
		again, err := ParseURL(u.String())
		if err != nil || again.HostPort() != u.HostPort() || again.User() != u.User() || again.TLS() != u.TLS() {
			t.Errorf("%q gives %v, which gives %v: %v", s, u, again, err)
		}
	})
}
