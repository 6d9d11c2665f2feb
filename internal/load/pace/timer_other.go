//go:build !linux

package pace

import "amqpperf/timestamp"

// NewTimer returns the most exact timer of this host.
func NewTimer(clock *timestamp.Clock) (Timer, error) { return NewRuntimeTimer(clock), nil }
