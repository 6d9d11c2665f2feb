package reduce

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"amqpperf/format"
)

// Setup is what the metadata says about a run.
type Setup struct {
	Name string
	// Labels hold more than one value where the logs of the run differ; sorted.
	Labels map[string][]string
	// Configs are the effective configurations, by tool; several processes with
	// one and the same configuration are one entry.
	Configs map[string][]json.RawMessage
	// Loop is how the sender was driven.
	ClosedLoop bool
	// MaxPending is the window of a producer, 0 if unknown or unlimited.
	MaxPending int64
	// Rate is what was asked for, as typed; "" if unknown.
	Rate string
	// MarkedWarmup is what perf-send marked.
	MarkedWarmup time.Duration
	// Arrival is the arrival process of the schedule as typed, "" if unknown: constant.
	Arrival string
	// Credit is what a consumer grants, 0 if unknown.
	Credit int64
	// Part says that the rows are a selection of those of the run.
	Part bool
	// Logs are the logs that went in: send logs first, then receive logs, each by
	// host and by when their clocks were anchored.
	Logs []Source
	// Incomplete names the inputs whose recorder did not end cleanly.
	Incomplete []string
	Sends      int // send logs that went in; 0 if unknown
	Receives   int
	Foreign    int64
	// OtherRuns counts what belonged to other runs and was left out by the join.
	OtherRuns int64
	// Accounted is the accounting of the join, nil if there is none.
	Accounted *Accounting
	// Verdicts are the checks that the join made of the whole run: of its clocks,
	// and of whether the logs belong together.
	Verdicts []Verdict
	// ClockSource says how the clocks were aligned, "" if the log does not.
	ClockSource string
}

// Verdict is a check that the join made; Status is ok, warn, fail or skip.
type Verdict struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Text   string `json:"text"`
}

// Accounting is what is used of the accounting of a merged log.
type Accounting struct {
	Intended  int64    `json:"intended"`
	Attempts  int64    `json:"attempts"` // 0 in logs of a time when Intended counted them
	Received  int64    `json:"received"`
	Lost      int64    `json:"lost"`
	Duplicate int64    `json:"duplicate"`
	Foreign   int64    `json:"foreign"`
	Notes     []string `json:"notes"`
	OtherRuns struct {
		Sent     int64 `json:"sent"`
		Received int64 `json:"received"`
	} `json:"other_runs"`
	Clock struct {
		Source string    `json:"source"`
		Checks []Verdict `json:"checks"`
	} `json:"clock"`
	Merge Verdict `json:"merge"`
	// Part says that the rows are a selection of those that were accounted for:
	// the counts are not theirs.
	Part bool `json:"part"`
}

func (s *Setup) account(meta format.Meta) (warnings []string) {
	var acc Accounting
	ok, err := meta.JSON(format.KeyAccounting, &acc)
	if err != nil {
		return []string{err.Error()}
	}
	if !ok {
		return nil
	}
	s.Part = acc.Part
	if !acc.Part {
		s.Accounted = &acc
	}
	s.Foreign = acc.Foreign
	s.OtherRuns = acc.OtherRuns.Sent + acc.OtherRuns.Received
	s.ClockSource = acc.Clock.Source
	s.Verdicts = slices.Concat(acc.Clock.Checks, []Verdict{acc.Merge})
	return acc.Notes
}

// setup reads the metadata. Metadata of others may hold anything: what cannot
// be read is as if it were absent, and a warning says so.
func setup(meta format.Meta) (s Setup, warnings []string) {
	s.Configs = map[string][]json.RawMessage{}
	var logs []format.Meta // a slice of its own: decoding into one that holds meta would write into that
	if _, err := meta.JSON(format.KeySource, &logs); err != nil {
		warnings = append(warnings, err.Error())
		logs = nil
	}
	if len(logs) == 0 {
		logs = []format.Meta{meta}
	}
	s.Labels = map[string][]string{}
	var names []string
	closed, paced := 0, 0
	for _, m := range append([]format.Meta{meta}, logs...) {
		labels, err := m.Labels()
		if err != nil {
			warnings = append(warnings, err.Error())
		}
		for k, v := range labels {
			if !slices.Contains(s.Labels[k], v) {
				s.Labels[k] = append(s.Labels[k], v)
			}
		}
		if n := m[format.KeyName]; n != "" && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, m := range logs {
		s.count(m)
		source, err := sourceOf(m)
		if err != nil {
			warnings = append(warnings, err.Error())
		}
		s.Logs = append(s.Logs, source)
		c, err := parseConfig(m)
		if err != nil {
			warnings = append(warnings, err.Error())
			continue
		}
		s.addConfig(m, c)
		if m[format.KeySchema] == "recv/1" || m[format.KeyTool] == "perf-recv" {
			s.Credit = max(s.Credit, c.integer("credit"))
		}
		if m[format.KeySchema] != "send/1" && m[format.KeyTool] != "perf-send" && len(logs) > 1 {
			continue
		}
		if c == nil {
			continue
		}
		if c.closed() {
			closed++
		} else {
			paced++
		}
		s.MarkedWarmup = max(s.MarkedWarmup, c.duration("warmup"))
		s.MaxPending = max(s.MaxPending, c.integer("max-pending"))
		if s.Arrival == "" {
			s.Arrival = c.text("arrivals")
		}
		if s.Rate == "" {
			s.Rate = c.text("rate")
		}
	}
	for _, values := range s.Labels {
		slices.Sort(values)
	}
	slices.SortStableFunc(s.Logs, Source.compare)
	slices.Sort(names)
	s.Name = strings.Join(names, "+")
	warnings = append(warnings, s.account(meta)...)
	s.ClosedLoop = closed > 0 && paced == 0
	return s, warnings
}

func (s *Setup) count(m format.Meta) {
	switch m[format.KeySchema] {
	case "send/1":
		s.Sends++
	case "recv/1":
		s.Receives++
	}
	var counters map[string]int64
	if _, err := m.JSON(format.KeyCounters, &counters); err == nil {
		s.Foreign += counters["foreign"]
	}
	if m[format.KeySchema] == "send/1" || m[format.KeySchema] == "recv/1" {
		// A log that says neither was not recorded by these tools, and counts as whole.
		if done := m[format.KeyComplete]; done != "true" && (done != "" || m[format.KeyTool] != "") {
			s.Incomplete = append(s.Incomplete, strings.TrimSpace(m[format.KeyTool]+" log"))
		}
	}
}

func (s *Setup) addConfig(m format.Meta, c config) {
	if c == nil {
		return
	}
	tool := m[format.KeyTool]
	if tool == "" {
		tool = "unknown"
	}
	raw, err := json.Marshal(c) // sorted keys: equal configurations are equal bytes
	if err != nil {
		return
	}
	for _, other := range s.Configs[tool] {
		if string(other) == string(raw) {
			return
		}
	}
	s.Configs[tool] = append(s.Configs[tool], raw)
	slices.SortFunc(s.Configs[tool], func(a, b json.RawMessage) int { return strings.Compare(string(a), string(b)) })
}

// config is perf.config: the effective flags of a tool.
type config map[string]any

func parseConfig(m format.Meta) (c config, err error) {
	_, err = m.JSON(format.KeyConfig, &c)
	return c, err
}

// get finds a flag by its name, in kebab-case or as a JSON key; durations have
// their unit in the key.
func (c config) get(flag string) any {
	key := strings.ReplaceAll(flag, "-", "_")
	for _, k := range []string{flag, key, key + "_ns"} {
		if v, ok := c[k]; ok {
			return v
		}
	}
	return nil
}

func (c config) text(flag string) string {
	s, _ := c.get(flag).(string)
	return s
}

// closed reports a sender that was driven by its window: its rate is max, also
// when a rate per producer is not given.
func (c config) closed() bool {
	if loop := c.text("loop"); loop != "" {
		return loop == "closed"
	}
	return c.text("rate") == "max" && (c.text("rate-per-producer") == "" || c.text("rate-per-producer") == "max")
}

// duration reads a duration as a flag prints it, or as a number of ns.
func (c config) duration(flag string) time.Duration {
	switch v := c.get(flag).(type) {
	case string:
		d, err := time.ParseDuration(v)
		if err == nil && d > 0 {
			return d
		}
	case float64:
		if v > 0 && v < 1<<62 {
			return time.Duration(v)
		}
	}
	return 0
}

func (c config) integer(flag string) int64 {
	if v, ok := c.get(flag).(float64); ok && v > 0 && v < 1<<53 {
		return int64(v)
	}
	return 0
}
