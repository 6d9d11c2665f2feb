package perfreport

import (
	"errors"
	"fmt"
	"io"
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
	size() int64 // rows, 0 if unknown
	warnings() []string
	Close() error
}

// openRuns opens logs and returns one source a run, sorted by run. extra are
// columns that are read beside those of a report. A pipe waits to be read if it is
// the only one of them, and waits says that there are no others.
func openRuns(env *cli.Env, names []string, run string, extra []string, how *joining, waits bool) (sources []source, spools []*spool, err error) {
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
	waits = waits && pipes(names) == 1
	open := make([]*spool, len(names))
	for i, name := range names {
		if !isPipe(name) {
			continue
		}
		s, err := spoolPipe(env, name, waits)
		if err != nil {
			return nil, spools, err
		}
		spools = append(spools, s)
		paths[i], open[i] = s.path, s
	}
	merged, raw, err := classify(names, paths, open)
	switch {
	case err != nil:
		return nil, spools, err
	case len(merged) > 0 && len(raw) > 0:
		return nil, spools, cli.Usagef("a merged log (%s) and logs to be joined (%s) do not go together", merged[0].name, raw[0].name)
	case len(raw) > 0:
		for _, of := range byRun(raw, run) {
			j, err := openJoin(of, run, how)
			if err != nil {
				return sources, spools, err
			}
			sources = append(sources, j)
		}
		return sources, spools, nil
	}
	if len(merged) > 0 {
		if err := how.merged(merged[0]); err != nil {
			return nil, spools, err
		}
	}
	sources, err = openMerged(merged, run, extra)
	return sources, spools, err
}

// named is a log under the name it was given and the path it is read from.
type named struct {
	name, path  string
	run, schema string

	log   *format.Log // open already, nil: by its path
	ended func()      // to be called when its rows were read; may be nil
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

func classify(names, paths []string, open []*spool) (merged, raw []named, err error) {
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return nil, nil, fmt.Errorf("%s: given twice", names[i])
		}
		if s := open[i]; s != nil && s.log != nil {
			merged = append(merged, named{name: names[i], path: path, run: s.log.Meta()[format.KeyRun], schema: s.log.Schema(), log: s.log, ended: s.stop})
			continue
		}
		log, err := format.Open(path)
		if err != nil {
			return nil, nil, rename(err, path, names[i])
		}
		n := named{name: names[i], path: path, run: log.Meta()[format.KeyRun], schema: log.Schema()}
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

func openJoin(raw []named, run string, how *joining) (*joined, error) {
	var paths []string
	for _, n := range raw {
		paths = append(paths, n.path)
	}
	j, err := join.Open(paths, how.options(run))
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
func (j *joined) size() int64        { return 0 }
func (j *joined) warnings() []string { return nil } // they are among the notes of the accounting

func isPipe(name string) bool {
	if name == "-" {
		return true
	}
	st, err := os.Stat(name)
	return err == nil && !st.IsDir() && !st.Mode().IsRegular()
}

func pipes(names []string) (n int) {
	for _, name := range names {
		if isPipe(name) {
			n++
		}
	}
	return n
}

func closeAll(spools []*spool) error {
	var errs []error
	for _, s := range spools {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
