package connect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
)

// closer is a link or a connection.
type closer interface {
	comparable
	Close(ctx context.Context) error
}

// closingAt bounds how many are closed at the same time. An answer takes a loaded
// broker long, and costs us nothing.
const closingAt = 256

// closing bounds the shutdown of all links together, and then that of all connections:
// what has not answered by then is cut off.
const closing = 15 * time.Second

// Close closes links, then connections, all of them, whatever becomes of the others;
// those that are nil were never opened. The error tells how many the broker did not
// close as it should, and why the first of them. The log is closed before: some brokers
// do not answer, and that changes neither the log nor the exit status.
func Close[L closer](links []L, conns []*link.Conn) error {
	return closeWithin(closing, links, conns)
}

func closeWithin[L closer](limit time.Duration, links []L, conns []*link.Conn) error {
	var u unclosed
	closeAll(limit, links, &u, false)
	inLinks := u.n
	closeAll(limit, conns, &u, true)
	if u.n == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d links and %d of %d connections did not end as they should, and were cut off (the log is whole): %w",
		inLinks, opened(links), u.n-inLinks, opened(conns), u.first)
}

// unclosed counts what could not be closed.
type unclosed struct {
	mu    sync.Mutex
	n     int
	first error
}

func (u *unclosed) add(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n++; u.n == 1 {
		u.first = err
	}
}

// opened counts those that were opened at all.
func opened[C comparable](list []C) (n int) {
	var none C
	for _, c := range list {
		if c != none {
			n++
		}
	}
	return n
}

// closeAll closes what is in the list. When the limit is over, what is left is closed only
// if it must be: a link ends with its connection, whose socket must be.
func closeAll[C closer](limit time.Duration, list []C, u *unclosed, must bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var none C
	_ = cli.Parallel(context.Background(), len(list), closingAt, func(_ context.Context, i int) error {
		switch {
		case list[i] == none:
		case !must && ctx.Err() != nil:
			u.add(ctx.Err())
		default:
			if err := list[i].Close(ctx); err != nil {
				u.add(err)
			}
		}
		return nil // one that fails keeps nobody from closing the others
	})
}
