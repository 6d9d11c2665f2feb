package watch

import (
	"bytes"
	"path/filepath"
	"runtime"
)

const (
	million  = 1_000_000
	nsPerUs  = 1000
	thousand = 1000
)

// host samples what all processes of the host share.
type host struct {
	stat, pressure, load file
	last                 cpuTimes
	known                bool
	stalled              int64 // µs, the total of the pressure file
	stalledKnown         bool
}

func newHost(o Options) *host {
	return &host{
		stat:     file{path: filepath.Join(o.ProcRoot, "stat")},
		pressure: file{path: filepath.Join(o.ProcRoot, "pressure", "cpu")},
		load:     file{path: filepath.Join(o.ProcRoot, "loadavg")},
	}
}

func (h *host) sample(s *sampler) {
	s.put("host.cpus_count", int64(runtime.NumCPU()))
	h.sampleStat(s)
	h.samplePressure(s)
	first, _, _ := bytes.Cut(h.load.read(), []byte{' '})
	if v, ok := decimal(first, thousand); ok {
		s.put("host.load1_milli", v)
	}
}

func (h *host) close() {
	h.stat.close()
	h.pressure.close()
	h.load.close()
}

// cpuTimes are sums over all processors in ticks; only their shares matter.
type cpuTimes struct{ busy, idle, stolen int64 }

// parseStat reads the first line of /proc/stat (proc_stat(5)): user nice
// system idle iowait irq softirq steal; guest times are within user and nice.
func parseStat(b []byte) (c cpuTimes, ok bool) {
	line, _, _ := bytes.Cut(b, []byte{'\n'})
	rest, ok := bytes.CutPrefix(line, []byte("cpu "))
	if !ok {
		return c, false
	}
	n := 0
	for f := range bytes.FieldsSeq(rest) {
		v, ok := number(f)
		if !ok {
			return c, false
		}
		switch n {
		case 0, 1, 2, 5, 6:
			c.busy += v
		case 3, 4:
			c.idle += v
		case 7:
			c.stolen = v
		}
		n++
	}
	return c, n >= 4
}

func (h *host) sampleStat(s *sampler) {
	now, ok := parseStat(h.stat.read())
	if !ok {
		return
	}
	last, known := h.last, h.known
	h.last, h.known = now, true
	// The kernel's idle and I/O times can go back a little.
	busy, idle, stolen := now.busy-last.busy, max(0, now.idle-last.idle), now.stolen-last.stolen
	total := busy + idle + stolen
	if !known || total <= 0 || busy < 0 || stolen < 0 {
		return
	}
	s.put("host.cpu_busy_ppm", busy*million/total)
	s.put("host.cpu_steal_ppm", stolen*million/total)
}

// samplePressure reads "some avg10=3.88 avg60=36.99 avg300=55.49 total=1462987936":
// percentages, and µs.
func (h *host) samplePressure(s *sampler) {
	line, _, _ := bytes.Cut(h.pressure.read(), []byte{'\n'})
	rest, ok := bytes.CutPrefix(line, []byte("some "))
	if !ok {
		return
	}
	for f := range bytes.FieldsSeq(rest) {
		key, value, _ := bytes.Cut(f, []byte{'='})
		switch string(key) {
		case "avg10":
			const percent = 100
			if v, ok := decimal(value, million); ok {
				s.put("host.psi_cpu_some_avg10_ppm", v/percent)
			}
		case "total":
			v, ok := number(value)
			if !ok {
				continue
			}
			if h.stalledKnown && s.elapsed > 0 && v >= h.stalled {
				s.put("host.psi_cpu_some_ppm", min(million, (v-h.stalled)*nsPerUs*thousand/max(1, s.elapsed/thousand)))
			}
			h.stalled, h.stalledKnown = v, true
		}
	}
}
