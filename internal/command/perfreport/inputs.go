package perfreport

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/cli"
)

// source is one run's merged rows.
type source interface {
	reduce.Rows
	reduce.Tabler
	run() string
	size() int64 // rows, 0 if unknown
	warnings() []string
	Close() error
}

// openRuns opens logs and returns one source a run, sorted by run. extra are
// columns that are read beside those of a report.
func openRuns(env *cli.Env, names []string, run string, extra []string) (sources []source, spools []*spool, err error) {
	paths := slices.Clone(names)
	defer func() {
		if err == nil {
			return
		}
		for _, s := range sources {
			err = errors.Join(err, s.Close())
		}
		err = errors.Join(err, closeAll(spools))
		sources, spools = nil, nil
	}()
	for i, name := range names {
		if !isPipe(name) {
			continue
		}
		s, err := spoolPipe(env, name)
		if err != nil {
			return nil, spools, err
		}
		spools = append(spools, s)
		paths[i] = s.path
	}
	merged, raw, err := classify(names, paths)
	switch {
	case err != nil:
		return nil, spools, err
	case len(merged) > 0 && len(raw) > 0:
		return nil, spools, cli.Usagef("a merged log (%s) and logs to be joined (%s) do not go together", merged[0].name, raw[0].name)
	case len(raw) > 0:
		for _, of := range byRun(raw, run) {
			j, err := openJoin(of, run)
			if err != nil {
				return sources, spools, err
			}
			sources = append(sources, j)
		}
		return sources, spools, nil
	}
	sources, err = openMerged(merged, run, extra)
	return sources, spools, err
}

// named is a log under the name it was given and the path it is read from.
type named struct {
	name, path  string
	run, schema string
}

// byRun divides raw logs into runs, where each log says which one it is of. If
// one does not, it is left to the join to say what is wrong.
func byRun(raw []named, run string) [][]named {
	var runs []string
	for _, n := range raw {
		if n.schema == "send/1" && !slices.Contains(runs, n.run) {
			runs = append(runs, n.run)
		}
	}
	slices.Sort(runs)
	if run != "" || len(runs) < 2 {
		return [][]named{raw}
	}
	out := make([][]named, len(runs))
	for _, n := range raw {
		i := slices.Index(runs, n.run)
		if i < 0 || n.run == "" {
			return [][]named{raw}
		}
		out[i] = append(out[i], n)
	}
	return out
}

func classify(names, paths []string) (merged, raw []named, err error) {
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, nil, fmt.Errorf("%s: given twice", names[i])
		}
		log, err := format.Open(path)
		if err != nil {
			return nil, nil, rename(err, path, names[i])
		}
		n := named{names[i], path, log.Meta()[format.KeyRun], log.Schema()}
		switch log.Schema() {
		case "merged/1":
			merged = append(merged, n)
		case "send/1", "recv/1":
			raw = append(raw, n)
		default:
			err = fmt.Errorf("%s: holds %s rows: give a merged log, or send and receive logs", names[i], log.Schema())
		}
		if err := errors.Join(err, log.Close()); err != nil {
			return nil, nil, err
		}
	}
	return merged, raw, nil
}

// rename puts the name that the user gave in place of the path of its copy.
func rename(err error, path, name string) error {
	if err == nil || path == name {
		return err
	}
	return &renamedError{err: err, path: path, name: display(name)}
}

type renamedError struct {
	err        error
	path, name string
}

// Error implements error.
func (e *renamedError) Error() string { return strings.ReplaceAll(e.err.Error(), e.path, e.name) }

// Unwrap returns the cause.
func (e *renamedError) Unwrap() error { return e.err }

func display(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// joined is a source that joins raw logs on the way.
type joined struct {
	*join.Joiner
	meta  format.Meta
	names []named
}

func openJoin(raw []named, run string) (*joined, error) {
	var paths []string
	for _, n := range raw {
		paths = append(paths, n.path)
	}
	j, err := join.Open(paths, join.Options{Run: run})
	if err != nil {
		return nil, renameAll(err, raw)
	}
	out := &joined{Joiner: j, names: raw}
	if out.meta, err = j.Meta(); err != nil {
		return nil, errors.Join(renameAll(err, raw), j.Close())
	}
	return out, nil
}

func renameAll(err error, names []named) error {
	for _, n := range names {
		err = rename(err, n.path, n.name)
	}
	return err
}

// Next keeps the metadata current: the accounting is whole at the end.
func (j *joined) Next(b *format.Merged) error {
	err := j.Joiner.Next(b)
	if errors.Is(err, io.EOF) {
		meta, merr := j.Joiner.Meta()
		if merr != nil {
			return merr
		}
		j.meta = meta
		return io.EOF
	}
	return renameAll(err, j.names)
}

func (j *joined) Meta() format.Meta  { return j.meta }
func (j *joined) run() string        { return j.Joiner.Run() }
func (j *joined) size() int64        { return 0 }
func (j *joined) warnings() []string { return nil } // they are among the notes of the accounting

// mergedLogs is a source of one or more merged logs of one run.
type mergedLogs struct {
	names []named
	logs  []*format.Log
	at    int
	id    string
}

// columns are those that a report reads; the others stay on disk.
func columns() []string {
	return []string{
		"run", "sender", "producer", "seq", "attempt", "size", "intended", "ready", "sent", "acked", "outcome", "wait",
		"receiver", "consumer", "subscription", "received", "started", "settled", "recv_outcome", "delivery_count",
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
		log, err := format.Open(n.path)
		if err != nil {
			return nil, closeSoFar(rename(err, n.path, n.name))
		}
		id := log.Meta()[format.KeyRun]
		m := byRun[id]
		if m == nil {
			m = &mergedLogs{id: id}
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

// Next fills b with rows of one log after the other.
func (m *mergedLogs) Next(b *format.Merged) error {
	for m.at < len(m.logs) {
		err := m.logs[m.at].Read(b)
		if errors.Is(err, io.EOF) {
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

func (m *mergedLogs) run() string { return m.id }

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

func isPipe(name string) bool {
	if name == "-" {
		return true
	}
	st, err := os.Stat(name)
	return err == nil && !st.IsDir() && !st.Mode().IsRegular()
}

func closeAll(spools []*spool) error {
	var errs []error
	for _, s := range spools {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
