//go:build !race

package crash

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"amqpperf/format"
)

// under starts a command of ours from a shell, after what the shell does first: "ulimit -f 200".
func (b *bench) under(first, name string, args ...string) *process {
	b.Helper()
	c := b.command(name, args...)
	p := &process{b: b, name: name, cmd: exec.Command("bash", append([]string{"-c", first + `; exec "$0" "$@"`, c.Path}, args...)...), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = c.Dir, c.Env
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.begin()
	return p
}

// fullDisk lets files grow to 100 KiB.
const fullDisk = "ulimit -f 100"

// TestFullDisk: when the disk is full a recorder stops, says what is wrong once and where its rows are, and these are readable.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker("--credit", "100000")
	b.run(0, "perf-send", "-q", "-o", "ok.parquet", "-n", "20000", "queue://ok")
	// Both would go on for minutes; both are full after seconds, so that many batches fit before.
	recorders := map[string]*process{
		"recv.parquet": b.under(fullDisk, "perf-recv", "-q", "-o", "recv.parquet", "-n", "1M", "--ready-file", "ready", "queue://r"),
		"send.parquet": b.under(fullDisk, "perf-send", "-q", "-o", "send.parquet", "-r", "500", "-d", "300s", "queue://q"),
	}
	b.eventually(recorders["recv.parquet"], "a receiver", func() bool { return b.exists("ready") })
	b.start("perf-send", "-q", "-o", "/dev/null", "-r", "500", "-d", "300s", "queue://r")
	for log, p := range recorders {
		p.want(1)
		p.says("file too large")
		p.says(log + ".spool, which can be read")
		if n := strings.Count(p.stderr.String(), "file too large"); n != 1 {
			t.Errorf("%s says it %d times:\n%s", p.name, n, p.stderr.String())
		}
		s, err := b.read(b.path(log))
		if err != nil || s.rows == 0 || s.complete || s.kind != format.Spool {
			t.Errorf("%s: %d rows, complete %v, %s, %v", log, s.rows, s.complete, s.kind, err)
		}
		if b.exists(log) {
			t.Errorf("%s is there although it was not finished", log)
		}
		b.saysRows(b.run(0, "perf-merge", "-o", "of-"+log, log), []string{log})
	}
	// Offline tools leave nothing under the name that was asked for.
	for out, args := range map[string][]string{
		"merged.csv":  {"perf-merge", "-q", "-o", "merged.csv", "ok.parquet"},
		"merged.json": {"perf-merge", "-q", "-f", "jsonl", "-o", "merged.json", "ok.parquet"},
	} {
		p := b.under(fullDisk, args[0], args[1:]...)
		p.want(1)
		p.says("file too large")
		if b.exists(out) {
			t.Errorf("%s was left by %s", out, args[0])
		}
	}
	p := b.under("ulimit -f 1", "perf-report", "-o", "report.txt", "ok.parquet")
	p.want(1)
	p.says("file too large")
	if b.exists("report.txt") {
		t.Error("report.txt was left")
	}
}

// TestFullDiskAtTheEnd: the spool fits and the finished log does not. It needs the right to mount.
func TestFullDiskAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.must(os.Mkdir(b.path("small"), 0o700))
	mount := `unshare -m bash -c 'mount -t tmpfs -o size=1200k none small && head -c %d /dev/zero >small/ballast && "$0" "$@"; echo $? >status; cp -r small/. after' "$0" "$@"; exit`
	if exec.Command("unshare", "-m", "mount", "-t", "tmpfs", "none", b.path("small")).Run() != nil {
		t.Skip("mounting a tmpfs is not allowed here")
	}
	b.must(os.Mkdir(b.path("after"), 0o700))
	b.broker()
	// 5,000 rows are some 400 KiB as a spool and far fewer as Parquet. With how much ballast the disk is full is found by trying.
	for ballast := 600; ballast < 1100; ballast += 30 {
		p := b.under(fmt.Sprintf(mount, ballast<<10), "perf-send", "-q", "-o", "small/send.parquet", "-n", "5000", "queue://q")
		p.want(0) // of the shell
		status, err := os.ReadFile(b.path("status"))
		b.must(err)
		switch text := p.stderr.String(); {
		case string(status) == "0\n":
			b.must(os.RemoveAll(b.path("after")))
			b.must(os.Mkdir(b.path("after"), 0o700))
			continue
		case string(status) != "1\n":
			t.Fatalf("exit status %s", status)
		case !strings.Contains(text, "no space left") || !strings.Contains(text, "send.parquet.spool"):
			t.Errorf("it says %s", text)
		}
		s, err := b.read(b.path("after/send.parquet.spool"))
		if err != nil || s.rows == 0 || b.exists("after/send.parquet") {
			t.Errorf("%d KiB of ballast: %d rows, %v", ballast, s.rows, err)
		}
		t.Logf("%d KiB of ballast: %d of 5000 rows", ballast, s.rows)
		return
	}
	t.Error("the disk was never full")
}

// TestReadOnlyFolder: nothing is sent or received when the log cannot be begun.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker()
	b.run(0, "perf-send", "-q", "-o", "ok.parquet", "-n", "10", "queue://other")
	b.must(os.Mkdir(b.path("closed"), 0o500))
	first := "true"
	if os.Geteuid() == 0 { // who may write everywhere, unless it gives that up
		if first = `set -- --bounding-set=-dac_override,-dac_read_search "$0" "$@"; exec setpriv "$@"`; exec.Command("setpriv", "--bounding-set=-dac_override", "true").Run() != nil {
			t.Skip("root, and no setpriv")
		}
	}
	commands := recorderArgs("closed/log.parquet")
	commands["perf-merge"] = []string{"-q", "-o", "closed/merged.parquet", "ok.parquet"}
	commands["perf-report"] = []string{"-o", "closed/report.txt", "ok.parquet"}
	for name, args := range commands {
		p := b.under(first, name, args...)
		p.want(1)
		p.says("closed/")
		p.says("permission denied")
	}
	// The ten messages are all still there.
	b.run(0, "perf-recv", "-q", "-o", "recv.parquet", "-n", "10", "queue://other")
}
