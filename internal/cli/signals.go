package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// OnSignal calls first at the first SIGINT or SIGTERM; at the second the
// process exits at once with ExitInterrupted. The returned function gives the
// signals back to the system; it may be called more than once.
func (e *Env) OnSignal(first func(os.Signal)) (stop func()) {
	received := e.Signals
	release := func() {}
	if received == nil {
		c := make(chan os.Signal, 2)
		signal.Notify(c, os.Interrupt, syscall.SIGTERM)
		release = func() { signal.Stop(c) }
		received = c
	}
	exit := e.Exit
	if exit == nil {
		exit = os.Exit
	}
	done := make(chan struct{})
	go watchSignals(received, done, first, exit)
	return sync.OnceFunc(func() {
		release()
		close(done)
	})
}

func watchSignals(received <-chan os.Signal, done <-chan struct{}, first func(os.Signal), exit func(int)) {
	for n := 0; ; n++ {
		select {
		case s := <-received:
			if n > 0 {
				exit(ExitInterrupted)
				return
			}
			first(s)
		case <-done:
			return
		}
	}
}

// Interruptible returns a context that ends at the first SIGINT or SIGTERM, or
// when the returned function is called.
func (e *Env) Interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	stop := e.OnSignal(func(os.Signal) { cancel() })
	return ctx, func() { stop(); cancel() }
}
