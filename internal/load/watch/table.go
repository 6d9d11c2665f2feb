package watch

import "slices"

// Kind says how to read the values of a quantity.
type Kind string

// The kinds.
const (
	// Gauge is the value at the instant of the row.
	Gauge Kind = "gauge"
	// Counter only grows; the difference of two rows is what happened in between.
	Counter Kind = "counter"
	// Interval is about the time since the row before (for the first: since the watch began).
	Interval Kind = "interval"
)

// Quantity is one kind of row of sample/1.
type Quantity struct {
	// Name is `what`: scope.quantity_unit. The quantity begins after the last
	// dot. N in the name stands for a connection's index, or for min, mean and
	// max over all when there are more than [MaxConns]; PID, NAME and PATH for
	// what was asked for.
	Name    string
	Kind    Kind
	Linux   bool // only there
	Meaning string
}

// Quantities returns all quantities that a Watcher can sample by itself, in
// the order of the documentation. Besides these there is what others register.
func Quantities() []Quantity {
	return slices.Concat(toolQuantities(), hostQuantities(), connQuantities(), targetQuantities())
}

func toolQuantities() []Quantity {
	return []Quantity{
		{"tool.cpu_ns", Counter, false, "user and system CPU of this process since it began"},
		{"tool.rss_bytes", Gauge, true, "resident memory of this process"},
		{"tool.heap_bytes", Gauge, false, "Go heap: objects that live or are not swept yet"},
		{"tool.goroutines_count", Gauge, false, "goroutines"},
		{"tool.gomaxprocs_count", Gauge, false, "processors that the Go runtime uses"},
		{"tool.gc_cycles_count", Counter, false, "collections that ended"},
		{"tool.gc_pauses_count", Interval, false, "pauses of the whole program by the collector; most cycles have two"},
		{"tool.gc_pause_p99_ns", Interval, false, "their 99th percentile: upper edge of the runtime's bucket; no row without a pause"},
		{"tool.gc_pause_max_ns", Interval, false, "the longest: upper edge of the runtime's bucket; no row without a pause"},
		{"tool.sched_latency_p99_ns", Interval, false, "how long goroutines were runnable before they ran, 99th percentile: upper edge of the runtime's bucket"},
		{"tool.sched_latency_max_ns", Interval, false, "the longest: upper edge of the runtime's bucket"},
		{"tool.hiccup_p50_ns", Interval, false, "how late a goroutine was that does nothing but wake every millisecond, median: what the timer and the wake themselves take"},
		{"tool.hiccup_p999_ns", Interval, false, "99.9th percentile, by nearest rank; a tick that was slept through counts as late as it was"},
		{"tool.hiccup_max_ns", Interval, false, "the latest"},
		{"tool.cpu_quota_millicores", Gauge, true, "the smallest CPU quota of the own cgroup and those above it, in 1/1000 of a core; no row without one"},
		{"tool.throttled_ns", Counter, true, "how long the own cgroup was held back for its quota, summed over processors"},
		{"tool.throttled_periods_count", Counter, true, "periods in which it was"},
	}
}

func hostQuantities() []Quantity {
	return []Quantity{
		{"host.cpus_count", Gauge, false, "processors that this process may use"},
		{"host.cpu_busy_ppm", Interval, true, "share of all processors' time that was neither idle, nor waiting for I/O, nor stolen, in 1/1,000,000"},
		{"host.cpu_steal_ppm", Interval, true, "share that the hypervisor gave to others, in 1/1,000,000"},
		{"host.psi_cpu_some_ppm", Interval, true, "share of the time in which some task waited for a processor, in 1/1,000,000"},
		{"host.psi_cpu_some_avg10_ppm", Gauge, true, "the same as the kernel averages it over 10 s"},
		{"host.load1_milli", Gauge, true, "load average of one minute, in 1/1000"},
	}
}

func connQuantities() []Quantity {
	return []Quantity{
		{"conn.open_count", Gauge, false, "connections that are watched and open; no row if none was registered"},
		{"conn.N.rtt_ns", Gauge, true, "smoothed round trip of TCP"},
		{"conn.N.rttvar_ns", Gauge, true, "its mean deviation"},
		{"conn.N.cwnd_segments", Gauge, true, "congestion window"},
		{"conn.N.unacked_segments", Gauge, true, "sent, and not acknowledged by the peer's kernel"},
		{"conn.N.unsent_bytes", Gauge, true, "written by the tool, and not sent yet (Linux 4.6)"},
		{"conn.N.retransmits_count", Counter, true, "segments sent again"},
	}
}

func targetQuantities() []Quantity {
	const processes = "; of a name, of all processes that have it"
	return []Quantity{
		{"pid:PID.processes_count", Gauge, true, "1, or 0 when it has ended"},
		{"pid:PID.cpu_ns", Counter, true, "user and system CPU since the watch began, in steps of 10 ms"},
		{"pid:PID.rss_bytes", Gauge, true, "resident memory; no row when it has ended"},
		{"name:NAME.processes_count", Gauge, true, "processes that have the name now"},
		{"name:NAME.started_count", Counter, true, "processes that appeared after the watch began"},
		{"name:NAME.cpu_ns", Counter, true, "user and system CPU since the watch began, in steps of 10 ms" + processes + " or had it"},
		{"name:NAME.rss_bytes", Gauge, true, "resident memory; pages they share count for each" + processes},
		{"cgroup:PATH.present_count", Gauge, true, "1, or 0 when there is no such cgroup now"},
		{"cgroup:PATH.cpu_ns", Counter, true, "CPU since the watch began, across a removal and a new beginning"},
		{"cgroup:PATH.rss_bytes", Gauge, true, "anonymous memory"},
		{"cgroup:PATH.memory_bytes", Gauge, true, "all memory that is charged to it, with the page cache"},
		{"cgroup:PATH.throttled_ns", Counter, true, "how long it was held back for its quota since the watch began"},
	}
}
