//go:build !race

package crash

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// witness does what a recorder does, in this process: five times a second it appends to a file. How late it is says what the
// machine cannot do at present, whoever asks; a recorder is not blamed for that.
type witness struct {
	mu    sync.Mutex
	worst time.Duration
}

const witnessEvery = 200 * time.Millisecond

func newWitness(tb testing.TB) *witness {
	tb.Helper()
	f, err := os.Create(filepath.Join(tb.TempDir(), "witness"))
	if err != nil {
		tb.Fatal(err)
	}
	w, quit, ended := &witness{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(witnessEvery)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			_, err := f.Write(make([]byte, 4096))
			now := time.Now()
			w.mu.Lock()
			if late := now.Sub(last) - witnessEvery; err == nil {
				w.worst = max(w.worst, late)
			}
			w.mu.Unlock()
			last = now
		}
	}()
	tb.Cleanup(func() {
		close(quit)
		<-ended
		_ = f.Close() // nobody reads it
	})
	return w
}

// late returns by how much the witness was late at worst.
func (w *witness) late() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.worst
}
