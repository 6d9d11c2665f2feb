package perfreport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"amqpperf/format"
)

// isLog reports whether a file begins as a log of perf-recv does, and not as text.
func isLog(name string) (is bool, err error) {
	info, err := os.Stat(name)
	if err != nil || info.IsDir() {
		return err == nil, err // a spool is a folder
	}
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, 4)
	if _, err := io.ReadFull(f, head); err != nil {
		return false, nil // too short for anything but text
	}
	return bytes.Equal(head, []byte("PAR1")) || bytes.Equal(head, []byte{0xff, 0xff, 0xff, 0xff}), nil
}

// readWatchLog reads what a log of perf-recv --watch-only sampled: the targets
// that were watched, added up; without any the host.
func readWatchLog(name string) (all []resource, err error) {
	log, err := format.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	var s format.Sample
	if err := log.Table(&s); err != nil {
		return nil, err
	}
	if all = targets(&s); len(all) == 0 {
		all = host(&s)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no samples of a process, a cgroup or the host: record them with perf-recv --watch-only", name)
	}
	return all, nil
}

// ofTarget reports a quantity of a target: pid:, name: or cgroup:.
func ofTarget(what, quantity string) bool {
	return strings.HasSuffix(what, quantity) && (strings.HasPrefix(what, "pid:") || strings.HasPrefix(what, "name:") || strings.HasPrefix(what, "cgroup:"))
}

// targets adds up CPU time and memory of all targets at each instant.
func targets(s *format.Sample) []resource {
	type sum struct{ cpu, rss, hasCPU, hasRSS int64 }
	sums := map[int64]*sum{}
	for i, at := range s.Instant {
		what, _ := s.What.At(i)
		cpu, rss := ofTarget(what, ".cpu_ns"), ofTarget(what, ".rss_bytes")
		if (!cpu && !rss) || s.Value[i] == format.Null {
			continue
		}
		v := sums[at]
		if v == nil {
			v = &sum{}
			sums[at] = v
		}
		if cpu {
			v.cpu, v.hasCPU = v.cpu+s.Value[i], 1
		} else {
			v.rss, v.hasRSS = v.rss+s.Value[i], 1
		}
	}
	var out []resource
	var last *sum
	var lastAt int64
	for _, at := range instants(sums) {
		v := sums[at]
		r := resource{at: at, cpu: math.NaN(), rss: math.NaN()}
		if v.hasRSS > 0 {
			r.rss = float64(v.rss)
		}
		if v.hasCPU > 0 {
			if last != nil && v.cpu >= last.cpu && at > lastAt {
				r.cpu = 100 * float64(v.cpu-last.cpu) / float64(at-lastAt)
			}
			last, lastAt = v, at
		}
		out = append(out, r)
	}
	return out
}

// host is what all processors of the host did.
func host(s *format.Sample) []resource {
	busy, cores := map[int64]int64{}, int64(1)
	for i, at := range s.Instant {
		switch what, _ := s.What.At(i); what {
		case "host.cpu_busy_ppm":
			busy[at] = s.Value[i]
		case "host.cpus_count":
			cores = max(1, s.Value[i])
		}
	}
	var out []resource
	for _, at := range instants(busy) {
		out = append(out, resource{at: at, cpu: float64(busy[at]) / 1e4 * float64(cores), rss: math.NaN()})
	}
	return out
}

func instants[V any](m map[int64]V) []int64 {
	var out []int64
	for at := range m {
		out = append(out, at)
	}
	slices.SortFunc(out, cmp.Compare[int64])
	return out
}
