package watch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/timestamp"
)

// stat returns a /proc/PID/stat: cpu in ticks, half of each kind.
func stat(pid int, comm string, state byte, cpu, start, pages int64) string {
	return fmt.Sprintf("%d (%s) %c 1 2 3 0 -1 4194304 98 0 0 0 %d %d 0 0 20 0 1 0 %d 3133440 %d 18446744073709551615 1\n",
		pid, comm, state, cpu/2, cpu-cpu/2, start, pages)
}

func TestNamesInProcFiles(t *testing.T) {
	t.Parallel()
	page := int64(os.Getpagesize())
	o, proc, _ := fake(t)
	o.Names = []string{"beam.smp"}
	put(t, proc, map[string]string{
		"10/stat": stat(10, "beam.smp", 'S', 700, 1, 3), "10/cmdline": "x\x00",
		"11/stat": stat(11, "java", 'S', 5, 1, 3), "11/cmdline": "/usr/bin/java\x00-jar\x00beam.smp\x00",
		"12/stat": stat(12, "beam.smp", 'Z', 5, 1, 3), "12/cmdline": "",
		"13/stat": stat(13, "1_scheduler", 'S', 50, 1, 2), "13/cmdline": "/usr/lib/beam.smp\x00-W\x00",
		"irq/x": "", "14/stat": "nonsense",
	})
	w := newWatcher(t, o)
	const scope = "name:beam.smp."
	take(w, 1).want(t, rows{scope + "processes_count": 2, scope + "started_count": 0, scope + "cpu_ns": 0, scope + "rss_bytes": 5 * page})

	// 10 works on, 13 ends, 20 begins.
	put(t, proc, map[string]string{
		"10/stat": stat(10, "beam.smp", 'S', 730, 1, 4), "13/stat": stat(13, "beam.smp", 'Z', 50, 1, 0),
		"20/stat": stat(20, "beam.smp", 'R', 9, 99, 1),
	})
	take(w, 2).want(t, rows{scope + "processes_count": 2, scope + "started_count": 1, scope + "cpu_ns": 39 * nsPerTick, scope + "rss_bytes": 5 * page})

	// All end; the counter stays, and there is no memory to tell of.
	put(t, proc, map[string]string{"10/stat": "", "20/stat": ""})
	take(w, 3).want(t, rows{scope + "processes_count": 0, scope + "cpu_ns": 39 * nsPerTick, scope + "rss_bytes": -1})

	// It is started again, under an id that was another's before.
	put(t, proc, map[string]string{"10/stat": stat(10, "beam.smp", 'R', 4, 200, 1)})
	take(w, 4).want(t, rows{scope + "processes_count": 1, scope + "started_count": 2, scope + "cpu_ns": 43 * nsPerTick})
}

// A start script becomes the broker: it is found within some rounds, and what
// the script used is not counted.
func TestNameAfterExec(t *testing.T) {
	t.Parallel()
	o, proc, _ := fake(t)
	o.Names = []string{"a-name-that-is-too-long-for-the-kernel"}
	put(t, proc, map[string]string{"10/stat": stat(10, "sh", 'S', 700, 1, 3), "10/cmdline": "sh\x00start.sh\x00"})
	w := newWatcher(t, o)
	if len(w.Missing()) != 1 {
		t.Errorf("missing %q", w.Missing())
	}
	scope := "name:" + o.Names[0] + "."
	take(w, 1).want(t, rows{scope + "processes_count": 0, scope + "cpu_ns": 0})
	put(t, proc, map[string]string{"10/stat": stat(10, o.Names[0][:maxComm], 'S', 720, 1, 3)})
	var last rows
	for at := range int64(rounds) {
		last = take(w, 2+at)
	}
	last.want(t, rows{scope + "processes_count": 1, scope + "started_count": 1, scope + "cpu_ns": 20 * nsPerTick})
}

func TestPIDInProcFiles(t *testing.T) {
	t.Parallel()
	page := int64(os.Getpagesize())
	o, proc, _ := fake(t)
	o.PIDs = []int{10}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "--watch-pid 10: no such process") {
		t.Errorf("a process that does not exist: %v", err)
	}
	put(t, proc, map[string]string{"10/stat": stat(10, "od) d (", 'S', 700, 5, 3)})
	w := newWatcher(t, o)
	take(w, 1).want(t, rows{"pid:10.processes_count": 1, "pid:10.cpu_ns": 0, "pid:10.rss_bytes": 3 * page})
	put(t, proc, map[string]string{"10/stat": stat(10, "od) d (", 'S', 711, 5, 3)})
	take(w, 2).want(t, rows{"pid:10.cpu_ns": 11 * nsPerTick})
	// Another process with that id is another process.
	put(t, proc, map[string]string{"10/stat": stat(10, "od) d (", 'S', 3, 50, 3)})
	for at := range int64(2) {
		take(w, 3+at).want(t, rows{"pid:10.processes_count": 0, "pid:10.cpu_ns": 11 * nsPerTick, "pid:10.rss_bytes": -1})
	}
}

// A real process that ends and is started again, as a broker under test.
func TestRealProcess(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Skip(err)
	}
	name := fmt.Sprintf("watched%d", os.Getpid()) // ≤ 15 bytes
	link := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(cat, link); err != nil {
		t.Fatal(err)
	}
	begin := func() (pid int, end func()) {
		c := exec.Command(link)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil { // returns after the exec
			t.Fatal(err)
		}
		return c.Process.Pid, func() { _ = in.Close(); _ = c.Wait() }
	}
	pid, end := begin()
	w := newWatcher(t, Options{Clock: timestamp.NewClock(), HiccupEvery: -1, PIDs: []int{pid}, Names: []string{name}})
	one, all := fmt.Sprintf("pid:%d.", pid), "name:"+name+"."
	r := take(w, 1)
	r.want(t, rows{one + "processes_count": 1, all + "processes_count": 1, all + "started_count": 0})
	if r[one+"rss_bytes"] <= 0 || r[one+"rss_bytes"] != r[all+"rss_bytes"] {
		t.Errorf("resident %d and %d", r[one+"rss_bytes"], r[all+"rss_bytes"])
	}
	end()
	take(w, 2).want(t, rows{one + "processes_count": 0, one + "rss_bytes": -1, all + "processes_count": 0, all + "rss_bytes": -1})
	_, end = begin()
	defer end()
	take(w, 3).want(t, rows{one + "processes_count": 0, all + "processes_count": 1, all + "started_count": 1})
}
