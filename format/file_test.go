package format

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeText(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, path, content string, force bool) *File {
	t.Helper()
	f, err := CreateFile(path, force)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileAppearsWhenClosed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, "new", false)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before Close: %v", err)
	}
	if got := readText(t, path+PartialSuffix); got != "new" {
		t.Errorf("partial %q", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, path); got != "new" {
		t.Errorf("content %q", got)
	}
	if _, err := os.Lstat(path + PartialSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("partial after Close: %v", err)
	}
	if err := errors.Join(f.Close(), f.Abort()); err != nil {
		t.Errorf("Close and Abort after Close: %v", err)
	}
}

func TestAbortLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := create(t, filepath.Join(dir, "out"), "x", false).Abort(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	writeText(t, path("file"), "old")
	writeText(t, path("left"+PartialSuffix), "left over")
	writeText(t, path("victim"), "old")
	for link, target := range map[string]string{"link": "victim", "dangling": "nowhere", "trap" + PartialSuffix: "victim"} {
		if err := os.Symlink(path(target), path(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"file": "exists", "left": "was killed", "link": "symbolic link", "dangling": "symbolic link",
		"trap": "was killed", "dir": "is a directory",
	} {
		_, err := CreateFile(path(name), false)
		if err == nil || !strings.Contains(err.Error(), want) || (name != "dir" && !errors.Is(err, ErrExists)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	for _, name := range []string{"link", "dangling", "trap", "dir"} {
		if _, err := CreateFile(path(name), true); err == nil {
			t.Errorf("%s: force follows it", name)
		}
	}
	if readText(t, path("file")) != "old" || readText(t, path("victim")) != "old" {
		t.Error("something was overwritten")
	}
}

func TestForce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	writeText(t, path, "old")
	writeText(t, path+PartialSuffix, "left over")
	f := create(t, path, "new", true)
	if got := readText(t, path); got != "old" {
		t.Errorf("before Close: %q", got)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, path); got != "new" {
		t.Errorf("after Close: %q", got)
	}
}

func TestTwoWritersOfOneFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, "first", false)
	for _, force := range []bool{false, true} {
		if _, err := CreateFile(path, force); !errors.Is(err, ErrExists) {
			t.Errorf("force %v: %v", force, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := readText(t, path); got != "first" {
		t.Errorf("%q", got)
	}
}

// TestFileThatAppearsMeanwhile keeps both: what appeared and what was written.
func TestFileThatAppearsMeanwhile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, "ours", false)
	writeText(t, path, "theirs")
	if err := f.Close(); !errors.Is(err, ErrExists) || !strings.Contains(err.Error(), path+PartialSuffix) {
		t.Errorf("%v", err)
	}
	if readText(t, path) != "theirs" || readText(t, path+PartialSuffix) != "ours" {
		t.Error("something was lost")
	}
}

func TestLinkNoReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	writeText(t, a, "a")
	writeText(t, b, "b")
	if err := linkNoReplace(a, b); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	if err := linkNoReplace(a, b); err != nil || readText(t, b) != "a" {
		t.Errorf("%v", err)
	}
}

func TestDevicesAreWrittenDirectly(t *testing.T) {
	t.Parallel()
	f := create(t, os.DevNull, "x", false)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	w, err := CreateParquet("/dev/full", SendSchema(), ParquetOptions{})
	if err == nil {
		err = errors.Join(w.Write(goldenSend()), w.Close())
	}
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
}
