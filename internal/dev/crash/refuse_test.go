//go:build !race

package crash

import (
	"os"
	"syscall"
	"testing"

	"amqpperf/format"
)

// precious is what must never be lost.
const precious = "do not overwrite me"

func (b *bench) write(name, text string) {
	b.Helper()
	b.must(os.WriteFile(b.path(name), []byte(text), 0o600))
}

// kept checks that a file is as it was.
func (b *bench) kept(name string) {
	b.Helper()
	if text, err := os.ReadFile(b.path(name)); err != nil || string(text) != precious {
		b.Errorf("%s was overwritten: %q, %v", name, text, err)
	}
}

// recorderArgs are two recorders, each of which would record to the named log.
func recorderArgs(log string) map[string][]string {
	return map[string][]string{
		"perf-send": {"-q", "-o", log, "-n", "10", "queue://other"},
		"perf-recv": {"-q", "-o", log, "-n", "10", "--wait", "1s", "queue://other"},
	}
}

// refused runs both recorders and perf-merge on an output that is taken; each must say so, whatever --force says if always.
func (b *bench) refused(log, says string, always bool) {
	b.Helper()
	flags := [][]string{nil}
	if always {
		flags = append(flags, []string{"--force"})
	}
	for name, args := range recorderArgs(log) {
		for _, more := range flags {
			b.run(1, name, append(more, args...)...).says(says)
		}
	}
}

// TestTwoRecorders: the second recorder on one output is refused, also with --force, and the first goes on.
func TestTwoRecorders(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker("--credit", "100000")
	first := b.start("perf-send", "-q", "-o", "send.parquet", "-r", "500", "-d", "300s", "--drain", "1s", "queue://q")
	b.eventually(first, "rows in the spool", func() bool { s, _ := b.read(b.path("send.parquet")); return s.rows > 0 })
	b.refused("send.parquet", "send.parquet.spool", true)
	first.signal(syscall.SIGTERM)
	first.want(3) // interrupted before -d
	if s, err := b.read(b.path("send.parquet")); err != nil || s.rows == 0 || !s.complete {
		t.Errorf("the first recorder's log: %d rows, complete %v, %v", s.rows, s.complete, err)
	}
}

// TestRerun: a killed recording is not walked over, and --force removes it.
func TestRerun(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker("--credit", "100000")
	for _, log := range []string{"a.parquet", "b.parquet"} {
		victim := b.start("perf-send", "-q", "-o", log, "-r", "500", "-d", "300s", "queue://q")
		b.eventually(victim, "rows in the spool", func() bool { s, _ := b.read(b.path(log)); return s.rows > 0 })
		victim.signal(syscall.SIGKILL)
		victim.status()
	}
	before, err := b.read(b.path("a.parquet"))
	b.must(err)
	b.refused("a.parquet", "a.parquet.spool", false)
	if after, err := b.read(b.path("a.parquet")); err != nil || after.rows != before.rows {
		t.Errorf("the killed recording had %d rows and has %d (%v)", before.rows, after.rows, err)
	}
	b.run(0, "perf-send", append([]string{"--force"}, recorderArgs("a.parquet")["perf-send"]...)...)
	b.run(0, "perf-recv", append([]string{"--force"}, recorderArgs("b.parquet")["perf-recv"]...)...)
	for _, log := range []string{"a.parquet", "b.parquet"} {
		if s, err := b.read(b.path(log)); err != nil || s.rows != 10 || s.kind != format.Parquet {
			t.Errorf("%s after --force: %d rows, %s, %v", log, s.rows, s.kind, err)
		}
	}
}

// TestInTheWay: a file, a folder, a symbolic link (also one to nothing), in place of the log, its spool or its partial file.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker()
	b.write("precious", precious)
	b.write("file.parquet", precious)
	b.must(os.Mkdir(b.path("folder.parquet"), 0o700))
	b.must(os.Mkdir(b.path("target"), 0o700))
	for link, to := range map[string]string{
		"link.parquet": "precious", "dangling.parquet": "nothing", "spool.parquet" + format.SpoolSuffix: "target",
		"partial.parquet" + format.PartialSuffix: "precious",
	} {
		b.must(os.Symlink(b.path(to), b.path(link)))
	}
	b.refused("file.parquet", "file.parquet: refused to overwrite", false)
	b.refused("folder.parquet", "folder.parquet is a directory", true)
	b.refused("link.parquet", "symbolic link", true)
	b.refused("dangling.parquet", "symbolic link", true)
	b.refused("spool.parquet", "spool.parquet.spool", true)
	b.refused("partial.parquet", "partial.parquet.partial", true)

	b.run(0, "perf-send", recorderArgs("ok.parquet")["perf-send"]...)
	for log, always := range map[string]bool{"file.parquet": false, "folder.parquet": true, "link.parquet": true, "dangling.parquet": true, "partial.parquet": true} {
		b.run(1, "perf-merge", "-q", "-o", log, "ok.parquet").says(log)
		if always {
			b.run(1, "perf-merge", "-q", "--force", "-o", log, "ok.parquet").says(log)
		}
	}
	b.kept("precious")
	b.kept("file.parquet")
	if b.exists("nothing") {
		t.Error("a dangling link was followed")
	}
	if left, err := os.ReadDir(b.path("target")); err != nil || len(left) > 0 {
		t.Errorf("a linked spool was written: %v, %v", left, err)
	}
}

// TestAppearsMeanwhile: a file that appears while a recorder is at work is not replaced, and the rows stay in the spool.
func TestAppearsMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker("--credit", "100000")
	recorders := map[string]*process{
		"recv.parquet": b.start("perf-recv", "-q", "-o", "recv.parquet", "queue://q"),
		"send.parquet": b.start("perf-send", "-q", "-o", "send.parquet", "-r", "500", "-d", "300s", "--drain", "1s", "queue://q"),
	}
	for log, p := range recorders {
		b.eventually(p, "rows in the spool of "+log, func() bool { s, _ := b.read(b.path(log)); return s.rows > 0 })
		b.write(log, precious)
	}
	for log, p := range recorders {
		p.signal(syscall.SIGTERM)
		p.want(1)
		p.says(log + format.SpoolSuffix)
		b.kept(log)
		s, err := b.read(b.path(log + format.SpoolSuffix))
		if err != nil || s.rows == 0 {
			t.Errorf("%s.spool: %d rows, %v", log, s.rows, err)
		}
	}
}
