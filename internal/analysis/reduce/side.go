package reduce

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// Tabler is what Rows may also be: it has the side tables event/1, sample/1 and
// clock/1. Of several logs one follows the other, each in order of time, as a
// join and the Table of an open log give them. It is asked after the last row.
type Tabler interface {
	Table(b format.Batch) error
}

// Side is what the side tables hold; empty without any.
type Side struct {
	// Samples are the rows of sample/1 by quantity (`what`).
	Samples map[string][]Sample
	Events  []Event
	Clocks  []ClockState
	Probes  []Probe
}

// Probe is an exchange of instants with another process: by causality the other
// one's clock is ahead of the own one by Low to High ns.
type Probe struct {
	At        int64
	Process   int
	Peer      string
	Low, High int64
}

// mostProbes bounds what is kept of a clock/1 table of others.
const mostProbes = 1 << 20

// Sample is one value of a quantity. Processes are counted from 0: the log of
// the next begins where time goes back.
type Sample struct {
	At      int64
	Value   int64
	Process int
}

// Event is a row of event/1. Text is "" where it is NULL; Connection is
// format.Null32 where it is.
type Event struct {
	At                    int64
	Kind, Condition, Text string
	Link                  string
	Connection            int32
}

// ClockState is a row of clock/1 about the host's own clock, not a probe.
// Numbers that are NULL are format.Null.
type ClockState struct {
	At                                            int64
	Process                                       int
	WallOffset, Gap, Status, MaxError, Freq, Tick int64
	Source                                        string
}

// Source is the metadata of one log that went into the run.
type Source struct {
	Schema, Tool, Run, Host, BootID, Stop string
	// Anchor is when the process set its clock by the host's wall clock, and what the
	// host's monotonic clock said then; zero if the log does not tell.
	Anchor timestamp.Anchor
	// Share is this process's part of a schedule divided over several, I of H; 0 of 0 if not.
	ShareIndex, ShareCount int64
	// Load is what shapes the load: equal on senders that run one schedule.
	Load string
	// Calibration is the floor that the null target gave on this host, nil if none.
	Calibration *format.Calibration
}

func sourceOf(m format.Meta) (s Source, err error) {
	s = Source{
		Schema: m[format.KeySchema], Tool: m[format.KeyTool], Run: m[format.KeyRun],
		Host: m[format.KeyHost], BootID: m[format.KeyBootID], Stop: m[format.KeyStop],
	}
	c, _ := parseConfig(m) // an error has been told of by setup
	if c != nil {
		s.Load = c.load()
		s.ShareIndex, s.ShareCount = c.share()
	}
	s.Anchor, _, err = m.Anchor()
	var calibrated error
	s.Calibration, calibrated = m.Calibration()
	return s, errors.Join(err, calibrated)
}

// compare orders logs: of senders first, then of receivers, by host and start.
func (s Source) compare(t Source) int {
	rank := func(schema string) int {
		return map[string]int{"send/1": -2, "recv/1": -1}[schema]
	}
	return cmp.Or(
		cmp.Compare(rank(s.Schema), rank(t.Schema)), cmp.Compare(s.Host, t.Host),
		cmp.Compare(s.Anchor.Wall, t.Anchor.Wall), cmp.Compare(s.Anchor.Monotonic, t.Anchor.Monotonic),
		cmp.Compare(s.Tool, t.Tool), cmp.Compare(s.Load, t.Load))
}

// load is the part of a configuration that shapes the load of a schedule.
func (c config) load() string {
	part := map[string]any{}
	for _, flag := range []string{"loop", "schedule_hash", "rate", "rate-per-producer", "arrivals", "size", "warmup", "max-pending", "presettled", "durable"} {
		if v := c.get(flag); v != nil {
			part[flag] = v
		}
	}
	if len(part) == 0 {
		return ""
	}
	b, err := json.Marshal(part) // sorted keys
	if err != nil {
		return ""
	}
	return string(b)
}

// share reads --share, "2/3".
func (c config) share() (index, of int64) {
	if n, err := fmt.Sscanf(c.text("share"), "%d/%d", &index, &of); n != 2 || err != nil {
		return 0, 0
	}
	return index, of
}

// readSide reads the side tables, after the rows. What cannot be read is a warning.
func (r *reducer) readSide() {
	d := r.data
	d.Side.Samples = map[string][]Sample{}
	t, ok := r.rows.(Tabler)
	if !ok {
		return
	}
	var events format.Event
	var samples format.Sample
	var clocks format.ClockRow
	for _, b := range []format.Batch{&events, &samples, &clocks} {
		if err := t.Table(b); err != nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%s: %v", b.Schema().Name, err))
		}
	}
	d.Side.events(&events)
	d.Side.samples(&samples)
	d.Side.clocks(&clocks)
}

func (s *Side) events(b *format.Event) {
	for i, at := range b.Instant {
		e := Event{At: at, Connection: b.Connection[i]}
		e.Kind, _ = b.Kind.At(i)
		e.Condition, _ = b.Condition.At(i)
		e.Text, _ = b.Text.At(i)
		e.Link, _ = b.Link.At(i)
		s.Events = append(s.Events, e)
	}
	slices.SortStableFunc(s.Events, func(a, b Event) int { return int(min(max(a.At-b.At, -1), 1)) })
}

func (s *Side) samples(b *format.Sample) {
	process, last := 0, int64(0)
	for i, at := range b.Instant {
		if i > 0 && at < last {
			process++
		}
		last = at
		if what, ok := b.What.At(i); ok && has(b.Value[i]) {
			s.Samples[what] = append(s.Samples[what], Sample{At: at, Value: b.Value[i], Process: process})
		}
	}
}

func (s *Side) clocks(b *format.ClockRow) {
	process, last := 0, int64(0)
	for i, at := range b.Instant {
		if i > 0 && at < last {
			process++
		}
		last = at
		if !has(b.WallOffset[i]) && !has(b.MaxError[i]) {
			s.probe(b, i, process)
			continue
		}
		c := ClockState{
			At: at, Process: process, WallOffset: b.WallOffset[i], Gap: b.Gap[i], Status: b.Status[i],
			MaxError: b.MaxError[i], Freq: b.Freq[i], Tick: b.Tick[i],
		}
		c.Source, _ = b.Source.At(i)
		s.Clocks = append(s.Clocks, c)
	}
}

// probe keeps an exchange that has all of its instants.
func (s *Side) probe(b *format.ClockRow, i, process int) {
	if len(s.Probes) == mostProbes {
		return
	}
	for _, at := range []int64{b.T1[i], b.T2[i], b.T3[i], b.T4[i]} {
		if !has(at) {
			return
		}
	}
	peer, _ := b.Peer.At(i)
	p := Probe{At: b.Instant[i], Process: process, Peer: peer, Low: b.T3[i] - b.T4[i], High: b.T2[i] - b.T1[i]}
	if p.Low <= p.High {
		s.Probes = append(s.Probes, p)
	}
}

// Matching returns the samples of all quantities whose name begins and ends so:
// "conn." and ".rtt_ns" are those of all connections.
func (s *Side) Matching(prefix, suffix string) []Sample {
	var names []string
	for name := range s.Samples {
		if strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []Sample
	for _, name := range names {
		out = append(out, s.Samples[name]...)
	}
	return out
}

// Watched names, in order, what was sampled besides the tools: the beginning of
// the names of its samples of CPU time and memory.
func (s *Side) Watched() []string {
	seen := map[string]bool{}
	for name := range s.Samples {
		for _, suffix := range []string{".cpu_ns", ".rss_bytes"} {
			if of, ok := strings.CutSuffix(name, suffix); ok && of != "tool" {
				seen[of] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
