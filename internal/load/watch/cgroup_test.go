package watch

import "testing"

// A throttled container: 20 % of a core on a parent, 50 % on the own cgroup.
func TestQuotaVersion2(t *testing.T) {
	t.Parallel()
	o, proc, cgroup := fake(t)
	put(t, proc, map[string]string{"self/cgroup": "0::/pod/box\n"})
	put(t, cgroup, map[string]string{
		"cgroup.procs": "", "cpu.stat": "usage_usec 1\n",
		"pod/cgroup.procs": "", "pod/cpu.max": "20000 100000\n", "pod/cpu.stat": "usage_usec 1\n",
		"pod/box/cgroup.procs": "", "pod/box/cpu.max": "50000 100000\n",
		"pod/box/cpu.stat": "usage_usec 7\nnr_periods 9\nnr_throttled 4\nthrottled_usec 250\n",
	})
	w := newWatcher(t, o)
	take(w, 1).want(t, rows{"tool.cpu_quota_millicores": 200, "tool.throttled_ns": 250_000, "tool.throttled_periods_count": 4})
	put(t, cgroup, map[string]string{"pod/cpu.max": "max 100000\n"})
	take(w, 2).want(t, rows{"tool.cpu_quota_millicores": 500})
	put(t, cgroup, map[string]string{"pod/box/cpu.max": "max 100000\n"})
	take(w, 3).want(t, rows{"tool.cpu_quota_millicores": -1})
}

func TestQuotaVersion1(t *testing.T) {
	t.Parallel()
	o, proc, cgroup := fake(t)
	put(t, proc, map[string]string{"self/cgroup": "4:memory:/m\n2:cpu,cpuacct:/box\n0::/\n"})
	put(t, cgroup, map[string]string{
		"unified/cgroup.procs": "", "unified/cpu.stat": "usage_usec 1\n",
		"cpu,cpuacct/cgroup.procs": "", "cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
		"cpu,cpuacct/box/cgroup.procs": "", "cpu,cpuacct/box/cpu.cfs_quota_us": "150000\n", "cpu,cpuacct/box/cpu.cfs_period_us": "100000\n",
		"cpu,cpuacct/box/cpu.stat": "nr_periods 9\nnr_throttled 4\nthrottled_time 250\n",
	})
	take(newWatcher(t, o), 1).want(t, rows{"tool.cpu_quota_millicores": 1500, "tool.throttled_ns": 250, "tool.throttled_periods_count": 4})
}

// In a container without a cgroup namespace the own path is the host's.
func TestQuotaOfAContainer(t *testing.T) {
	t.Parallel()
	o, proc, cgroup := fake(t)
	put(t, proc, map[string]string{"self/cgroup": "0::/docker/1234\n"})
	put(t, cgroup, map[string]string{"cgroup.procs": "", "cpu.max": "20000 100000\n", "cpu.stat": "throttled_usec 3\n"})
	take(newWatcher(t, o), 1).want(t, rows{"tool.cpu_quota_millicores": 200, "tool.throttled_ns": 3000})
}

func TestCgroupTargetVersion2(t *testing.T) {
	t.Parallel()
	o, _, cgroup := fake(t)
	o.Cgroups = []string{cgroup + "/broker.service"}
	w := newWatcher(t, o)
	if m := w.Missing(); len(m) != 1 || m[0] != "--watch-cgroup /broker.service" {
		t.Errorf("missing %q", m)
	}
	const scope = "cgroup:/broker.service."
	take(w, 1).want(t, rows{scope + "present_count": 0, scope + "cpu_ns": -1, scope + "rss_bytes": -1})

	// It begins: all of it was used since the watch began.
	put(t, cgroup, map[string]string{
		"broker.service/cgroup.procs": "", "broker.service/cpu.stat": "usage_usec 40\nthrottled_usec 1\n",
		"broker.service/memory.current": "9000\n", "broker.service/memory.stat": "anon 5000\nfile 4000\n",
	})
	take(w, 2).want(t, rows{
		scope + "present_count": 1, scope + "cpu_ns": 40_000, scope + "rss_bytes": 5000,
		scope + "memory_bytes": 9000, scope + "throttled_ns": 1000,
	})
	// It ends and begins anew; the counter goes on.
	put(t, cgroup, map[string]string{"broker.service/cpu.stat": "usage_usec 3\nthrottled_usec 1\n"})
	take(w, 3).want(t, rows{scope + "cpu_ns": 43_000, scope + "throttled_ns": 1000})
}

func TestCgroupTargetVersion1(t *testing.T) {
	t.Parallel()
	o, _, cgroup := fake(t)
	o.Cgroups = []string{"broker"}
	put(t, cgroup, map[string]string{
		"cpuacct/broker/cpuacct.usage": "5000\n", "memory/broker/memory.usage_in_bytes": "900\n",
		"memory/broker/memory.stat": "rss 1\ntotal_rss 500\n", "cpu/broker/cpu.stat": "throttled_time 70\n",
		"unified/broker/cgroup.procs": "", "unified/broker/cpu.stat": "usage_usec 0\n", // the shadow
	})
	w := newWatcher(t, o)
	const scope = "cgroup:/broker."
	// What was used before the watch is not counted.
	take(w, 1).want(t, rows{scope + "present_count": 1, scope + "cpu_ns": 0, scope + "rss_bytes": 500, scope + "memory_bytes": 900, scope + "throttled_ns": 0})
	put(t, cgroup, map[string]string{"cpuacct/broker/cpuacct.usage": "7000\n", "cpu/broker/cpu.stat": "throttled_time 90\n"})
	take(w, 2).want(t, rows{scope + "cpu_ns": 2000, scope + "throttled_ns": 20})
}
