package connect

import (
	"context"
	"errors"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
)

// at bounds how many connections are opened at the same time: a broker's
// backlog of new connections is short.
const at = 32

// Each calls do with 0…n−1, as many at a time as a broker takes, and returns the
// first error.
func Each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	return cli.Parallel(ctx, n, at, do)
}

// Dial opens n connections, numbered from 0. On an error those that are open are
// returned too, in their places, to be closed.
func Dial(ctx context.Context, cfg link.Config, n int) ([]*link.Conn, error) {
	conns := make([]*link.Conn, n)
	err := Each(ctx, n, func(ctx context.Context, i int) (err error) {
		conns[i], err = link.Dial(ctx, cfg, int32(i))
		return err
	})
	return conns, err
}

// Explain turns the end of the context into what it means while connecting.
func Explain(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return &cli.ExitError{Code: cli.ExitUnmet, Err: errors.New("interrupted before everything was attached")}
	}
	return err
}
