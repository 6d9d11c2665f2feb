package join

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"amqpperf/format"
)

// notes says in words what the counts alone do not tell.
func (j *Joiner) notes() []string {
	var notes []string
	for _, in := range j.inputs() {
		notes = append(notes, in.log.Warnings()...)
	}
	notes = append(notes, j.missingLogs()...)
	if j.acc.Lost > 0 {
		notes = append(notes, j.whyLost())
	}
	if n := j.acc.Returned; n > 0 {
		notes = append(notes, fmt.Sprintf("%d deliveries were given back untouched when a receiver stopped; they do not count as received", n))
	}
	if n := j.acc.OtherRuns.Received; n > 0 {
		notes = append(notes, fmt.Sprintf("%d deliveries of other runs were left out", n))
	}
	if n := j.acc.OtherRuns.Sent; n > 0 {
		notes = append(notes, fmt.Sprintf("%d transmissions of other runs were left out", n))
	}
	return append(notes, j.unrouted()...)
}

func (j *Joiner) missingLogs() []string {
	var notes []string
	known := map[int32]bool{}
	for key := range j.found.to {
		known[key.sender] = true
	}
	for _, sender := range j.acc.orphans() {
		n := j.acc.orphanSenders[sender]
		if known[sender] {
			notes = append(notes, fmt.Sprintf("%d messages of sender %d arrived that its log does not hold: it was cut", n, sender))
		} else {
			notes = append(notes, fmt.Sprintf("sender log missing: %d messages of sender %d arrived", n, sender))
		}
	}
	if len(j.recvs) == 0 && len(j.sends) > 0 {
		notes = append(notes, "no receive log: nothing is known of deliveries, and nothing counts as lost")
	}
	return notes
}

// whyLost names how the receivers stopped: what came later than that counts as
// lost although the broker may still have it.
func (j *Joiner) whyLost() string {
	var stops []string
	incomplete := false
	for _, l := range j.recvs {
		in := l.in
		if stop := in.log.Meta()[format.KeyStop]; stop != "" && !slices.Contains(stops, stop) {
			stops = append(stops, stop)
		}
		incomplete = incomplete || !in.log.Complete()
	}
	slices.Sort(stops)
	switch {
	case incomplete:
		return fmt.Sprintf("%d accepted messages are in no receive log, but not every receive log is complete", j.acc.Lost)
	case len(stops) > 0:
		return fmt.Sprintf("%d accepted messages were not received before the receiver stopped (%s)", j.acc.Lost, strings.Join(stops, ", "))
	}
	return fmt.Sprintf("%d accepted messages were not received", j.acc.Lost)
}

// unrouted names destinations that no receive log covers.
func (j *Joiner) unrouted() []string {
	if len(j.recvs) == 0 {
		return nil
	}
	var names []string
	for destination := range j.found.destinations {
		if len(j.subs.expected[destination]) == 0 {
			names = append(names, destination)
		}
	}
	slices.Sort(names)
	var notes []string
	for _, n := range names {
		notes = append(notes, fmt.Sprintf("no receive log covers destination %q", n))
	}
	return notes
}

// Meta returns the metadata of the merged log: what the first send log says,
// the metadata of every input, and, once Next has returned io.EOF, the
// accounting.
func (j *Joiner) Meta() (format.Meta, error) {
	m := format.Meta{format.KeySchema: format.MergedSchema().Name, format.KeyRun: j.run}
	var sources []format.Meta
	for _, in := range j.inputs() {
		source := in.log.Meta().Clone()
		source["file"] = in.log.Name()
		sources = append(sources, source)
	}
	slices.SortStableFunc(sources, func(x, y format.Meta) int {
		return strings.Compare(x[format.KeySchema]+x[format.KeyClock], y[format.KeySchema]+y[format.KeyClock])
	})
	for _, key := range []string{format.KeyName, format.KeyLabels, format.KeyConfig} {
		if value := j.first(key); value != "" {
			m[key] = value
		}
	}
	return m, errors.Join(m.SetJSON(format.KeySource, sources), m.SetJSON(format.KeyAccounting, j.acc), m.SetJSON(format.KeyClock, j.clocks.ref))
}

// first returns what the first log says under key, send logs in the order of
// senders before receive logs. Whether the others agree is for the report to
// check: perf.sources has the metadata of every log.
func (j *Joiner) first(key string) string {
	for _, in := range j.inputs() {
		if value := in.log.Meta()[key]; value != "" {
			return value
		}
	}
	return ""
}
