package doctest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain builds the programs, without the race detector: they have tests of their own, and are started often here.
func TestMain(m *testing.M) { os.Exit(programs(m)) }

func programs(m *testing.M) int {
	dir, err := os.MkdirTemp("", "perf-programs-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if out, e := exec.Command("go", "build", "-race=false", "-o", dir, "amqpperf/cmd/...").CombinedOutput(); e != nil {
		err = fmt.Errorf("%w: %s", e, out)
	}
	if err == nil {
		err = os.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	}
	if err != nil {
		panic(err)
	}
	return m.Run()
}

// mustBeMarked are pages in which every command has to be executed, or say why not.
func mustBeMarked(page string) bool {
	return page == "README.md" || strings.HasPrefix(page, "docs/scenarios/") || page == "docs/like.md" || page == "docs/peers.md" || page == "docs/performance.md" || page == "docs/brokers.md"
}

// TestDocumentation executes the commands of all pages.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{filepath.Join(root, "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, more...)
	}
	for _, page := range pages {
		name, _ := filepath.Rel(root, page)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := Blocks(string(text))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if Marked(blocks) || mustBeMarked(filepath.ToSlash(name)) {
				for _, f := range Check(blocks) {
					t.Errorf("%s: %v", name, f)
				}
			}
			execute(t, root, name, blocks)
		})
	}
}

// execute runs the blocks of a page one after the other, in a folder of its own that has what the root of the repository has.
func execute(t *testing.T, root, page string, blocks []Block) {
	dir, url := t.TempDir(), ""
	for _, name := range []string{"scripts", "scenarios"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range blocks {
		real := os.Getenv("PERF_TEST_DOCS") != ""
		if b.Mode != Hermetic && !(b.Mode == Broker && real) {
			continue
		}
		if url == "" {
			url = broker(t)
		}
		limit := time.Minute
		if b.Mode == Broker {
			limit = 15 * time.Minute
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", b.Script+"\nwait\n")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home(dir, b.Mode), "AMQP_URL="+url)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%s:%d: %v\n%s\n%s", page, b.Line, err, b.Script, out)
		}
	}
}

// home keeps hermetic commands from the user's files; brokers are installed in the user's.
func home(dir string, mode Mode) string {
	if mode == Hermetic {
		return dir
	}
	return os.Getenv("HOME")
}

// broker starts perf-broker and returns its URL.
func broker(t *testing.T) string {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "url")
	cmd := exec.Command("perf-broker", "-q", "--listen", "127.0.0.1:0", "--ready-file", ready)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("perf-broker: %v", err)
		}
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(ready); err == nil && len(text) > 0 {
			url, _, _ := strings.Cut(string(text), "\n")
			return url
		}
	}
	t.Fatal("perf-broker is not ready")
	return ""
}

// TestScenarios: every scenario of the repository fits the programs, and has its page.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "scenarios", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var docs strings.Builder
	pages, err := filepath.Glob(filepath.Join("..", "..", "..", "docs", "scenarios", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		docs.Write(text)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		if !strings.Contains(docs.String(), "<!-- result "+name+" -->") {
			t.Errorf("scenarios/%s.yaml has no place for its result in docs/scenarios", name)
		}
		if out, err := exec.Command("perf-run", "--print", f).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", f, err, out)
		}
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	got, err := Blocks("# x\n\n<!-- run 30s -> 1s; 5k -> 50 -->\n    perf-send -d 30s -r 5k q\n    perf-recv q\n\ntext\n\n<!-- no run: needs a host -->\n```sh\nperf-run x\n```\n\n```\nls\n```\n\n<!-- run broker -->\n```\nmake x\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{Line: 4, Text: "perf-send -d 30s -r 5k q\nperf-recv q\n", Script: "perf-send -d 1s -r 50 q\nperf-recv q\n", Mode: Hermetic, Ours: true},
		{Line: 11, Text: "perf-run x\n", Script: "perf-run x\n", Mode: NoRun, Ours: true},
		{Line: 15, Text: "ls\n", Script: "ls\n"},
		{Line: 20, Text: "make x\n", Script: "make x\n", Mode: Broker, Ours: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if faults := Check(append(got, Block{Line: 7, Ours: true})); len(faults) != 1 || !strings.HasPrefix(faults[0].Error(), "line 7: ") {
		t.Errorf("got %v", faults)
	}
	for _, bad := range []string{"<!-- no run -->\n    x\n", "<!-- run x -->\n    x\n", "<!-- run y -> z -->\n    x\n", "<!-- run -->\ntext\n"} {
		if got, err := Blocks(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func ExampleCheck() {
	blocks, _ := Blocks("    perf-send queue://x\n")
	fmt.Println(len(Check(blocks)))
	// Output: 1
}
