//go:build !race

package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"amqpperf/format"
)

// kills returns how many recordings are killed.
func kills(t *testing.T) int {
	t.Helper()
	if os.Getenv("SOAK") != "" {
		return 200
	}
	if n, err := strconv.Atoi(os.Getenv("KILLS")); err == nil && n > 0 {
		return n
	}
	return 2
}

// seed returns what the test's random moments follow from.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := rand.Uint64()
	if text := os.Getenv("CRASH_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal("CRASH_SEED: ", err)
		}
	}
	t.Logf("CRASH_SEED=%d", s)
	return s
}

// TestKill kills recordings of perf-send and perf-recv at random moments. What perf-broker knows to be more than a second
// before the recorder's last sign of life must be in its log, whether it was finished or under way; every offline tool must
// read what is left, also when it is cut at any place.
func TestKill(t *testing.T) {
	t.Parallel()
	s, w := seed(t), newWitness(t)
	for i := range kills(t) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			killOne(b, rand.New(rand.NewPCG(s, uint64(i))), w)
		})
	}
}

// How a pair of recordings is treated.
type plan struct {
	stall   bool            // the broker stops answering: all is in flight
	victims map[string]bool // perf-send, perf-recv or both
	after   time.Duration   // of the start of perf-send
	ending  bool            // the victims are asked to end, and killed while they do
	grace   time.Duration   // between the two
	portion int             // of perf-recv's settlements: with a large one many deliveries are under way
}

func newPlan(r *rand.Rand) plan {
	p := plan{stall: r.IntN(3) == 0, ending: r.IntN(4) == 0, grace: time.Duration(r.Int64N(int64(60 * time.Millisecond)))}
	p.victims = map[string]bool{"send": r.IntN(2) == 0}
	p.victims["recv"] = !p.victims["send"] || r.IntN(3) == 0
	p.portion = []int{1, 100, 900}[r.IntN(3)]
	p.after = time.Duration(r.Int64N(int64(3500 * time.Millisecond)))
	return p
}

func (p plan) String() string {
	return fmt.Sprintf("victims %v, %v after the start, broker stalls %v, while ending %v (%v), settled by %d", p.victims, p.after, p.stall, p.ending, p.grace, p.portion)
}

func killOne(b *bench, r *rand.Rand, w *witness) {
	p := newPlan(r)
	b.Log(p)
	flags := []string{"--log", "broker.csv", "--credit", "5000"}
	if p.stall {
		flags = append(flags, "--stall", "1s:600s")
	}
	broker := b.broker(flags...)
	recorders := map[string]*process{
		"recv": b.start("perf-recv", "-q", "-o", "recv.parquet", "--ready-file", "recv.ready", "--credit", "1000", "--ack-every", fmt.Sprint(p.portion), "queue://q"),
	}
	b.eventually(recorders["recv"], "a receiver", func() bool { return b.exists("recv.ready") })
	recorders["send"] = b.start("perf-send", "-q", "-o", "send.parquet", "-r", "600", "--producers", "2", "--max-pending", "5000", "-d", "300s", "--drain", "0s", "queue://q")

	<-time.After(p.after) // the random moment
	for name, c := range recorders {
		if p.victims[name] && p.ending {
			c.signal(syscall.SIGTERM)
		}
	}
	if p.ending {
		<-time.After(p.grace)
	}
	for name, c := range recorders {
		if p.victims[name] {
			c.signal(syscall.SIGKILL)
			c.status()
		}
	}
	for _, name := range []string{"send", "recv"} { // those that are left end in their own time
		if c := recorders[name]; !p.victims[name] {
			c.signal(syscall.SIGTERM)
			c.status()
			c.sober()
		}
	}
	broker.signal(syscall.SIGTERM)
	broker.want(0)

	records := b.records("broker.csv")
	for name := range recorders {
		b.judge(name, p, records, time.Second+w.late())
	}
	b.readBack(r)
}

// judge compares a log with what the broker knows: nothing that is older than limit before the last sign of life may be missing.
func (b *bench) judge(name string, p plan, records []record, limit time.Duration) {
	b.Helper()
	log := b.path(name + ".parquet")
	if !b.exists(name+".parquet") && !b.exists(name+".parquet.spool") {
		log = ""
	}
	s := seen{messages: map[message]bool{}, complete: true}
	if log != "" {
		var err error
		if s, err = b.read(log); err != nil && len(records) > 0 {
			b.Fatalf("%s: %v", name, err)
		}
	}
	missing, oldest := s.missing(name, records)
	b.Logf("%s: %d messages known to the broker, %d rows in the log (%s, complete %v), %d missing, the oldest %v before the last sign of life",
		name, len(records), s.rows, s.kind, s.complete, missing, oldest)
	if oldest > limit {
		b.Errorf("%s: a message is missing that is %v older than the last sign of life, want at most %v", name, oldest, limit)
	}
	if s.kind == format.Parquet && missing > 0 {
		b.Errorf("%s: the log is finished, and %d messages are missing", name, missing)
	}
	if s.complete && p.victims[name] && !p.ending && log != "" {
		b.Errorf("%s was killed in the middle of its run, and its log says that it is complete", name)
	}
}

// missing counts the messages that the broker knows and the log does not, and how long before the recorder's last sign of life
// the oldest of them was. A sender lives as long as messages come from it, a receiver as long as it settles; both as long as
// there are rows in their logs.
func (s *seen) missing(name string, records []record) (n int, oldest time.Duration) {
	at := func(r record) int64 { return r.sent }
	alive := s.last
	for _, r := range records {
		if name == "send" {
			alive = max(alive, r.sent)
		} else {
			alive = max(alive, r.settled)
		}
	}
	if name == "recv" {
		at = func(r record) int64 { return r.delivered }
	}
	for _, r := range records {
		if t := at(r); t != 0 && !s.messages[r.message] {
			n++
			oldest = max(oldest, time.Duration(alive-t))
		}
	}
	return n, oldest
}

// readBack reads what is left by every way that there is, whole and cut.
func (b *bench) readBack(r *rand.Rand) {
	b.Helper()
	var whole, cut []string
	for _, name := range []string{"send.parquet", "recv.parquet"} {
		s, err := b.read(b.path(name))
		if err != nil || s.rows == 0 {
			continue // killed before there was anything
		}
		whole = append(whole, name)
		if s.kind != format.Spool {
			continue
		}
		again, err := b.read(b.path(name + format.PartialSuffix))
		switch {
		case b.exists(name+format.PartialSuffix) && (err != nil || again.rows != s.rows):
			b.Errorf("%s.partial: %d rows (%v), the spool has %d", name, again.rows, err, s.rows)
		case !b.exists(name+format.PartialSuffix) && err == nil:
			b.Errorf("%s.partial is not there, and was read", name)
		}
		cut = append(cut, b.cutSpool(name, s, r))
	}
	if len(whole) == 0 {
		return
	}
	merged := b.run(0, "perf-merge", append([]string{"-o", "merged.parquet"}, whole...)...)
	b.run(0, "perf-report", "merged.parquet")
	b.saysRows(merged, whole)
	if len(cut) > 0 {
		b.saysRows(b.run(0, "perf-report", append([]string{"-f", "json"}, cut...)...), cut)
	}
}

var recovered = regexp.MustCompile(`(\d+) rows recovered`)

// saysRows checks that a tool names the number of rows of every spool it read.
func (b *bench) saysRows(p *process, logs []string) {
	b.Helper()
	var want, got []int
	for _, log := range logs {
		if s, err := b.read(b.path(log)); err == nil && s.kind == format.Spool {
			want = append(want, s.rows)
		}
	}
	for _, m := range recovered.FindAllStringSubmatch(p.stderr.String()+p.stdout.String(), -1) {
		n, err := strconv.Atoi(m[1])
		b.must(err)
		got = append(got, n)
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		b.Errorf("%s says that %v rows were recovered, want %v:\n%s%s", p.name, got, want, p.stderr.String(), p.stdout.String())
	}
}

// cutSpool copies a spool and cuts each of its files somewhere; of the rows at least the first part must be there still.
func (b *bench) cutSpool(name string, whole seen, r *rand.Rand) (log string) {
	b.Helper()
	to := "cut-" + name + format.SpoolSuffix
	b.must(os.Mkdir(b.path(to), 0o700))
	files, err := filepath.Glob(b.path(name+format.SpoolSuffix) + "/*")
	b.must(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		b.must(err)
		if len(text) > 8192 { // never its head, without which it is no stream at all: format's own tests cut that
			text = text[:8192+r.IntN(len(text)-8192+1)]
		}
		b.must(os.WriteFile(filepath.Join(b.path(to), filepath.Base(file)), text, 0o600))
	}
	s, err := b.read(b.path(to))
	if err != nil {
		b.Fatalf("the cut spool of %s: %v", name, err)
	}
	for m := range s.messages {
		if !whole.messages[m] {
			b.Fatalf("the cut spool of %s has message %+v, which the whole one does not have", name, m)
		}
	}
	return to
}
