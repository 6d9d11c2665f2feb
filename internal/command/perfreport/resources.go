package perfreport

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/report/words"
)

// mostResources bounds the lines of a file of --resources.
const mostResources = 10_000_000

// The quantities that a file of --resources becomes: as the recorders write them
// of a process, CPU time since the first sample, and memory.
const (
	brokerCPU = "broker.cpu_ns"
	brokerRSS = "broker.rss_bytes"
)

// resource is one line: what the broker's host used; NaN where it does not say.
type resource struct {
	at       int64 // ns since the Unix epoch, by that host's clock
	cpu, rss float64
}

// readResources reads a log of perf-recv --watch-only, or CSV with a head or Parquet: time,
// and cpu_percent, rss_bytes or both, in order of time. 100 percent are one core.
func readResources(name string) (all []resource, err error) {
	is, err := isLog(name)
	if err != nil {
		return nil, err
	}
	if is {
		return readParquet(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	all, err = parseResources(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// readParquet reads a log of perf-recv --watch-only, or Parquet of another program
// with the columns that CSV would have.
func readParquet(name string) ([]resource, error) {
	all, err := readWatchLog(name)
	if !errors.Is(err, format.ErrNotLog) {
		return all, err
	}
	t, err := format.ReadForeign(name, "time", []string{"cpu_percent", "rss_bytes"}, mostResources)
	if err != nil {
		return nil, err
	}
	cpu, rss := t.Numbers[0], t.Numbers[1]
	if cpu == nil && rss == nil {
		return nil, fmt.Errorf("%s: neither a log nor a table with time, and cpu_percent, rss_bytes or both", name)
	}
	for i, at := range t.At {
		if i > 0 && at < t.At[i-1] {
			return nil, fmt.Errorf("%s: row %d: time goes back", name, i)
		}
		r := resource{at: at, cpu: math.NaN(), rss: math.NaN()}
		for _, c := range []struct {
			name    string
			from    []float64
			to      *float64
			highest float64
		}{{"cpu_percent", cpu, &r.cpu, mostCPU}, {"rss_bytes", rss, &r.rss, mostRSS}} {
			if c.from == nil || math.IsNaN(c.from[i]) {
				continue
			}
			if *c.to = c.from[i]; !(*c.to >= 0 && *c.to <= c.highest) {
				return nil, fmt.Errorf("%s: row %d: %s %v is not a possible number", name, i, c.name, *c.to)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

// The largest numbers that are believed.
const (
	mostCPU = 1e7 // percent
	mostRSS = 1 << 60
)

func parseResources(in io.Reader) (all []resource, err error) {
	c := csv.NewReader(in)
	c.ReuseRecord = true
	head, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("empty: the first line must be time,cpu_percent,rss_bytes")
	}
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for i, h := range head {
		place[strings.ToLower(strings.TrimSpace(h))] = i
	}
	at, ok := place["time"]
	cpu, hasCPU := place["cpu_percent"]
	rss, hasRSS := place["rss_bytes"]
	if !ok || (!hasCPU && !hasRSS) {
		return nil, errors.New("line 1: the columns must be named: time, and cpu_percent, rss_bytes or both")
	}
	for {
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		r := resource{cpu: math.NaN(), rss: math.NaN()}
		if r.at, err = instant(record[at]); err == nil && hasCPU {
			r.cpu, err = amount("cpu_percent", record[cpu], mostCPU)
		}
		if err == nil && hasRSS {
			r.rss, err = amount("rss_bytes", record[rss], mostRSS)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		case len(all) > 0 && r.at < all[len(all)-1].at:
			return nil, fmt.Errorf("line %d: time goes back", line)
		case len(all) == mostResources:
			return nil, fmt.Errorf("more than %d lines", mostResources)
		}
		all = append(all, r)
	}
}

// instant reads RFC 3339, seconds since the epoch, or ns since the epoch.
func instant(s string) (int64, error) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil && t.Year() > 1970 && t.Year() < 2200 {
		return t.UnixNano(), nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil && n >= 1e17 {
		return n, nil
	}
	if d, err := seconds(s); err == nil && d > 0 {
		return int64(d), nil
	}
	return 0, fmt.Errorf("time %.40q is neither RFC 3339 nor seconds or ns since 1970", s)
}

// amount reads a number of 0 to highest; an empty field has none.
func amount(what, s string, highest float64) (float64, error) {
	if s = strings.TrimSpace(s); s == "" {
		return math.NaN(), nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v <= highest) {
		return 0, fmt.Errorf("%s %.40q is not a possible number", what, s)
	}
	return v, nil
}

// addResources appends the lines to samples.
func addResources(b *format.Sample, all []resource) {
	add := func(at int64, code int32, v int64) {
		b.Instant, b.Value, b.What.Codes = append(b.Instant, at), append(b.Value, v), append(b.What.Codes, code)
	}
	cpu := int32(len(b.What.Values))
	b.What.Values = append(slices.Clone(b.What.Values), brokerCPU, brokerRSS)
	used := 0.0
	for i, r := range all {
		if !math.IsNaN(r.cpu) {
			if i > 0 {
				used += r.cpu / 100 * float64(r.at-all[i-1].at)
			}
			add(r.at, cpu, int64(used))
		}
		if !math.IsNaN(r.rss) {
			add(r.at, cpu+1, int64(r.rss))
		}
	}
}

// supplied is a source with the samples of --resources beside its own.
type supplied struct {
	source
	resources []resource
}

// Table implements reduce.Tabler.
func (s supplied) Table(b format.Batch) error {
	if err := s.source.Table(b); err != nil {
		return err
	}
	if samples, ok := b.(*format.Sample); ok {
		addResources(samples, s.resources)
	}
	return nil
}

// FirstIntended implements reduce.Spanner.
func (s supplied) FirstIntended() (int64, bool) {
	if sp, ok := s.source.(interface{ FirstIntended() (int64, bool) }); ok {
		return sp.FirstIntended()
	}
	return 0, false
}

// usage is what was used during a run.
type usage struct {
	Schema  string   `json:"schema"`
	Run     string   `json:"run"`
	Name    string   `json:"name"`
	N       int      `json:"n"` // samples during the run
	CPUMean *float64 `json:"cpu_mean_percent"`
	CPUMax  *float64 `json:"cpu_max_percent"`
	RSSMax  *float64 `json:"rss_max_bytes"`
}

// usageOf sums up the lines from the first intended instant to the last.
func usageOf(m *made, all []resource) *usage {
	u := &usage{Schema: "resources/1", Run: m.report.Run, Name: m.report.Title()}
	n, sum := 0.0, 0.0
	for _, r := range all {
		if m.data.Empty() || r.at < m.data.Window.First || r.at > m.data.Window.Last {
			continue
		}
		u.N++
		if !math.IsNaN(r.cpu) {
			n, sum = n+1, sum+r.cpu
			u.CPUMax = larger(u.CPUMax, r.cpu)
		}
		if !math.IsNaN(r.rss) {
			u.RSSMax = larger(u.RSSMax, r.rss)
		}
	}
	if n > 0 {
		mean := sum / n
		u.CPUMean = &mean
	}
	return u
}

func larger(have *float64, v float64) *float64 {
	if have != nil && *have >= v {
		return have
	}
	return &v
}

func (u *usage) line() string {
	if u.N == 0 {
		return "broker host during " + words.Plain(u.Name) + ": no samples in that time"
	}
	var parts []string
	if u.CPUMean != nil {
		parts = append(parts, fmt.Sprintf("CPU mean %.0f %%, max %.0f %% (100 %% = one core)", *u.CPUMean, *u.CPUMax))
	}
	if u.RSSMax != nil {
		parts = append(parts, fmt.Sprintf("RSS max %.0f MiB", *u.RSSMax/(1<<20)))
	}
	return fmt.Sprintf("broker host during %s: %s, %d samples by its own clock", words.Plain(u.Name), strings.Join(parts, ", "), u.N)
}

// Text implements piece.
func (u *usage) Text(w io.Writer) error {
	_, err := io.WriteString(w, u.line()+"\n")
	return err
}

// Markdown implements piece.
func (u *usage) Markdown(w io.Writer) error {
	_, err := io.WriteString(w, "`"+strings.ReplaceAll(u.line(), "`", "'")+"`\n")
	return err
}

// JSON implements piece.
func (u *usage) JSON(w io.Writer) error { return json.NewEncoder(w).Encode(u) }

// CSV implements piece.
func (u *usage) CSV(w io.Writer, _ bool) error {
	c := csv.NewWriter(w)
	for _, v := range []struct {
		name, unit string
		v          *float64
	}{{"cpu_mean", "percent", u.CPUMean}, {"cpu_max", "percent", u.CPUMax}, {"rss_max", "bytes", u.RSSMax}} {
		if v.v == nil {
			continue
		}
		if err := c.Write([]string{u.Run, words.Plain(u.Name), "broker", v.name, strconv.FormatFloat(*v.v, 'g', -1, 64), v.unit, "", "", "", ""}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
