package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"amqpperf/timestamp"
)

// rows are the rows of one sample.
type rows map[string]int64

// take samples once, at an instant of the test's choice.
func take(w *Watcher, at int64) rows {
	r := make(rows)
	w.sample(at, func(_ int64, what string, value int64) { r[what] = value })
	return r
}

// want compares some rows; −1 is "no row".
func (r rows) want(t *testing.T, wanted rows) {
	t.Helper()
	for what, v := range wanted {
		got, ok := r[what]
		if !ok {
			got = -1
		}
		if got != v {
			t.Errorf("%s is %d, want %d", what, got, v)
		}
	}
}

// put writes files below a root.
func put(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fake returns options that look at two roots of the test instead of the host.
func fake(t *testing.T) (o Options, proc, cgroup string) {
	t.Helper()
	proc, cgroup = t.TempDir(), t.TempDir()
	return Options{Clock: timestamp.NewClock(), HiccupEvery: -1, ProcRoot: proc, CgroupRoot: cgroup}, proc, cgroup
}

func newWatcher(t *testing.T, o Options) *Watcher {
	t.Helper()
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

func linuxOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
}
