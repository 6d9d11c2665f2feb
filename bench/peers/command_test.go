package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommand runs the command of docs/peers.md, short and with our tools alone: it fills a page from what it measured.
func TestCommand(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	build := func(folder string, packages ...string) {
		t.Helper()
		c := exec.Command("go", append([]string{"build", "-o", dir}, packages...)...)
		c.Dir = folder
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	build(root, "./cmd/perf-send", "./cmd/perf-recv", "./cmd/perf-report", "./cmd/perf-broker")
	build(filepath.Join(root, "bench"), "./peers")
	page := filepath.Join(dir, "page.md")
	if err := os.WriteFile(page, []byte("<!-- bench max/perf-broker -->\n<!-- /bench max/perf-broker -->\n<!-- bench stall/perf-broker -->\n<!-- /bench stall/perf-broker -->\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(filepath.Join(dir, "peers"), "-cases", "max,stall", "-brokers", perfBroker, "-tools", "ours", "-windows", "10", "-seconds", "1", "-warmup", "0",
		"-reps", "1", "-root", root, "-bin", dir, "-o", filepath.Join(dir, "out"), "-update", page)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| 10 in flight | " + ourName + " | 1 |", "| 1,000/s, stopped for 1s | " + ourName + " | 1 | 1.0 |", "perf-send -o send.parquet", "Artemis client: not compared"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is not in the page:\n%s", want, text)
		}
	}
}
