package broker

import (
	"errors"
	"io"
	"net"
)

var errNotYet = errors.New("broker: not implemented yet")

// Broker serves AMQP connections. Its methods may be called from several goroutines.
type Broker struct{ cfg Config }

// New returns a broker, or an error that says what is wrong with the configuration.
func New(c Config) (*Broker, error) {
	c, err := c.withDefaults()
	return &Broker{cfg: c}, err
}

// Serve accepts connections until the listener fails or Close is called; after
// Close it returns nil. Several listeners may be served at once.
func (b *Broker) Serve(net.Listener) error { return errNotYet }

// ServeConn serves one connection until it ends and closes it.
func (b *Broker) ServeConn(net.Conn) error { return errNotYet }

// Close closes listeners and connections (amqp:connection:forced), waits for what
// belongs to them, and reports the messages that are left to the arrival log.
func (b *Broker) Close() error { return nil }

// CSVLog writes records as CSV. Its Record method is for Config.ArrivalLog; writing
// happens in a goroutine of its own.
type CSVLog struct{}

// NewCSVLog writes a header line to w. extra, if not nil, appends further cells that
// it makes of a record (our stamp, say), without the leading comma; columns names them.
func NewCSVLog(w io.Writer, columns []string, extra func(dst []byte, r *Record) []byte) *CSVLog {
	return &CSVLog{}
}

// Record appends one row.
func (l *CSVLog) Record(r *Record) {}

// Close writes what is left and returns the first error of w. It does not close w.
func (l *CSVLog) Close() error { return errNotYet }
