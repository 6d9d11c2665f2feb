package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a testing.TB that keeps what a failing test would have said.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf panics, since the real one does not return either.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

func record(f func(testing.TB)) (r *recorder) {
	r = &recorder{}
	defer func() {
		if p := recover(); p != nil && p != any(r) {
			panic(p)
		}
	}()
	f(r)
	return r
}

func TestEqual(t *testing.T) {
	String(t, "greeting", "hello\nworld\n")
	JSON(t, "object", []byte(`{"b":1,"a":[1,2]}`))
}

func TestDifferent(t *testing.T) {
	if *update {
		t.Skip("would overwrite the file with the wrong text")
	}
	r := record(func(tb testing.TB) { String(tb, "greeting", "hello\nmoon\n") })
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "-world\n+moon\n") {
		t.Errorf("want one failure with a unified diff, got %q", r.failures)
	}
}

func TestMissing(t *testing.T) {
	if *update {
		t.Skip("would create the file")
	}
	r := record(func(tb testing.TB) { String(tb, "no-such", "") })
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "make golden") {
		t.Errorf("want one failure that says how to write the file, got %q", r.failures)
	}
}

func TestNotJSON(t *testing.T) {
	r := record(func(tb testing.TB) { JSON(tb, "object", []byte("{")) })
	if len(r.failures) != 1 || !strings.Contains(r.failures[0], "not JSON") {
		t.Errorf("want one failure, got %q", r.failures)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b.golden")
	for _, text := range []string{"one", "one", "two"} {
		if err := write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
	}
}
