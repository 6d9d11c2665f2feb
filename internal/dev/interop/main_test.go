package interop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// messages is the size of the run that most tests look at: 4,000/s for 5 s.
const messages = 20_000

// environment names the programs of others; a test that needs one that is not set is skipped.
func environment(t *testing.T, key string) string {
	t.Helper()
	value := os.Getenv(key)
	if value == "" {
		t.Skipf("%s is not set (make interop)", key)
	}
	return value
}

// run runs a program and returns its standard output; it must end well.
func run(t *testing.T, url, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Env = append(os.Environ(), "AMQP_URL="+url)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", c, err, out, stderr.String())
	}
	return string(out)
}

// python runs a program of testdata and decodes the JSON that it prints into v.
func python(t *testing.T, url string, v any, script string, args ...string) {
	t.Helper()
	out := run(t, url, environment(t, "PERF_TEST_PYTHON"), append([]string{filepath.Join("testdata", script)}, args...)...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// commands builds the commands once for all tests and returns their folder.
var commands = sync.OnceValues(func() (string, error) {
	directory, err := os.MkdirTemp("", "interop")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("go", "build", "-o", directory, "amqpperf/cmd/...").CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("%w\n%s", err, out), os.RemoveAll(directory))
	}
	return directory, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("PERF_TEST_PYTHON") != "" || os.Getenv("PERF_TEST_TSHARK") != "" || os.Getenv("PERF_TEST_NODE") != "" {
		if directory, err := commands(); err == nil {
			_ = os.RemoveAll(directory)
		}
	}
	os.Exit(code)
}

// command returns the path of one of our commands.
func command(t *testing.T, name string) string {
	t.Helper()
	directory, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(directory, name)
}

// start starts one of our commands; it is asked to end, and waited for, at the end of the test.
func start(t *testing.T, url, name string, args ...string) (wait func()) {
	t.Helper()
	c := exec.Command(command(t, name), args...)
	c.Env = append(os.Environ(), "AMQP_URL="+url)
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
		<-ended
	})
	return func() {
		t.Helper()
		err := <-ended
		ended <- nil
		if err != nil {
			t.Fatalf("%s: %v\n%s", c, err, output.String())
		}
	}
}

// broker starts perf-broker for one test and returns its URL.
func broker(t *testing.T, flags ...string) string {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	start(t, "", "perf-broker", append([]string{"--listen", "127.0.0.1:0", "--ready-file", ready}, flags...)...)
	appears(t, ready)
	text, err := os.ReadFile(ready)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	return first
}

func appears(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(30 * time.Second); ; <-tick.C {
		if _, err := os.Lstat(path); err == nil {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("waited 30 s for %s", path)
		}
	}
}

// runFiles is a finished run with everything that can be made of it.
type runFiles struct {
	directory string
	report    []byte // JSON
}

func (r runFiles) path(name string) string { return filepath.Join(r.directory, name) }

// pipeline runs send, recv, merge and report once against perf-broker.
func pipeline(t *testing.T) runFiles {
	t.Helper()
	r := runFiles{directory: t.TempDir()}
	url := broker(t, "--service-time", "50us")
	wait := start(t, url, "perf-recv", "-q", "-o", r.path("recv.parquet"), "--idle", "2s", "--wait", "60s", "--ready-file", r.path("ready"), "queue://interop")
	appears(t, r.path("ready"))
	run(t, url, command(t, "perf-send"), "-q", "-o", r.path("send.parquet"), "-r", "4k", "-d", "5s", "--warmup", "1s", "queue://interop")
	wait()
	run(t, "", command(t, "perf-merge"), "-o", r.path("merged.parquet"), r.path("send.parquet"), r.path("recv.parquet"))
	run(t, "", command(t, "perf-merge"), "-o", r.path("merged.arrows"), "-f", "arrow", r.path("send.parquet"), r.path("recv.parquet"))
	r.report = []byte(run(t, "", command(t, "perf-report"), "-f", "json", "--hlog", r.path("run.hlog"), r.path("merged.parquet")))
	return r
}
