package index

import (
	"path/filepath"
	"strings"

	"amqpperf/format"
)

// usage is what processes used that perf-send or perf-recv watched (--watch-pid).
type usage struct {
	processors float64 // CPU time over time, between their first sample and their last
	resident   int64   // the most resident memory, in bytes
}

// watched reads the samples of a run's logs; nil if there are none. A log that
// cannot be read is reported by perf-report, and has none here.
func watched(folder string) *usage {
	files, err := filepath.Glob(filepath.Join(folder, "*.parquet"))
	if err != nil {
		return nil
	}
	type span struct{ from, to, first, last int64 }
	cpu := map[string]*span{}
	resident := map[string]int64{}
	for _, name := range files {
		var b format.Sample
		l, err := format.Open(name)
		if err != nil {
			continue
		}
		err = l.Table(&b)
		_ = l.Close() // it was only read
		if err != nil {
			continue
		}
		for i := range b.Len() {
			what, _ := b.What.At(i)
			if !strings.HasPrefix(what, "pid:") {
				continue
			}
			if process, ok := strings.CutSuffix(what, ".rss_bytes"); ok {
				resident[process] = max(resident[process], b.Value[i])
			}
			process, ok := strings.CutSuffix(what, ".cpu_ns")
			if !ok {
				continue
			}
			key := name + process // each log has a count of its own
			s := cpu[key]
			if s == nil {
				s = &span{from: b.Instant[i], first: b.Value[i]}
				cpu[key] = s
			}
			s.to, s.last = b.Instant[i], b.Value[i]
		}
	}
	var u usage
	for _, s := range cpu {
		if s.to > s.from {
			u.processors += float64(s.last-s.first) / float64(s.to-s.from)
		}
	}
	for _, v := range resident {
		u.resident += v
	}
	if u == (usage{}) {
		return nil
	}
	return &u
}
