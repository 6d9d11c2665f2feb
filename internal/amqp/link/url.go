package link

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// redacted stands for a password wherever a URL is shown.
const redacted = "xxxxx"

// URL says where a broker is and who we are. Its password can be read by this
// package only: String, GoString, every verb of fmt, MarshalText and errors
// show "xxxxx" instead. The zero value is no URL; see [ParseURL].
type URL struct {
	tls      bool
	host     string // without brackets
	port     uint16
	user     string
	password string
	hasUser  bool
}

// ParseURL parses amqp://[USER[:PASSWORD]@]HOST[:PORT] or the same with amqps.
// The port defaults to 5672 and 5671. Reserved characters in user and password
// are percent-encoded (# is %23). Nothing is ignored: a path, a query or a
// fragment is an error. No error contains the password.
//
// Note: net/url is not used for the whole, because its errors quote their input.
func ParseURL(s string) (URL, error) {
	scheme, rest, ok := strings.Cut(s, "://")
	switch {
	case strings.TrimSpace(s) == "":
		return URL{}, errors.New("the broker's URL is empty: amqp://HOST:PORT")
	case strings.TrimSpace(s) != s:
		return URL{}, errors.New("the broker's URL has a blank in front or at its end")
	case !ok:
		return URL{}, fmt.Errorf("the broker's URL has no scheme: put amqp:// in front: amqp://%s", hideUserinfo(s))
	}
	var u URL
	switch strings.ToLower(scheme) {
	case "amqp":
		u.port = 5672
	case "amqps":
		u.tls, u.port = true, 5671
	default:
		return URL{}, fmt.Errorf("scheme %q of the broker's URL: amqp or amqps", printable(hideUserinfo(scheme)))
	}
	// The last @ ends the userinfo, so that an unescaped separator in a password is found instead of cutting the host.
	hostport := rest
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		hostport = rest[at+1:]
		if err := u.parseUser(rest[:at]); err != nil {
			return URL{}, err
		}
	}
	if i := strings.IndexAny(hostport, "/?#"); i >= 0 {
		if err := checkTail(hostport[i:]); err != nil {
			return URL{}, err
		}
		hostport = hostport[:i]
	}
	return u, u.parseHost(hostport)
}

// parseUser sets user and password from the text before the last @.
func (u *URL) parseUser(s string) error {
	if i := strings.IndexAny(s, "/?#@ "); i >= 0 {
		return fmt.Errorf("user or password of the broker's URL contains %q: write %%%02X", s[i], s[i])
	}
	user, password, _ := strings.Cut(s, ":")
	var err1, err2 error
	u.user, err1 = url.PathUnescape(user)
	u.password, err2 = url.PathUnescape(password)
	if err1 != nil || err2 != nil {
		return errors.New("user or password of the broker's URL contains a % that is not followed by two hex digits: write %25")
	}
	if u.user == "" {
		return errors.New("the broker's URL has an empty user before the @")
	}
	u.hasUser = true
	return nil
}

// checkTail refuses what follows host and port.
func checkTail(s string) error {
	switch {
	case s == "/":
		return nil
	case s[0] == '/':
		name, _, _ := strings.Cut(s[1:], "?")
		name = printable(name)
		return fmt.Errorf("path %q of the broker's URL means nothing in AMQP 1.0: an address is an argument, "+
			"a virtual host of RabbitMQ is hostname vhost:%s", "/"+name, name)
	case s[0] == '?':
		return errors.New("the broker's URL has a query (after ?): options are flags")
	}
	return errors.New("the broker's URL has a fragment (after #); in a password write %23")
}

// parseHost sets host and port from HOST, HOST:PORT, [IPv6] or [IPv6]:PORT.
func (u *URL) parseHost(s string) error {
	host, port := s, ""
	if strings.HasPrefix(s, "[") || strings.Count(s, ":") == 1 {
		end := strings.LastIndexByte(s, ':')
		if end > strings.LastIndexByte(s, ']') {
			host, port = s[:end], s[end+1:]
			if port == "" {
				return errors.New("the broker's URL has a colon but no port after it")
			}
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if !ok || net.ParseIP(inner) == nil {
			return fmt.Errorf("host %q of the broker's URL is no IPv6 address in brackets", printable(host))
		}
		host = inner
	} else if strings.Contains(host, ":") {
		return fmt.Errorf("host %q of the broker's URL: an IPv6 address goes into brackets", printable(host))
	}
	if host == "" {
		return errors.New("the broker's URL has no host: amqp://HOST:PORT")
	}
	if strings.ContainsAny(host, " \t\\\"<>^`{|}%") || printable(host) != host {
		return fmt.Errorf("host %q of the broker's URL contains a character that no host name has", printable(host))
	}
	u.host = host
	if port == "" {
		return nil
	}
	n, err := strconv.ParseUint(port, 10, 64)
	if err != nil {
		return fmt.Errorf("port %q of the broker's URL is no number", printable(port))
	}
	if n < 1 || n > 65535 {
		return fmt.Errorf("port %d of the broker's URL: 1 to 65535", n)
	}
	u.port = uint16(n)
	return nil
}

// WithUser returns u with this user and password instead of those parsed; they
// are taken as they are, without percent-decoding.
func (u URL) WithUser(user, password string) URL {
	u.user, u.password, u.hasUser = user, password, user != ""
	return u
}

// Host returns the host without brackets.
func (u URL) Host() string { return u.host }

// Port returns the port, the scheme's default if none was given.
func (u URL) Port() int { return int(u.port) }

// HostPort returns host and port as package net wants them.
func (u URL) HostPort() string { return net.JoinHostPort(u.host, strconv.Itoa(int(u.port))) }

// TLS reports whether the scheme is amqps.
func (u URL) TLS() bool { return u.tls }

// User returns the user, "" if there is none.
func (u URL) User() string { return u.user }

// HasPassword reports whether there is a password that is not empty.
func (u URL) HasPassword() bool { return u.password != "" }

// String returns the URL with "xxxxx" for the password.
func (u URL) String() string {
	if u.host == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("amqp")
	if u.tls {
		b.WriteByte('s')
	}
	b.WriteString("://")
	if u.hasUser {
		b.WriteString(strings.ReplaceAll(url.PathEscape(u.user), ":", "%3A"))
		if u.password != "" {
			b.WriteString(":" + redacted)
		}
		b.WriteByte('@')
	}
	b.WriteString(u.HostPort())
	return b.String()
}

// GoString is String in quotes.
func (u URL) GoString() string { return strconv.Quote(u.String()) }

// Format prints String whatever the verb, so that no verb shows the fields.
func (u URL) Format(f fmt.State, verb rune) {
	s := u.String()
	if verb == 'q' || (verb == 'v' && f.Flag('#')) {
		s = strconv.Quote(s)
	}
	_, _ = io.WriteString(f, s) // fmt has nobody to tell
}

// MarshalText returns String: what goes into a log's configuration.
func (u URL) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// hide replaces the password in text that came from elsewhere (the peer, a library).
func (u URL) hide(text string) string {
	if u.password == "" || u.password == u.user {
		return text
	}
	for _, secret := range []string{u.password, url.PathEscape(u.password), url.QueryEscape(u.password)} {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// hideUserinfo cuts what may be user and password off a text that was meant to be a URL.
func hideUserinfo(s string) string {
	if at := strings.LastIndexByte(s, '@'); at >= 0 {
		return "…@" + s[at+1:]
	}
	return s
}

// printable replaces control characters, so that text can go to a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
