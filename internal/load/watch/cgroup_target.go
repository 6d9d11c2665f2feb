package watch

import "path/filepath"

// cgroupTarget samples a cgroup, of either version, that may come and go.
type cgroupTarget struct {
	root, path, scope string

	cpu, memory, anon, limits file
	cpuNS                     func(b []byte) (int64, bool)
	anonKey                   string
	found                     bool

	sampled       bool
	used, stalled since
}

// since makes a counter that goes on of one that begins anew when what it
// counts does. The value at the first sample is not counted, since nobody knows
// how long it took to come about.
type since struct{ last, sum int64 }

func (c *since) first(v int64) { c.last = v }

func (c *since) next(v int64) {
	if v < c.last { // a new one
		c.last = 0
	}
	c.sum += v - c.last
	c.last = v
}

func newCgroupTarget(root, path string) *cgroupTarget {
	path = trimRoot(root, path)
	t := &cgroupTarget{root: root, path: path, scope: "cgroup:" + path + "."}
	t.find()
	return t
}

func (t *cgroupTarget) flag() string  { return "--watch-cgroup " + t.path }
func (t *cgroupTarget) missing() bool { return !t.found }

// find looks for the cgroup, each controller in v1 and then in v2: where both
// are mounted, v2 has a shadow of what v1 controls.
func (t *cgroupTarget) find() {
	t.close()
	t.cpu, t.memory, t.anon, t.limits = file{}, file{}, file{}, file{}
	unified := locate(t.root, unifiedDirs(), t.path, "cgroup.procs")
	if dir := locate(t.root, accountDirs(), t.path, "cpuacct.usage"); dir != "" {
		t.cpu.path, t.cpuNS = filepath.Join(dir, "cpuacct.usage"), firstLineNumber
	} else if unified != "" {
		t.cpu.path, t.cpuNS = filepath.Join(unified, "cpu.stat"), usage
	}
	if dir := locate(t.root, memoryDirs(), t.path, "memory.usage_in_bytes"); dir != "" {
		t.memory.path, t.anon.path, t.anonKey = filepath.Join(dir, "memory.usage_in_bytes"), filepath.Join(dir, "memory.stat"), "total_rss"
	} else if unified != "" {
		t.memory.path, t.anon.path, t.anonKey = filepath.Join(unified, "memory.current"), filepath.Join(unified, "memory.stat"), "anon"
	}
	if dir := locate(t.root, cpuDirs(), t.path, "cpu.stat"); dir != "" {
		t.limits.path = filepath.Join(dir, "cpu.stat")
	} else if unified != "" {
		t.limits.path = filepath.Join(unified, "cpu.stat")
	}
	t.found = t.cpu.path != "" || t.memory.path != ""
}

// usage returns the CPU time in a cpu.stat of v2 in ns.
func usage(b []byte) (int64, bool) {
	us, ok := keyed(b, "usage_usec")
	return us * nsPerUs, ok
}

func (t *cgroupTarget) sample(s *sampler) {
	if !t.found {
		t.find()
	}
	var cpu, memory, anon, stalled int64
	var okCPU, okMemory, okAnon, okStalled bool
	if t.found {
		if t.cpuNS != nil {
			cpu, okCPU = t.cpuNS(t.cpu.read())
		}
		memory, okMemory = firstLineNumber(t.memory.read())
		anon, okAnon = keyed(t.anon.read(), t.anonKey)
		stalled, okStalled = throttled(t.limits.read())
		t.found = okCPU || okMemory
	}
	if !t.found {
		t.close()
		t.used.last, t.stalled.last = 0, 0 // what comes next begins at 0
		t.sampled = true
		s.put(t.scope+"present_count", 0)
		return
	}
	s.put(t.scope+"present_count", 1)
	t.count(s, "cpu_ns", &t.used, cpu, okCPU)
	if okAnon {
		s.put(t.scope+"rss_bytes", anon)
	}
	if okMemory {
		s.put(t.scope+"memory_bytes", memory)
	}
	t.count(s, "throttled_ns", &t.stalled, stalled, okStalled)
	t.sampled = true
}

func (t *cgroupTarget) count(s *sampler, quantity string, c *since, v int64, ok bool) {
	if !ok {
		return
	}
	if t.sampled {
		c.next(v)
	} else {
		c.first(v)
	}
	s.put(t.scope+quantity, c.sum)
}

func (t *cgroupTarget) close() {
	t.cpu.close()
	t.memory.close()
	t.anon.close()
	t.limits.close()
}
