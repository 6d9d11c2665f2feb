package link

import (
	"context"
	"errors"
	"fmt"
	"strings"

	goamqp "github.com/Azure/go-amqp"
)

// BodySection is the kind of section that holds the body of a message.
type BodySection string

// The kinds of body sections. The empty string is BodyData.
const (
	BodyData  BodySection = "data"  // a data section
	BodyValue BodySection = "value" // an amqp-value section with a binary
)

// ParseBodySection parses the name of a kind.
func ParseBodySection(s string) (BodySection, error) {
	switch b := BodySection(s); b {
	case BodyData, BodyValue:
		return b, nil
	}
	return "", fmt.Errorf("body section %q: %s or %s", printable(s), BodyData, BodyValue)
}

// String returns the name of the kind, that of the default for "".
func (b BodySection) String() string {
	if b == "" {
		return string(BodyData)
	}
	return string(b)
}

// Set implements pflag.Value.
func (b *BodySection) Set(v string) (err error) {
	*b, err = ParseBodySection(strings.TrimSpace(v))
	return err
}

// Type implements pflag.Value.
func (b *BodySection) Type() string { return "section" }

// SASL is the mechanism by which we say who we are.
type SASL string

// The mechanisms. SASLAuto is PLAIN if the URL has a user, else EXTERNAL if there
// is a client certificate, else ANONYMOUS: some brokers hang up without a SASL layer.
const (
	SASLAuto      SASL = ""
	SASLPlain     SASL = "plain"
	SASLAnonymous SASL = "anonymous"
	SASLExternal  SASL = "external" // by client certificate; a user of the URL is the authorization identity
)

// ParseSASL parses the name of a mechanism.
func ParseSASL(s string) (SASL, error) {
	switch m := SASL(s); m {
	case SASLPlain, SASLAnonymous, SASLExternal:
		return m, nil
	}
	return "", fmt.Errorf("SASL mechanism %q: %s, %s or %s", printable(s), SASLPlain, SASLAnonymous, SASLExternal)
}

// String returns the name of the mechanism, "" for SASLAuto.
func (m SASL) String() string { return string(m) }

// Set implements pflag.Value.
func (m *SASL) Set(v string) (err error) {
	*m, err = ParseSASL(strings.TrimSpace(v))
	return err
}

// Type implements pflag.Value.
func (m *SASL) Type() string { return "mechanism" }

// checkSASL reports a mechanism that does not go together with URL and certificate.
func (c Config) checkSASL() error {
	switch c.SASL {
	case SASLAuto:
		return nil
	case SASLPlain:
		if c.URL.user == "" {
			return errors.New("SASL PLAIN needs a user: amqp://USER:PASSWORD@HOST")
		}
		return nil
	case SASLAnonymous:
		if c.URL.user != "" {
			return errors.New("SASL ANONYMOUS and a user contradict each other")
		}
		return nil
	case SASLExternal:
		switch {
		case c.TLS.CertFile == "":
			return errors.New("SASL EXTERNAL needs a client certificate, and so an amqps:// URL")
		case c.URL.password != "":
			return errors.New("SASL EXTERNAL and a password contradict each other")
		}
		return nil
	}
	return fmt.Errorf("SASL mechanism %q is unknown", printable(string(c.SASL)))
}

// sasl is the library's form of the mechanism.
func (c Config) sasl() goamqp.SASLType {
	m := c.SASL
	switch {
	case m != SASLAuto:
	case c.URL.user != "":
		m = SASLPlain
	case c.TLS.CertFile != "":
		m = SASLExternal
	}
	switch m {
	case SASLPlain:
		return goamqp.SASLTypePlain(c.URL.user, c.URL.password)
	case SASLExternal:
		return goamqp.SASLTypeExternal(c.URL.user)
	case SASLAuto, SASLAnonymous:
	}
	return goamqp.SASLTypeAnonymous()
}

// ErrRolledBack says that deliveries were settled inside a transaction that was
// rolled back, as TxRollback asked for.
var ErrRolledBack = errors.New("rolled back")

// Session is a session that several links share. It ends with the last of them
// that is closed, with ClientLibrary with the connection. Note that some brokers end
// the session when they refuse a link: the others on it are gone then.
type Session struct {
	conn *Conn
	own  *ownSession     // ClientOwn: begun with its first link
	lib  *goamqp.Session // ClientLibrary
}

// containerID returns the container id of a connection.
func (c Config) containerID(index int32) string {
	switch {
	case !c.ContainerExact:
		return fmt.Sprintf("%s-%d", randomName(c.ContainerID), index)
	case index == 0:
		return c.ContainerID
	}
	return fmt.Sprintf("%s-%d", c.ContainerID, index)
}

// NewSession makes a session for several links.
func (c *Conn) NewSession(ctx context.Context) (*Session, error) {
	if c.plane != nil {
		return &Session{conn: c, own: &ownSession{over: make(chan struct{})}}, nil
	}
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	inner, err := c.inner.NewSession(ctx, nil)
	if err != nil {
		return nil, c.failed("begin", c.cfg.URL.HostPort(), err)
	}
	return &Session{conn: c, lib: inner}, nil
}

// librarySession is a session of the library: the shared one, or a new one.
func (c *Conn) librarySession(ctx context.Context, shared *Session) (*goamqp.Session, error) {
	if shared != nil {
		return shared.lib, nil
	}
	return c.inner.NewSession(ctx, nil)
}
