package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	goamqp "github.com/Azure/go-amqp"
)

// Conditions that this package uses for failures that AMQP has no frame for.
const (
	// CondUnauthorized: refused credentials, or a SASL mechanism that we have none for.
	CondUnauthorized = "amqp:unauthorized-access"
	// CondTooLarge: a message above the peer's limit.
	CondTooLarge = "amqp:link:message-size-exceeded"
)

// Error is a failure of a connection or link. It never contains a password.
type Error struct {
	// Op is what was tried: connect, begin, attach, send, receive, settle, detach, close.
	Op string
	// Address is the address as typed, or host and port of a failed connect.
	Address string
	// Condition is the AMQP condition, "" if no peer gave one.
	Condition string
	// Description is the peer's text, or ours where there is none.
	Description string

	cause error
}

// Error implements error: "attach queue://x: amqp:not-found: no such queue".
func (e *Error) Error() string {
	parts := make([]string, 0, 3)
	parts = append(parts, strings.TrimSpace(e.Op+" "+e.Address))
	for _, s := range []string{e.Condition, e.Description} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns a context error, a system call's error or io.EOF if one was the
// cause. Errors of the library and of the peer are not in the chain: their text
// has passed redaction only as Description.
func (e *Error) Unwrap() error { return e.cause }

// text is the form of Error for the column error of a log: condition and
// description without operation and address, which other columns have.
func (e *Error) text() string {
	switch {
	case e.Condition == "":
		return e.Description
	case e.Description == "":
		return e.Condition
	}
	return e.Condition + ": " + e.Description
}

// failure makes an *Error of whatever the library returned.
func failure(u URL, op, address string, err error) *Error {
	var already *Error
	if errors.As(err, &already) {
		return already
	}
	e := &Error{Op: op, Address: printable(address), cause: safeCause(err)}
	if remote := remoteError(err); remote != nil {
		e.Condition = printable(u.hide(string(remote.Condition)))
		e.Description = printable(u.hide(remote.Description))
		return e
	}
	e.Condition, e.Description = explain(u, err)
	e.Description = printable(u.hide(e.Description))
	return e
}

// remoteError returns what the peer said, nil if it said nothing.
func remoteError(err error) *goamqp.Error {
	var plain *goamqp.Error
	if errors.As(err, &plain) {
		return plain
	}
	return nil
}

// safeCause returns the part of a chain whose text cannot hold a secret.
func safeCause(err error) error {
	for _, known := range []error{context.Canceled, context.DeadlineExceeded, io.EOF, net.ErrClosed} {
		if errors.Is(err, known) {
			return known
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) { // the library's deadline is that of the context
		return context.DeadlineExceeded
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return nil
}

// explain turns the library's untyped errors into a condition and a text that
// helps. The texts matched are those of go-amqp v1.7.0; a test holds them fast.
func explain(u URL, err error) (condition, description string) {
	text := err.Error()
	var unknownCA x509.UnknownAuthorityError
	var header tls.RecordHeaderError
	switch {
	case strings.Contains(text, "auth failed with code"):
		_, more, _ := strings.Cut(text, "auth failed with code ")
		who := "anonymous access, or the identity of the certificate"
		switch {
		case u.user != "":
			who = fmt.Sprintf("user %q", u.user)
		case !u.tls:
			who = "anonymous access"
		}
		return CondUnauthorized, fmt.Sprintf("the broker refused %s (SASL code %s)", who, strings.TrimSuffix(more, ": "))
	case strings.Contains(text, "no supported auth mechanism"):
		_, offered, _ := strings.Cut(text, "no supported auth mechanism ")
		if u.user == "" {
			return CondUnauthorized, "the broker wants a user: amqp://USER:PASSWORD@HOST (it offers SASL " + offered + ")"
		}
		return CondUnauthorized, "the broker does not take a user and password (it offers SASL " + offered + ")"
	case strings.Contains(text, "unexpected protocol header 0x0"):
		return "", "the broker has no SASL layer"
	case strings.Contains(text, "unexpected protocol version"), strings.Contains(text, "unexpected protocol "):
		return "", "no AMQP 1.0 broker listens there (" + text + ")"
	case errors.As(err, &header):
		return "", "no TLS there: is it a port for amqp://? (" + text + ")"
	case errors.As(err, &unknownCA):
		return "", "the broker's certificate is signed by an unknown authority: give its CA file (" + text + ")"
	case errors.Is(err, context.DeadlineExceeded):
		return "", "no answer in time"
	case errors.Is(err, context.Canceled):
		return "", "cancelled"
	case text == io.EOF.Error(), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "", "the peer closed the connection without a reason"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "", "connection refused: nobody listens there"
	}
	if strings.Contains(text, "i/o timeout") { // the library's ConnError hides the type
		return "", "nothing came from the peer, or it took nothing, for too long (" + text + ")"
	}
	return "", text
}
