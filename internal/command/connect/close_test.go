package connect

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/internal/amqp/link"
)

// fakeLink is a link whose peer answers a detach, or never does.
type fakeLink struct {
	closed atomic.Int32
	silent bool
	err    error
}

func (l *fakeLink) Close(ctx context.Context) error {
	l.closed.Add(1)
	if l.silent {
		<-ctx.Done()
		return ctx.Err()
	}
	return l.err
}

func TestCloseLeavesOutWhatWasNeverOpened(t *testing.T) {
	t.Parallel()
	a, b := &fakeLink{}, &fakeLink{}
	if err := Close([]*fakeLink{a, nil, b}, make([]*link.Conn, 3)); err != nil {
		t.Fatal(err)
	}
	if a.closed.Load() != 1 || b.closed.Load() != 1 {
		t.Errorf("closed %d and %d times, want once each", a.closed.Load(), b.closed.Load())
	}
}

// One that fails keeps nobody from closing the others.
func TestCloseClosesAll(t *testing.T) {
	t.Parallel()
	links := make([]*fakeLink, 500)
	for i := range links {
		links[i] = &fakeLink{}
	}
	cause := errors.New("amqp:internal-error")
	links[0].err = cause
	err := Close(links, nil)
	if !errors.Is(err, cause) || !strings.Contains(err.Error(), "1 of 500 links") {
		t.Errorf("got %v", err)
	}
	for i, l := range links {
		if l.closed.Load() != 1 {
			t.Fatalf("link %d was closed %d times", i, l.closed.Load())
		}
	}
}

// A broker that answers to nothing holds the end up for the limit once, not for each link.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		links := make([]*fakeLink, 1000)
		for i := range links {
			links[i] = &fakeLink{silent: true}
		}
		began := time.Now()
		err := closeWithin(time.Second, links, nil)
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1000 of 1000 links and 0 of 0 connections") {
			t.Errorf("got %v", err)
		}
	})
}
