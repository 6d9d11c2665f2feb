package link

import (
	"fmt"
	"strings"
)

// Client says who runs sessions and links.
type Client string

// The clients. The empty string is ClientOwn.
const (
	// ClientOwn: sessions and links are ours, on the library's connection. Instants
	// are those of socket reads and writes.
	ClientOwn Client = "own"
	// ClientLibrary: all of it is go-amqp's public API. It costs more and measures the
	// library's queues too: an independent second opinion, for peers that are trusted
	// (the library takes frames of 2 GiB, and can be made to panic).
	ClientLibrary Client = "library"
)

// ParseClient parses the name of a client.
func ParseClient(s string) (Client, error) {
	switch c := Client(s); c {
	case ClientOwn, ClientLibrary:
		return c, nil
	}
	return "", fmt.Errorf("client %q: %s or %s", printable(s), ClientOwn, ClientLibrary)
}

// orDefault returns the client that c means.
func (c Client) orDefault() Client {
	if c == "" {
		return ClientOwn
	}
	return c
}

// String returns the name of the client, that of the default for "".
func (c Client) String() string { return string(c.orDefault()) }

// Set implements pflag.Value.
func (c *Client) Set(v string) (err error) {
	*c, err = ParseClient(strings.TrimSpace(v))
	return err
}

// Type implements pflag.Value.
func (c *Client) Type() string { return "client" }
