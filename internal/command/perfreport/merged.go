package perfreport

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"amqpperf/format"
)

// mergedLogs is a source of one or more merged logs of one run.
type mergedLogs struct {
	names []named
	logs  []*format.Log
	at    int
}

// columns are those that a report reads; the others stay on disk.
func columns() []string {
	return []string{
		"run", "sender", "producer", "seq", "attempt", "size", "intended", "ready", "sent", "acked", "outcome", "wait",
		"receiver", "consumer", "subscription", "broker_in", "received", "started", "settled", "recv_outcome", "delivery_count",
		"copy", "primary", "reordered", "bound",
	}
}

// openMerged opens merged logs and puts those of one run together.
func openMerged(names []named, run string, extra []string) ([]source, error) {
	wanted := columns()
	for _, c := range extra {
		if !slices.Contains(wanted, c) {
			wanted = append(wanted, c)
		}
	}
	byRun := map[string]*mergedLogs{}
	var runs []string
	closeSoFar := func(err error) error {
		for _, m := range byRun {
			err = errors.Join(err, m.Close())
		}
		return err
	}
	for _, n := range names {
		log := n.log
		if log == nil {
			var err error
			if log, err = format.Open(n.path); err != nil {
				return nil, closeSoFar(rename(err, n.path, n.name))
			}
		}
		id := log.Meta()[format.KeyRun]
		m := byRun[id]
		if m == nil {
			m = &mergedLogs{}
			byRun[id] = m
			runs = append(runs, id)
		}
		m.names, m.logs = append(m.names, n), append(m.logs, log)
		if err := log.Select(wanted...); err != nil {
			return nil, closeSoFar(rename(err, n.path, n.name))
		}
	}
	if run != "" {
		only := byRun[run]
		if only == nil {
			return nil, closeSoFar(fmt.Errorf("run %q is not in the logs; they hold %s", run, strings.Join(runs, ", ")))
		}
		for id, m := range byRun {
			if id != run {
				if err := m.Close(); err != nil {
					return nil, err
				}
			}
		}
		return []source{only}, nil
	}
	slices.Sort(runs)
	var out []source
	for _, id := range runs {
		out = append(out, byRun[id])
	}
	return out, nil
}

// rowsAtOnce is how many rows are read together: few enough for a cache.
const rowsAtOnce = 1 << 13

// Next fills b with rows of one log after the other.
func (m *mergedLogs) Next(b *format.Merged) error {
	for m.at < len(m.logs) {
		err := m.logs[m.at].ReadRows(b, rowsAtOnce)
		if errors.Is(err, io.EOF) {
			if ended := m.names[m.at].ended; ended != nil {
				ended()
			}
			m.at++
			continue
		}
		return rename(err, m.names[m.at].path, m.names[m.at].name)
	}
	return io.EOF
}

// Rewind starts over at the first log.
func (m *mergedLogs) Rewind() error {
	m.at = 0
	for i, log := range m.logs {
		if err := log.Rewind(); err != nil {
			return rename(err, m.names[i].path, m.names[i].name)
		}
	}
	return nil
}

// Meta is the metadata of the log; several logs of one run count as its parts.
func (m *mergedLogs) Meta() format.Meta {
	if len(m.logs) == 1 {
		return m.logs[0].Meta()
	}
	return combine(m.logs)
}

// FirstIntended looks at one column of Parquet logs only.
func (m *mergedLogs) FirstIntended() (first int64, ok bool) {
	first = math.MaxInt64
	for i, log := range m.logs {
		if log.Kind() != format.Parquet {
			return 0, false
		}
		lowest, err := firstIntended(m.names[i].path)
		if err != nil {
			return 0, false // the reading of all columns will say what is wrong
		}
		first = min(first, lowest)
	}
	return first, first != math.MaxInt64
}

func firstIntended(path string) (first int64, err error) {
	log, err := format.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := log.Select("seq", "intended"); err != nil {
		return 0, err
	}
	first = math.MaxInt64
	var b format.Merged
	for {
		err := log.Read(&b)
		if errors.Is(err, io.EOF) {
			return first, nil
		}
		if err != nil {
			return 0, err
		}
		for _, at := range b.Intended {
			first = min(first, at)
		}
	}
}

func (m *mergedLogs) size() (n int64) {
	for _, log := range m.logs {
		if log.NumRows() < 0 {
			return 0
		}
		n += log.NumRows()
	}
	return n
}

func (m *mergedLogs) warnings() []string {
	var out []string
	for i, log := range m.logs {
		for _, w := range log.Warnings() {
			out = append(out, display(m.names[i].name)+": "+strings.ReplaceAll(w, m.names[i].path, display(m.names[i].name)))
		}
		if !log.Complete() {
			out = append(out, display(m.names[i].name)+": incomplete: what is reported is what there is of it")
		}
	}
	return out
}

// Close closes the logs.
func (m *mergedLogs) Close() error {
	var errs []error
	for _, log := range m.logs {
		errs = append(errs, log.Close())
	}
	return errors.Join(errs...)
}

// combine makes one metadata of the parts of a run: the sources of all, in an
// order that does not depend on that of the files, and no accounting, which is
// about a part only.
func combine(logs []*format.Log) format.Meta {
	var parts []format.Meta
	for _, log := range logs {
		var sources []format.Meta
		if ok, err := log.Meta().JSON(format.KeySource, &sources); !ok || err != nil {
			sources = []format.Meta{log.Meta()}
		}
		parts = append(parts, sources...)
	}
	keys := func(m format.Meta) string {
		return strings.Join([]string{m[format.KeySchema], m[format.KeyClock], m[format.KeyConfig], m[format.KeyName]}, "\x00")
	}
	slices.SortStableFunc(parts, func(a, b format.Meta) int { return strings.Compare(keys(a), keys(b)) })
	parts = slices.CompactFunc(parts, func(a, b format.Meta) bool { return keys(a) == keys(b) && a["file"] == b["file"] })
	m := format.Meta{format.KeySchema: "merged/1", format.KeyRun: logs[0].Meta()[format.KeyRun]}
	_ = m.SetJSON(format.KeySource, parts) // strings always have a JSON form
	return m
}
