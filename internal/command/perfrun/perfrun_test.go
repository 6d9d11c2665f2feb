package perfrun

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"amqpperf/internal/cli"
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

// broker starts perf-broker and returns its URL.
func broker(t *testing.T, args ...string) string {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "url")
	cmd := exec.Command("perf-broker", append([]string{"-q", "--listen", "127.0.0.1:0", "--ready-file", ready}, args...)...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the wait below tells
		if err := cmd.Wait(); err != nil {
			t.Errorf("perf-broker: %v", err)
		}
	})
	url, _, _ := strings.Cut(string(appears(t, ready)), "\n")
	return url
}

// appears waits for a file and returns its content.
func appears(t *testing.T, file string) []byte {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
			return text
		}
	}
	t.Fatalf("%s did not appear", file)
	return nil
}

// run runs perf-run in-process.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Signals: make(chan os.Signal)}
	code = cli.Run(env, New, args)
	return code, out.String(), errs.String()
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s has no %q:\n%s", what, p, text)
		}
	}
}

func content(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestVariants is an experiment of two variants with all that belongs to it: the
// URL by a hook, a secret by standard input, and the index.
func TestVariants(t *testing.T) {
	t.Parallel()
	url := broker(t, "--user", "demo", "--password-file", secret(t))
	dir := filepath.Join(t.TempDir(), "out")
	scenario := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(scenario, fmt.Appendf(nil, `name: two
title: Two | sizes
addresses: queue://bench
url: ${BROKER}
send: {rate: 500, duration: 300ms}
recv: {idle: 200ms}
variants: [{label: small, send: {size: 100}}, {label: large, send: {size: 10k}}]
repetitions: 2
cool-down: 0s
pictures: compared
hooks:
  before-all: echo "BROKER=amqp://demo:${PW}@%s" >> "$PERF_ENV"
  after-run: echo "$PERF_VARIANT $PERF_REPETITION" > "$PERF_RUN_DIR/hook"
`, strings.TrimPrefix(url, "amqp://")), 0o666); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, "PW=s3cret\n", "--env", "-", "-o", dir, "--seed", "7", scenario)
	if code != cli.ExitOK {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	contains(t, "standard error", stderr, "run 1 of 4, large, repetition 1: ok after", "index: "+dir)
	index := content(t, dir, "index.md")
	contains(t, "index.md", index, "# Two \\| sizes", "4 of 4 runs", "seed 7", "| small | 2 |", "| large | 2 |", "## Compared: variants", "compared/variant=large/rates.png",
		"S1 ", ":: R1 ", "Broker, by its open frame: perf-broker", `AMQP_URL="${BROKER}" perf-send`)
	if got := content(t, dir, "runs", "001-large-1", "hook"); got != "large 1\n" {
		t.Errorf("the hook after the run wrote %q", got)
	}
	nowhere(t, dir, "s3cret")
	// All is done: going on makes no run, and gives the same verdict.
	before := content(t, dir, "experiment.json")
	if code, _, stderr := run(t, "PW=s3cret\n", "--env", "-", "--resume", dir); code != cli.ExitOK || content(t, dir, "experiment.json") != before {
		t.Errorf("exit status %d, or another run: %s", code, stderr)
	}
}

// TestWarmUpRuns: they are made and listed, and neither counted nor judged.
func TestWarmUpRuns(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "", "-u", broker(t), "-o", dir, "--warm-up-runs", "1", "--variant", "a=--size 100", "--variant", "b=--size 200",
		"--cool-down", "0s", "--pictures", "none", "--send", "--rate 200 --duration 100ms", "--recv", "--idle 100ms", "queue://bench")
	if code != cli.ExitOK {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	contains(t, "standard error", stderr, "run 1 of 4, a, warm-up: ok after", "run 2 of 4, b, warm-up: ok after", ", repetition 1: ok after")
	index := content(t, dir, "index.md")
	contains(t, "index.md", index, "4 of 4 runs", "| a | 1 |", "| b | 1 |", "| a | warm-up |")
	if compared := content(t, dir, "compared", "variants.md"); !strings.Contains(compared, "1 run against 1 run") {
		t.Errorf("a warm-up run was compared: %s", compared)
	}
}

// TestPrintedIsTyped gives what --print says to a shell: it needs no perf-run, and ends in the same report.
func TestPrintedIsTyped(t *testing.T) {
	t.Parallel()
	code, script, stderr := run(t, "", "--print", "--pictures", "none", "-o", "out", "-u", "${WHERE}", "--variant", "a=--size 100", "--variant", "b=--size 200", "--cool-down", "0s",
		"--before-run", `echo "WHERE=$THERE" >> "$PERF_ENV"; mkdir -p "$PERF_RUN_DIR"; echo "$PERF_VARIANT" > "$PERF_RUN_DIR/who"`,
		"--send", "--count 7 --duration 10s", "--recv", "--idle 100ms", "queue://typed")
	if code != cli.ExitOK {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	dir := t.TempDir()
	shell := exec.Command("sh", "-e")
	shell.Dir, shell.Stdin, shell.Env = dir, strings.NewReader(script), append(os.Environ(), "THERE="+broker(t))
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, script)
	}
	reports, err := filepath.Glob(filepath.Join(dir, "out", "runs", "*", "report.json"))
	if err != nil || len(reports) != 2 {
		t.Fatalf("%d reports, %v:\n%s", len(reports), err, script)
	}
	for _, r := range reports {
		contains(t, r, strings.Join(strings.Fields(content(t, r)), ""), `"received":7`)
		if who := content(t, filepath.Dir(r), "who"); !strings.Contains(r, "-"+strings.TrimSpace(who)+"-") {
			t.Errorf("%s was made by the hook of %s", r, who)
		}
	}
}

// TestSecretsAreInNoCommandLine looks at all processes of an experiment while its runs wait for each other.
func TestSecretsAreInNoCommandLine(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		t.Skip("there is no /proc")
	}
	url := broker(t, "--user", "demo", "--password-file", secret(t))
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command("perf-run", "-o", dir, "--pictures", "none", "-u", "amqp://demo:${PW}@"+strings.TrimPrefix(url, "amqp://"), "--env", "-",
		"--send", "--rate 10 --duration 10m", "queue://q")
	cmd.Stdin = strings.NewReader("PW=s3cret\n")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	appears(t, filepath.Join(dir, "runs", "001-1", "recv.ready"))
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, l := range lines {
		text, err := os.ReadFile(l)
		if err != nil || !strings.Contains(string(text), dir) { // one that ended, or another's
			continue
		}
		seen++
		if strings.Contains(string(text), "s3cret") {
			t.Errorf("a command line has the secret: %q", text)
		}
	}
	if seen < 2 {
		t.Errorf("%d processes were looked at: perf-run and perf-recv were to be there", seen)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != cli.ExitUnmet {
		t.Error(err)
	}
	nowhere(t, dir, "s3cret")
}

func secret(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// nowhere looks for a text in all files of a folder.
func nowhere(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.Contains(content(t, path), text) {
			t.Errorf("%s has the secret", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestInterrupted kills perf-run within its second run, and goes on.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	url := broker(t)
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"-o", dir, "--pictures", "none", "-u", url, "--order", "given", "--param", "size=100,200,300", "--cool-down", "0s", "--send", "--rate 100 --duration 400ms", "--recv", "--idle 100ms", "queue://q"}
	cmd := exec.Command("perf-run", args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	appears(t, filepath.Join(dir, "runs", "002-size=200-1", "commands.txt"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("it was not killed")
	}
	code, _, stderr := run(t, "", "--resume", dir)
	if code != cli.ExitOK {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	if strings.Contains(stderr, "run 1 of 3") || !strings.Contains(stderr, "run 2 of 3, size 200, repetition 1: ok") || !strings.Contains(stderr, "run 3 of 3") {
		t.Errorf("runs 2 and 3 were to be made:\n%s", stderr)
	}
	contains(t, "index.md", content(t, dir, "index.md"), "3 of 3 runs", "| size 300 | 1 |")
	contains(t, "commands.txt", content(t, dir, "runs", "002-size=200-1-attempt-2", "commands.txt"), "-002-2 ")
	if entries, err := os.ReadDir(filepath.Join(dir, "runs", "002-size=200-1")); err != nil || len(entries) == 0 {
		t.Errorf("what the interrupted run left is not kept: %v", err)
	}
}

// TestSignal interrupts by SIGINT: exit status 3, an index, and no process left that would hold the run up.
func TestSignal(t *testing.T) {
	t.Parallel()
	url := broker(t)
	dir := filepath.Join(t.TempDir(), "out")
	after := filepath.Join(dir, "after")
	cmd := exec.Command("perf-run", "-o", dir, "--pictures", "none", "-u", url, "--send", "--rate 10 --duration 10m", "--after-all", `touch "$PERF_DIR/after"`, "queue://q")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	appears(t, filepath.Join(dir, "runs", "001-1", "commands.txt"))
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != cli.ExitUnmet {
		t.Errorf("%v: %s", err, stderr.String())
	}
	contains(t, "standard error", stderr.String(), "perf-run: interrupted: perf-run --resume "+dir+" goes on")
	contains(t, "index.md", content(t, dir, "index.md"), "0 of 1 runs", "Not complete: 1 runs were not made")
	if _, err := os.Stat(after); err != nil {
		t.Errorf("the hook after all runs was not run: %v", err)
	}
}

// TestFailedRun: a failed run is kept and named, the others are made, and the exit status tells.
func TestFailedRun(t *testing.T) {
	t.Parallel()
	url := broker(t, "--forbid", "queue://bad")
	dir := filepath.Join(t.TempDir(), "out")
	code, _, stderr := run(t, "", "-o", dir, "--pictures", "none", "-u", url, "--shared-addresses", "--order", "given", "--param", "name=bad,good", "--cool-down", "0s", "--drain", "0s",
		"--send", "--rate 100 --duration 200ms --timeout 2s", "--recv", "--idle 100ms --timeout 2s", "queue://{name}")
	if code != cli.ExitFailure {
		t.Errorf("exit status %d", code)
	}
	contains(t, "standard error", stderr, "run 1 of 2, name bad, repetition 1: failed", "run 2 of 2, name good, repetition 1: ok", "perf-run: 1 runs failed:\n  runs/001-name=bad-1: perf-recv: exit status 1")
	contains(t, "index.md", content(t, dir, "index.md"), "| failed: perf-recv", "2 of 2 runs")
}

// TestGate: a condition that holds is exit status 3.
func TestGate(t *testing.T) {
	t.Parallel()
	code, _, stderr := run(t, "", "--pictures", "none", "-o", filepath.Join(t.TempDir(), "out"), "-u", broker(t), "--send", "--rate 200 --duration 200ms", "--recv", "--idle 100ms",
		"--fail-if", "counts.sent > 1", "queue://q")
	if code != cli.ExitUnmet {
		t.Errorf("exit status %d", code)
	}
	contains(t, "standard error", stderr, "run 1 of 1, repetition 1: unmet", "counts.sent > 1: 40")
}

// TestFindMaxRate searches by a count that is known: what holds is no matter of time.
func TestFindMaxRate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"-o", dir, "--pictures", "none", "-u", broker(t), "--cool-down", "0s", "--find-max-rate", "counts.sent < 50", "--from-rate", "100", "--find-runs", "1", "--tolerance", "100%",
		"--send", "--duration 250ms", "--recv", "--idle 100ms", "queue://q"}
	code, _, stderr := run(t, "", args...)
	if code != cli.ExitOK {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	contains(t, "index.md", content(t, dir, "index.md"), "counts.sent &lt; 50: ", "100/s held in 1 of 1 runs, 200/s in 0 of 1 (2 runs at 2 rates; with 95 % confidence at least 5 % of runs at 100/s pass, at most 95 % of those at 200/s)", "| rate 100 |", "| rate 200 |")
}
