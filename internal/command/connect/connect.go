package connect

import (
	"context"
	"errors"
	"time"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
)

// at bounds how many connections are opened or closed at the same time: a
// broker's backlog of new connections is short.
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

// closer is a link.
type closer interface {
	comparable
	Close(ctx context.Context) error
}

// closing bounds the shutdown of all connections together.
const closing = 15 * time.Second

// Close closes links, then connections, each with a deadline of its own; those
// that are nil were never opened. The log is closed before: some brokers do not
// answer, and that changes neither the log nor the exit status.
func Close[L closer](links []L, conns []*link.Conn) error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return errors.Join(closeAll(ctx, links), closeAll(ctx, conns))
}

func closeAll[C closer](ctx context.Context, list []C) error {
	var none C
	return Each(ctx, len(list), func(ctx context.Context, i int) error {
		if list[i] == none {
			return nil
		}
		return list[i].Close(ctx)
	})
}
