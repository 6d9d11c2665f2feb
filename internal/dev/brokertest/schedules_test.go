package brokertest

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

// offsets are the intended instants of a log's messages, from the first, in order.
func (b *bench) offsets(log string) (all []int64) {
	b.Helper()
	for _, r := range b.sent(log) {
		all = append(all, r.intended)
	}
	slices.Sort(all)
	if len(all) == 0 {
		b.Fatalf("%s has no rows", log)
	}
	first := all[0]
	for i := range all {
		all[i] -= first
	}
	return all
}

// TestSchedules: each way to say when messages are intended is what the rows have, with a broker in the way.
func TestSchedules(t *testing.T) {
	b := newBench(t, "own")
	send := func(options ...string) []int64 {
		log := b.fresh("send")
		b.run("perf-send", append([]string{"-q", "-o", log, b.address}, options...)...)
		return b.offsets(log)
	}
	steps := send("--schedule", "100:200ms,0:300ms,200:100ms", "--repeat", "2")
	pauses := 0
	for i := range steps[1:] {
		if steps[i+1]-steps[i] > int64(300*time.Millisecond) {
			pauses++
		}
	}
	if len(steps) != 80 || pauses != 2 {
		t.Errorf("--schedule: %d messages, %d pauses", len(steps), pauses)
	}
	if each := send("--rate-per-producer", "40", "--producers", "3", "-d", "500ms"); len(each) != 60 || each[59] >= int64(500*time.Millisecond) {
		t.Errorf("--rate-per-producer: %d messages, the last after %v", len(each), time.Duration(each[len(each)-1]))
	}
	for _, random := range [][]string{
		{"-r", "200", "--arrivals", "poisson", "-d", "500ms"}, {"--bursts", "400:50ms,40:50ms", "-d", "500ms"},
	} {
		one, again, other := send(append(random, "--seed", "1")...), send(append(random, "--seed", "1")...), send(append(random, "--seed", "2")...)
		if !slices.Equal(one, again) || slices.Equal(one, other) || len(one) < 10 {
			t.Errorf("%v: %d messages; the same seed is the same: %v, another one too: %v", random, len(one), slices.Equal(one, again), slices.Equal(one, other))
		}
	}
	file := b.path("arrivals.csv")
	if err := os.WriteFile(file, []byte("offset,size\n0,100\n40ms,200\n100ms,300\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if twice := send("--replay", file, "--speed", "2x", "--loop", "-n", "6"); len(twice) != 6 || twice[1] != int64(20*time.Millisecond) || twice[2] != int64(50*time.Millisecond) {
		t.Errorf("--replay --speed 2x --loop: %v", twice)
	}
	at := time.Now().Add(3 * time.Second).UTC().Truncate(time.Millisecond)
	b.run("perf-send", "-q", "-o", "at.parquet", "-r", "100", "-n", "5", "--start-at", at.Format(time.RFC3339Nano), b.address)
	if first := b.sent("at.parquet")[0].intended; first < at.UnixNano() || first > at.Add(time.Second).UnixNano() {
		t.Errorf("--start-at %v: the first message was intended at %v", at, time.Unix(0, first).UTC())
	}
}

// TestShares: five processes with a share each intend what one would, at the same instants; the merge finds them complete.
func TestShares(t *testing.T) {
	b := newBench(t, "own")
	at := time.Now().Add(6 * time.Second).UTC().Truncate(time.Second)
	options := []string{"-q", "-r", "250", "-d", "1s", "--run", "shared", "--start-at", at.Format(time.RFC3339), b.address}
	var logs []string
	var parts []*process
	for k := range 5 {
		logs = append(logs, fmt.Sprintf("part%d.parquet", k+1))
		parts = append(parts, b.start("perf-send", append([]string{"-o", logs[k], "--share", fmt.Sprintf("%d/5", k+1)}, options...)...))
	}
	one := b.start("perf-send", append([]string{"-o", "one.parquet"}, options...)...)
	var together []int64
	for k, p := range parts {
		p.want(0)
		for _, r := range b.sent(logs[k]) {
			together = append(together, r.intended)
		}
	}
	one.want(0)
	var alone []int64
	for _, r := range b.sent("one.parquet") {
		alone = append(alone, r.intended)
	}
	slices.Sort(together)
	slices.Sort(alone)
	// Clocks that were anchored by several processes differ by what an anchor can be off.
	if len(alone) != 250 || len(together) != 250 {
		t.Fatalf("one process intended %d messages, five %d", len(alone), len(together))
	}
	for i := range alone {
		if d := time.Duration(together[i] - alone[i]).Abs(); d > time.Millisecond {
			t.Fatalf("message %d of five processes was intended %v from that of one", i, d)
		}
	}
	merge := b.start("perf-merge", append([]string{"-o", "merged.parquet"}, logs...)...)
	merge.want(0)
	b.report("merged.parquet").wantCounts(map[string]int{"intended": 250, "accepted": 250})
	t.Logf("perf-merge: %s", merge.stderr.String())
}
