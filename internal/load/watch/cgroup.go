package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// Controllers of cgroup v1, as directories below the root; in v2 all are one.
func cpuDirs() []string     { return []string{"cpu", "cpu,cpuacct"} }
func accountDirs() []string { return []string{"cpuacct", "cpu,cpuacct"} }
func memoryDirs() []string  { return []string{"memory"} }

// unifiedDirs are where v2 is mounted: alone, or beside v1.
func unifiedDirs() []string { return []string{"", "unified"} }

// locate returns the first directory below root/DIR/path that has the file, or "".
func locate(root string, dirs []string, path, name string) string {
	for _, dir := range dirs {
		at := filepath.Join(root, dir, path)
		if exists(at, name) {
			return at
		}
	}
	return ""
}

// cgroupPaths are the paths of a process's cgroups by controller; "" is that of v2.
func cgroupPaths(text []byte) map[string]string {
	paths := make(map[string]string)
	for line := range strings.Lines(string(text)) { // 4:memory:/a/b or 0::/a/b
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			paths[controller] = parts[2]
		}
	}
	return paths
}

// ownCgroup samples the limits of the cgroup of this process.
type ownCgroup struct {
	quotas []quotaFiles // of it and of those above it
	stat   file         // cpu.stat of it
}

// quotaFiles is cpu.max of v2, or cpu.cfs_quota_us and cpu.cfs_period_us of v1.
type quotaFiles struct{ limit, period file }

func newOwnCgroup(proc, root string) *ownCgroup {
	g := &ownCgroup{}
	paths := cgroupPaths(readOnce(filepath.Join(proc, "self", "cgroup")))
	for _, v := range []struct {
		dirs                []string
		path, limit, period string
	}{
		{unifiedDirs(), paths[""], "cpu.max", ""},
		{cpuDirs(), paths["cpu"], "cpu.cfs_quota_us", "cpu.cfs_period_us"},
	} {
		// The root has no cpu.max, but has cpu.stat; in a container whose own
		// path is the host's, what is mounted is the container's cgroup.
		dir := locate(root, v.dirs, v.path, "cpu.stat")
		if dir == "" {
			dir = locate(root, v.dirs, "/", "cpu.stat")
		}
		if dir == "" {
			continue
		}
		if g.stat.path == "" || v.period != "" { // v1 has the cpu controller if it is mounted
			g.stat = file{path: filepath.Join(dir, "cpu.stat")}
		}
		g.addQuotas(dir, v.limit, v.period)
	}
	return g
}

// addQuotas looks at a cgroup and all above it, up to the root of the mount.
func (g *ownCgroup) addQuotas(dir, limit, period string) {
	for exists(dir, "cgroup.procs") {
		if exists(dir, limit) {
			q := quotaFiles{limit: file{path: filepath.Join(dir, limit)}}
			if period != "" {
				q.period = file{path: filepath.Join(dir, period)}
			}
			g.quotas = append(g.quotas, q)
		}
		dir = filepath.Dir(dir)
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// millicores returns the quota in 1/1000 of a core, false without one.
func (q *quotaFiles) millicores() (int64, bool) {
	var limit, period int64
	var ok, okPeriod bool
	if q.period.path == "" { // "max 100000" or "20000 100000"
		text := q.limit.read()
		limit, ok = field(text, 0)
		period, okPeriod = field(text, 1)
	} else { // −1 is none
		limit, ok = number(q.limit.read())
		period, okPeriod = number(q.period.read())
	}
	if !ok || !okPeriod || period == 0 || limit > (1<<62)/thousand {
		return 0, false
	}
	return limit * thousand / period, true
}

func (g *ownCgroup) sample(s *sampler) {
	smallest := int64(-1)
	for i := range g.quotas {
		if m, ok := g.quotas[i].millicores(); ok && (smallest < 0 || m < smallest) {
			smallest = m
		}
	}
	if smallest >= 0 {
		s.put("tool.cpu_quota_millicores", smallest)
	}
	text := g.stat.read()
	if ns, ok := throttled(text); ok {
		s.put("tool.throttled_ns", ns)
	}
	if n, ok := keyed(text, "nr_throttled"); ok {
		s.put("tool.throttled_periods_count", n)
	}
}

func (g *ownCgroup) close() {
	for i := range g.quotas {
		g.quotas[i].limit.close()
		g.quotas[i].period.close()
	}
	g.stat.close()
}

// throttled returns the time in a cpu.stat in ns: v2 has µs, v1 ns.
func throttled(text []byte) (int64, bool) {
	if us, ok := keyed(text, "throttled_usec"); ok {
		return us * nsPerUs, true
	}
	return keyed(text, "throttled_time")
}

// trimRoot makes a path below the root of one that was given with it.
func trimRoot(root, path string) string {
	path = filepath.Clean("/" + path)
	for _, dirs := range [][]string{unifiedDirs()[1:], cpuDirs(), accountDirs(), memoryDirs(), unifiedDirs()[:1]} {
		for _, dir := range dirs {
			if rest, ok := strings.CutPrefix(path, filepath.Join(root, dir)+"/"); ok {
				return "/" + rest
			}
		}
	}
	return path
}

// firstLineNumber returns the number that a file of one line has.
func firstLineNumber(b []byte) (int64, bool) {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	return number(line)
}
