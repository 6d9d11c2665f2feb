package recorder

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// childTarget tells the test binary to be the process that is killed.
const childTarget = "PERF_TEST_RECORD_TO"

// recordForever records until it is killed: every tenth message is never
// answered. Ten times a second it prints the instant, as a sign of life.
func recordForever(target string) error {
	clock := timestamp.NewClock()
	r, err := NewSend(Options{Target: target, Run: "r", Clock: clock})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var open []SendRow
	l := r.NewLane(func(olderThan int64, emit func(*SendRow)) {
		mu.Lock()
		defer mu.Unlock()
		for len(open) > 0 && open[0].Sent < olderThan {
			emit(&open[0])
			open = open[1:]
		}
	})
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for seq := int64(0); ; seq++ {
		<-ticker.C
		v := row(0, seq)
		v.Intended = clock.Now()
		v.Sent, v.Acked = v.Intended, 0
		if seq%10 == 0 {
			mu.Lock()
			v.Outcome = format.Unsettled
			open = append(open, *v)
			mu.Unlock()
			continue
		}
		v.Acked = v.Sent
		l.Append(v)
		if seq%100 == 1 {
			if _, err := fmt.Println(v.Intended); err != nil {
				return err
			}
		}
	}
}

// TestKill: SIGKILL loses at most the last second, messages in flight included.
// The second is counted back from the recorder's last sign of life, and what
// the machine kept it from is not its fault: it may be as late again as its
// signs of life were.
func TestKill(t *testing.T) {
	if target := os.Getenv(childTarget); target != "" {
		t.Fatal(recordForever(target))
	}
	t.Parallel()
	target := filepath.Join(t.TempDir(), "send.parquet")
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), childTarget+"="+target)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	var alive, late int64
	sign := func() bool {
		if !lines.Scan() {
			return false
		}
		at, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			return false // the last line, cut
		}
		if alive > 0 {
			late = max(late, at-alive-int64(100*time.Millisecond))
		}
		alive = at
		return true
	}
	for range 20 { // two seconds, or more on a busy machine
		if !sign() {
			t.Fatal("the recorder ended")
		}
	}
	must(t, cmd.Process.Kill())
	for sign() { // what it had written before it died
	}
	_ = cmd.Wait() // it was killed
	limit := time.Second + time.Duration(late)

	l, err := format.Open(target)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	seen := make(map[int64]int64) // seq → intended
	var last int64
	b := &format.Send{}
	for {
		err := l.Read(b)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		for i := range b.Len() {
			if _, twice := seen[b.Seq[i]]; twice {
				t.Errorf("seq %d twice", b.Seq[i])
			}
			seen[b.Seq[i]] = b.Intended[i]
			last = max(last, b.Intended[i])
		}
	}
	if gap := time.Duration(alive - last); gap > limit {
		t.Errorf("the last row is of %v before the last sign of life, want %v at most", gap, limit)
	}
	provisional := 0
	for seq, intended := range seen {
		if seq%10 == 0 {
			provisional++
		}
		if intended == last {
			continue
		}
		if _, ok := seen[seq+1]; !ok && time.Duration(alive-intended) > limit {
			t.Errorf("seq %d is missing, %v before the last sign of life, want %v at most", seq+1, time.Duration(alive-intended), limit)
		}
	}
	if provisional == 0 || l.Complete() || l.Kind() != format.Spool || len(l.Warnings()) == 0 {
		t.Errorf("%d rows, %d provisional, complete %v, kind %s, warnings %q", len(seen), provisional, l.Complete(), l.Kind(), l.Warnings())
	}
}

// TestFullDisk: what the disk refuses is told.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	failed := make(chan error, 1)
	r, err := NewSend(Options{Target: "/dev/full", Run: "r", Clock: bubbleClock{}, FlushEvery: time.Millisecond, OnError: func(err error) { failed <- err }})
	must(t, err)
	r.NewLane(nil).Append(row(0, 0))
	<-failed
	if err := r.Close("error", false, nil); err == nil {
		t.Error("Close reports nothing")
	}
}
