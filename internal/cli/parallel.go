package cli

import (
	"context"
	"sync"
)

// Parallel calls do with 0…n−1, at most limit at a time, and returns the first
// error; then no more are started and the context of those that run ends. It
// returns when all have returned.
func Parallel(ctx context.Context, n, limit int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, limit)
	var wg sync.WaitGroup
	for i := range n {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := do(ctx, i); err != nil {
				cancel(err) // the first cause stays
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}
