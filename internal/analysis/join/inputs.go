package join

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// input is one log with what the join needs to know of it.
type input struct {
	log       *format.Log
	closed    bool // but its metadata and side tables are there
	anchor    timestamp.Anchor
	hasAnchor bool
}

func (in *input) readAnchor() (err error) {
	in.anchor, in.hasAnchor, err = in.log.Meta().Anchor()
	if err != nil {
		return fmt.Errorf("%s: %w", in.log.Name(), err)
	}
	return nil
}

// openInputs opens the logs and sorts them into send and receive logs. On an
// error everything opened so far is closed.
func openInputs(names []string) (sends, recvs []*input, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, closeInputs(sends), closeInputs(recvs))
			sends, recvs = nil, nil
		}
	}()
	if err := refuseSameFile(names); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		log, err := format.Open(name)
		if err != nil {
			return sends, recvs, err
		}
		in := &input{log: log}
		switch schema := log.Schema(); schema {
		case "send/1":
			sends = append(sends, in)
		case "recv/1":
			recvs = append(recvs, in)
		case "merged/1":
			return sends, append(recvs, in), fmt.Errorf("%s: has been merged already: give it to perf-report, or merge the send and receive logs that it was made of", name)
		default:
			return sends, append(recvs, in), fmt.Errorf("%s: holds %s rows; only send and receive logs can be joined", name, schema)
		}
		if err := in.readAnchor(); err != nil {
			return sends, recvs, err
		}
		if err := in.release(); err != nil {
			return sends, recvs, err
		}
	}
	return sends, recvs, nil
}

// release closes the file of a finished log: its rows are read through handles
// of their own, and thousands of logs are more than a process may have open.
func (in *input) release() error {
	if in.log.Kind() != format.Parquet {
		return nil
	}
	in.closed = true
	return in.log.Close()
}

func closeInputs(ins []*input) error {
	var errs []error
	for _, in := range ins {
		if !in.closed {
			errs = append(errs, in.log.Close())
		}
	}
	return errors.Join(errs...)
}

// refuseSameFile finds a file that is named twice, also by two names. A copy
// is found later, by its sender or receiver id.
func refuseSameFile(names []string) error {
	type id struct{ device, inode uint64 }
	given, files := map[string]bool{}, map[id]string{}
	for _, name := range names {
		if given[name] {
			return fmt.Errorf("%s: given twice", name)
		}
		given[name] = true
		if name == "-" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			continue // format.Open explains it, or reads the spool of that name
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		k := id{uint64(st.Dev), st.Ino}
		if other, twice := files[k]; twice {
			return fmt.Errorf("%s: is the same file as %s", name, other)
		}
		files[k] = name
	}
	return nil
}

// owners finds ids that turn up in two logs: the same log twice under two
// names, which would double every count.
type owners[K comparable] struct {
	what string
	log  map[K]*input
}

func newOwners[K comparable](what string) *owners[K] {
	return &owners[K]{what: what, log: map[K]*input{}}
}

func (o *owners[K]) claim(id K, in *input) error {
	first, taken := o.log[id]
	if !taken {
		o.log[id] = in
		return nil
	}
	if first != in {
		return fmt.Errorf("%s: %s %v is also in %s: the same log twice, or a copy of it", in.log.Name(), o.what, id, first.log.Name())
	}
	return nil
}

// chooseRun decides which run is joined.
func chooseRun(want string, runs []string, recvs []*input) (string, error) {
	if want != "" {
		return want, nil
	}
	if len(runs) == 0 {
		for _, in := range recvs {
			if run := in.log.Meta()[format.KeyRun]; run != "" && !slices.Contains(runs, run) {
				runs = append(runs, run)
			}
		}
	}
	if len(runs) > 1 {
		return "", fmt.Errorf("the logs hold %d runs (%s): choose one with --run", len(runs), strings.Join(runs, ", "))
	}
	if len(runs) == 0 {
		return "", nil // no rows at all
	}
	return runs[0], nil
}
