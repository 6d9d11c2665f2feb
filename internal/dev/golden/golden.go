// Package golden compares test output with files kept beside the test, testdata/NAME.golden, and rewrites them on request.
//
// It is the only place that defines the -update flag: `go test ./... -update` fails in packages that do not import it, so use
// `make golden`, which runs exactly those that do, and read the difference before committing it. It knows nothing about
// pictures: the chart package compares pixels with a tolerance of its own.
package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

//nolint:gochecknoglobals // a flag has to be registered before the testing package parses the command line
var update = flag.Bool("update", false, "rewrite golden files with what the tests got")

// Update reports whether the test binary was asked to rewrite golden files. For tests whose expected output needs handling of
// its own (scripts, pictures).
func Update() bool { return *update }

// Bytes fails t, with a unified diff, unless got is the content of testdata/NAME.golden. With -update it writes the file
// instead. Safe for parallel tests that use different names.
func Bytes(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if *update {
		if err := write(path, got); err != nil {
			t.Fatalf("cannot update a golden file: %v", err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (make golden writes it): %v", err)
	}
	if d := diff.Diff(path, want, "got", got); d != nil {
		t.Errorf("output differs from its golden file (if that is intended: make golden)\n%s", d)
	}
}

// String is Bytes for text.
func String(t testing.TB, name, got string) {
	t.Helper()
	Bytes(t, name, []byte(got))
}

// JSON is Bytes for a JSON document, compared in its indented form, so that a difference is a line and not a megabyte.
func JSON(t testing.TB, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(got), "", "  "); err != nil {
		t.Fatalf("not JSON: %v\n%.2000s", err, got)
	}
	b.WriteByte('\n')
	Bytes(t, name, b.Bytes())
}

// write creates or replaces a golden file, and leaves an equal one untouched, so that its time keeps meaning something.
func write(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
