package watch

import (
	"context"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"amqpperf/timestamp"
)

func TestTool(t *testing.T) {
	t.Parallel()
	w := newWatcher(t, Options{Clock: timestamp.NewClock(), HiccupEvery: -1})
	before := take(w, 1)
	runtime.GC()
	x := 1
	for until := time.Now().Add(20 * time.Millisecond); time.Now().Before(until); {
		x++ // some CPU, more than the kernel's tick
	}
	after := take(w, 2)
	if d := after["tool.cpu_ns"] - before["tool.cpu_ns"]; d <= 0 || d > 60e9 {
		t.Errorf("%d ns of CPU", d)
	}
	if d := after["tool.gc_cycles_count"] - before["tool.gc_cycles_count"]; d < 1 {
		t.Errorf("%d collections", d)
	}
	if after["tool.gc_pauses_count"] < 1 || after["tool.gc_pause_max_ns"] <= 0 || after["tool.gc_pause_p99_ns"] > after["tool.gc_pause_max_ns"] {
		t.Errorf("%d pauses, p99 %d ns, longest %d ns", after["tool.gc_pauses_count"], after["tool.gc_pause_p99_ns"], after["tool.gc_pause_max_ns"])
	}
	after.want(t, rows{"tool.gomaxprocs_count": int64(runtime.GOMAXPROCS(0)), "host.cpus_count": int64(runtime.NumCPU())})
	if after["tool.heap_bytes"] < 1<<16 || after["tool.goroutines_count"] < 2 {
		t.Errorf("heap %d, %d goroutines", after["tool.heap_bytes"], after["tool.goroutines_count"])
	}
	if runtime.GOOS == "linux" && after["tool.rss_bytes"] < 1<<20 {
		t.Errorf("%d bytes resident", after["tool.rss_bytes"])
	}
}

// TestEveryRowIsInTheTable compares what is emitted with the table, both ways.
func TestEveryRowIsInTheTable(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	o, proc, cgroup := fake(t)
	put(t, proc, map[string]string{
		"stat": "cpu 1 2 3 4 5 6 7 8\n", "loadavg": "1.00 1\n", "pressure/cpu": "some avg10=1.00 total=5\n",
		"self/statm": "10 5 3\n", "self/cgroup": "0::/\n", "10/stat": stat(10, "n.m", 'S', 1, 1, 1),
	})
	put(t, cgroup, map[string]string{
		"cgroup.procs": "", "cpu.max": "1000 1000\n", "cpu.stat": "nr_throttled 1\nthrottled_usec 1\n",
		"a.b/cgroup.procs": "", "a.b/cpu.stat": "usage_usec 5\nthrottled_usec 1\n", "a.b/memory.current": "1\n", "a.b/memory.stat": "anon 1\n",
	})
	o.PIDs, o.Names, o.Cgroups, o.HiccupEvery = []int{10}, []string{"n.m"}, []string{"/a.b"}, time.Millisecond
	w := newWatcher(t, o)
	near, _ := pairs(t, 1)
	if _, err := w.RegisterConn(3, near[0]); err != nil {
		t.Fatal(err)
	}
	w.hiccups.next = 1
	w.hiccups.tick(5)
	runtime.GC()
	got := take(w, 1e9)
	put(t, proc, map[string]string{"stat": "cpu 2 2 3 4 5 6 7 8\n"})
	for what := range take(w, 2e9) {
		got[what] = 0
	}

	placed := strings.NewReplacer("conn.N", "conn.3", "pid:PID", "pid:10", "name:NAME", "name:n.m", "cgroup:PATH", "cgroup:/a.b")
	form := regexp.MustCompile(`^(tool|host|conn|conn\.N|pid:PID|name:NAME|cgroup:PATH)\.[a-z0-9_]+_(ns|bytes|count|ppm|milli|millicores|segments)$`)
	for _, q := range Quantities() {
		if !form.MatchString(q.Name) || q.Meaning == "" || !slices.Contains([]Kind{Gauge, Counter, Interval}, q.Kind) {
			t.Errorf("the table has %+v", q)
		}
		name := placed.Replace(q.Name)
		if _, ok := got[name]; !ok {
			t.Errorf("%s is in the table and has no row", name)
		}
		delete(got, name)
	}
	for what := range got {
		t.Errorf("%s has a row and is not in the table", what)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	clock := timestamp.NewClock()
	w, err := New(Options{Clock: clock, Every: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	samples, hiccups := 0, 0
	last := int64(0)
	err = w.Run(ctx, func(at int64, what string, v int64) {
		if at < last || at > clock.Now() || v < 0 {
			t.Errorf("%s at %d is %d, the last was at %d", what, at, v, last)
		}
		last = at
		switch what {
		case "tool.cpu_ns":
			samples++
		case "tool.hiccup_max_ns":
			hiccups++
		}
		if hiccups == 3 {
			cancel()
		}
	})
	if err != nil || samples < 3 || hiccups < 3 {
		t.Errorf("%d samples, %d with hiccups: %v", samples, hiccups, err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{PIDs: []int{0}}, "--watch-pid 0"},
		{Options{Names: []string{""}}, `--watch-name ""`},
		{Options{Names: []string{"/bin/x"}}, `--watch-name "/bin/x"`},
		{Options{Cgroups: []string{"/a/../.."}}, `--watch-cgroup "/a/../.."`},
		{Options{}, "no clock"},
	} {
		if _, err := New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	h := newTool(Options{ProcRoot: t.TempDir(), CgroupRoot: t.TempDir()})
	h.pauses.delta, h.pauses.edges, h.pauses.n = []uint64{98, 1, 0, 1}, []float64{0, 1e-6, 2e-6, 5e-6, 7e-6}, 100
	if p99, longest := h.pauses.edge(99), h.pauses.edge(100); p99 != 2000 || longest != 7000 {
		t.Errorf("p99 %d, longest %d", p99, longest)
	}
}

// BenchmarkSample measures one sample of all there is with 16 connections: what
// is paid each second, besides hiccups. 2 ms would be 0.2 % of a core.
func BenchmarkSample(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	w, err := New(Options{Clock: timestamp.NewClock(), HiccupEvery: -1})
	if err != nil {
		b.Fatal(err)
	}
	defer w.close()
	near, _ := pairs(b, MaxConns)
	for i, nc := range near {
		if _, err := w.RegisterConn(int32(i), nc); err != nil {
			b.Fatal(err)
		}
	}
	begin, _ := ownCPU()
	for b.Loop() {
		w.sample(1, func(int64, string, int64) {})
	}
	end, _ := ownCPU()
	b.ReportMetric(float64(end-begin)/float64(b.N), "cpu-ns/op")
}

// BenchmarkHiccups measures what a second of ticks costs an idle process.
func BenchmarkHiccups(b *testing.B) {
	w, err := New(Options{Clock: timestamp.NewClock()})
	if err != nil {
		b.Fatal(err)
	}
	begin, _ := ownCPU()
	start := w.opts.Clock.Now()
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err = w.Run(ctx, func(_ int64, what string, v int64) {
		switch what {
		case "tool.hiccup_p50_ns":
			b.ReportMetric(float64(v), "p50-ns")
			if n++; n == b.N {
				cancel()
			}
		case "tool.hiccup_p999_ns":
			b.ReportMetric(float64(v), "p99.9-ns")
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	end, _ := ownCPU()
	b.ReportMetric(float64(end-begin)/float64(w.opts.Clock.Now()-start)*100, "%core")
}
