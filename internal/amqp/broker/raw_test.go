package broker_test

import (
	"io"
	"net"

	"amqpperf/internal/amqp/wire"
)

// opening is what a client without SASL sends first.
func opening() []byte {
	return wire.AppendFrame([]byte(wire.ProtocolAMQP), wire.FrameAMQP, 0, &wire.Open{ContainerID: "raw"})
}

// readAll reads until the peer hangs up.
func readAll(c net.Conn) string {
	b, _ := io.ReadAll(c)
	return string(b)
}
