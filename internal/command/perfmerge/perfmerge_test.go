package perfmerge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/join/synth"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfmerge"
)

type result struct {
	code           int
	stdout, stderr string
}

func perfMerge(t *testing.T, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
	code := cli.Run(env, perfmerge.New, args)
	return result{code, stdout.String(), stderr.String()}
}

// logsOf writes a send and a receive log of some messages.
func logsOf(t *testing.T, s synth.Spec) (dir string, names []string) {
	t.Helper()
	dir = t.TempDir()
	names, _, err := s.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, names
}

// --select writes the named columns in the order asked for, --from and --to
// the rows intended in between; the accounting stays that of the run.
func TestSelectedRows(t *testing.T) {
	t.Parallel()
	// 1000 messages, 10 us apart.
	_, names := logsOf(t, synth.Spec{Messages: 1000, Producers: 1})
	r := perfMerge(t, append([]string{"-f", "csv", "--select", "seq,intended", "--from", "2ms", "--to", "2.1ms"}, names...)...)
	if r.code != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	var want strings.Builder
	want.WriteString("seq,intended\n")
	for seq := int64(200); seq < 210; seq++ {
		want.WriteString(strconv.FormatInt(seq, 10) + "," + strconv.FormatInt(synth.Start+seq*10_000, 10) + "\n")
	}
	if r.stdout != want.String() {
		t.Errorf("got\n%swant\n%s", r.stdout, want.String())
	}
	if !strings.Contains(r.stderr, "received 1000, lost 0") {
		t.Errorf("the accounting is not that of the whole run:\n%s", r.stderr)
	}
}

// A Parquet file of some columns is one that others can read, and ours refuse.
func TestSelectedParquet(t *testing.T) {
	t.Parallel()
	dir, names := logsOf(t, synth.Spec{Messages: 100})
	out := filepath.Join(dir, "some.parquet")
	if r := perfMerge(t, append([]string{"-q", "-o", out, "--select", "received,destination"}, names...)...); r.code != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	if _, err := format.Open(out); err == nil || !strings.Contains(err.Error(), "selected/1") {
		t.Errorf("opened as a log: %v", err)
	}
}

// --check -f json is the accounting with the state of the clocks, for programs.
func TestCheckJSON(t *testing.T) {
	t.Parallel()
	_, names := logsOf(t, synth.Spec{Messages: 5000, Loss: 10, Duplicate: 20})
	r := perfMerge(t, append([]string{"--check", "-f", "json"}, names...)...)
	if r.code != cli.ExitOK || r.stderr != "" {
		t.Fatalf("%d %s", r.code, r.stderr)
	}
	var acc struct {
		Intended, Received, Lost, Duplicate int64
		Clock                               struct {
			Source string
			Checks []struct{ ID, Status string }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &acc); err != nil {
		t.Fatal(err)
	}
	if acc.Intended != 5000 || acc.Received+acc.Lost != 5000 || acc.Lost == 0 || acc.Duplicate == 0 || acc.Clock.Source != "same-boot" || len(acc.Clock.Checks) != 4 {
		t.Errorf("%+v", acc)
	}
	text := perfMerge(t, append([]string{"--check"}, names...)...)
	for _, s := range []string{"lost " + strconv.FormatInt(acc.Lost, 10), "C17 ok", "clock of "} {
		if !strings.Contains(text.stdout, s) {
			t.Errorf("%q is not in the text:\n%s", s, text.stdout)
		}
	}
}

// Many logs come by pattern or by list; the result is that of naming them.
func TestNamesOfLogs(t *testing.T) {
	t.Parallel()
	dir, names := logsOf(t, synth.Spec{Messages: 3000, Senders: 40, Producers: 2, Receivers: 20})
	list := filepath.Join(dir, "logs.txt")
	if err := os.WriteFile(list, []byte("# all\n\n"+filepath.Join(dir, "send*.parquet")+"\n"+strings.Join(names[40:], "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := perfMerge(t, append([]string{"--check"}, names...)...)
	if want.code != cli.ExitOK || !strings.Contains(want.stdout, "received 3000, lost 0") {
		t.Fatalf("%s%s", want.stdout, want.stderr)
	}
	for _, args := range [][]string{{filepath.Join(dir, "*.parquet")}, {"@" + list}} {
		if got := perfMerge(t, append([]string{"--check"}, args...)...); got != want {
			t.Errorf("%v: %d\n%s%s", args, got.code, got.stdout, got.stderr)
		}
	}
}

// Little memory changes nothing but where deliveries wait.
func TestMaxMemory(t *testing.T) {
	t.Parallel()
	dir, names := logsOf(t, synth.Spec{Messages: 20_000, Lag: 1e9, Duplicate: 10})
	var sums [2]string
	for i, memory := range []string{"64MiB", "1GiB"} {
		out := filepath.Join(dir, memory+".parquet")
		if r := perfMerge(t, append([]string{"-q", "--max-memory", memory, "-o", out}, names...)...); r.code != cli.ExitOK {
			t.Fatal(r.stderr)
		}
		sums[i] = digest(t, out)
	}
	if sums[0] != sums[1] {
		t.Error("the rows differ")
	}
}

func digest(t *testing.T, name string) string {
	t.Helper()
	log, err := format.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	var out strings.Builder
	var b format.Merged
	for {
		err := log.Read(&b)
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Seq {
			out.WriteString(strconv.FormatInt(b.Seq[i], 10) + " " + strconv.FormatInt(b.Received[i], 10) + "\n")
		}
	}
}

// An offset for a host that no log is from is not ignored silently, whatever
// is written.
func TestClockOfNobody(t *testing.T) {
	t.Parallel()
	dir, names := logsOf(t, synth.Spec{Messages: 10, Producers: 1})
	for _, to := range [][]string{{"--check"}, {"-o", filepath.Join(dir, "merged.parquet")}} {
		r := perfMerge(t, append(append(to, "--clock", "nobody=3ms±1us"), names...)...)
		if r.code != cli.ExitOK || strings.Count(r.stdout+r.stderr, "--clock nobody=… is not used") != 1 {
			t.Errorf("%s: exit status %d, %s%s", to[0], r.code, r.stdout, r.stderr)
		}
	}
}

// --clock none leaves the bound unknown, even on one host.
func TestClockNone(t *testing.T) {
	t.Parallel()
	_, names := logsOf(t, synth.Spec{Messages: 10})
	r := perfMerge(t, append([]string{"-q", "-f", "csv", "--select", "bound", "--clock", "none"}, names...)...)
	if r.code != cli.ExitOK || r.stdout != "bound\n"+strings.Repeat("\n", 10) {
		t.Errorf("%d %q %s", r.code, r.stdout, r.stderr)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	dir, names := logsOf(t, synth.Spec{Messages: 10})
	merged := filepath.Join(dir, "merged.parquet")
	if r := perfMerge(t, append([]string{"-q", "-o", merged}, names...)...); r.code != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--select", "nothing", names[0]}, cli.ExitUsage, `--select: no column "nothing"`},
		{[]string{"--select", "seq", "-f", "log", names[0]}, cli.ExitUsage, "--select does not go with --format log"},
		{[]string{"--from", "2s", "--to", "1s", names[0]}, cli.ExitUsage, "--to 1s is not after --from 2s"},
		{[]string{"--check", "-f", "csv", names[0]}, cli.ExitUsage, "with --check text or json"},
		{[]string{"--check", "--from", "1s", names[0]}, cli.ExitUsage, "--check writes no rows"},
		{[]string{"--max-memory", "1MiB", names[0]}, cli.ExitUsage, "--max-memory 1MiB"},
		{[]string{"--clock", "hostb=3ms", names[0]}, cli.ExitUsage, "BOUND"},
		{[]string{filepath.Join(dir, "nothing*.parquet")}, cli.ExitFailure, "no file matches"},
		{[]string{"@" + filepath.Join(dir, "no-list")}, cli.ExitFailure, "list of logs"},
		{[]string{merged}, cli.ExitFailure, "has been merged already"},
	} {
		r := perfMerge(t, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) {
			t.Errorf("%v: %d %s; want %d and %q", c.args, r.code, r.stderr, c.code, c.says)
		}
	}
}
