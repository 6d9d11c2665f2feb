package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/metrics"
)

// The places of tool.metrics.
const (
	metricHeap = iota
	metricGoroutines
	metricProcs
	metricCycles
	metricPauses
	metricLatencies
)

// tool samples this process.
type tool struct {
	metrics           []metrics.Sample
	pauses, latencies spread
	statm             file
	cgroup            *ownCgroup
}

func newTool(o Options) *tool {
	t := &tool{
		metrics: []metrics.Sample{
			metricHeap:       {Name: "/memory/classes/heap/objects:bytes"},
			metricGoroutines: {Name: "/sched/goroutines:goroutines"},
			metricProcs:      {Name: "/sched/gomaxprocs:threads"},
			metricCycles:     {Name: "/gc/cycles/total:gc-cycles"},
			metricPauses:     {Name: "/sched/pauses/total/gc:seconds"},
			metricLatencies:  {Name: "/sched/latencies:seconds"},
		},
		statm:  file{path: filepath.Join(o.ProcRoot, "self", "statm")},
		cgroup: newOwnCgroup(o.ProcRoot, o.CgroupRoot),
	}
	metrics.Read(t.metrics) // what happened before is not of the first interval
	t.pauses.update(t.metrics[metricPauses].Value)
	t.latencies.update(t.metrics[metricLatencies].Value)
	return t
}

func (t *tool) sample(s *sampler) {
	if ns, ok := ownCPU(); ok {
		s.put("tool.cpu_ns", ns)
	}
	if pages, ok := field(t.statm.read(), 1); ok {
		s.put("tool.rss_bytes", pages*int64(os.Getpagesize()))
	}
	metrics.Read(t.metrics)
	put := func(what string, v metrics.Value) {
		if v.Kind() == metrics.KindUint64 { // KindBad in a runtime that lacks it
			s.put(what, int64(v.Uint64())) //nolint:gosec // far below 2⁶³
		}
	}
	put("tool.heap_bytes", t.metrics[metricHeap].Value)
	put("tool.goroutines_count", t.metrics[metricGoroutines].Value)
	put("tool.gomaxprocs_count", t.metrics[metricProcs].Value)
	put("tool.gc_cycles_count", t.metrics[metricCycles].Value)
	if t.pauses.update(t.metrics[metricPauses].Value) {
		s.put("tool.gc_pauses_count", t.pauses.n)
		t.pauses.put(s, "tool.gc_pause_p99_ns", "tool.gc_pause_max_ns")
	}
	if t.latencies.update(t.metrics[metricLatencies].Value) {
		t.latencies.put(s, "tool.sched_latency_p99_ns", "tool.sched_latency_max_ns")
	}
	t.cgroup.sample(s)
}

func (t *tool) close() {
	t.statm.close()
	t.cgroup.close()
}

// field returns number i, from 0, of fields that are separated by spaces.
func field(b []byte, i int) (int64, bool) {
	for f := range bytes.FieldsSeq(b) {
		if i == 0 {
			return number(f)
		}
		i--
	}
	return 0, false
}
