// Package rundir is the folder of an experiment on disk: what was planned, what
// became of each run, and where its files are. It is written so that an
// interrupted experiment can be taken up again, and can be read by people:
//
//	DIR/experiment.json     scenario, seed, identity and the state of every run
//	DIR/perf-run.log        what happened, with times
//	DIR/scenario.yaml       as it was given, if it was a file
//	DIR/index.md            the result
//	DIR/runs/001-LABEL-…/   logs, output, commands, report and pictures of a run
package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/scenario"
)

// Status is what became of a run.
type Status string

// The statuses. Unmet are runs that ended in order but did not do what was asked: a
// gate was crossed, or a program sent or received less than its -n.
const (
	OK          Status = "ok"
	Unmet       Status = "unmet"
	Failed      Status = "failed"
	Interrupted Status = "interrupted"
)

// Outcome is a run that was made.
type Outcome struct {
	Run    plan.Run  `json:"run"`
	Status Status    `json:"status"`
	Why    string    `json:"why,omitempty"` // for Unmet and Failed
	Start  time.Time `json:"start"`
	Folder string    `json:"folder"` // below DIR
}

// Experiment is the content of experiment.json.
type Experiment struct {
	Schema   string             `json:"schema"`
	Version  string             `json:"version"` // of perf-run
	ID       string             `json:"id"`
	Seed     uint64             `json:"seed"`
	Start    time.Time          `json:"start"`
	Scenario *scenario.Scenario `json:"scenario"`
	Outcomes []Outcome          `json:"outcomes"`
}

// Schema names the form of experiment.json.
const Schema = "experiment/1"

// Dir is a run directory. It is used by one goroutine.
type Dir struct {
	Path string
	Experiment
}

func (d *Dir) file() string { return filepath.Join(d.Path, "experiment.json") }

// Create makes a new run directory; it must not be there, or be empty.
func Create(path string, e Experiment, scenarioText []byte) (*Dir, error) {
	entries, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("%s is there already and not empty: --resume %s goes on with it, or name another with -o", path, path)
	}
	if err := os.MkdirAll(filepath.Join(path, "runs"), 0o777); err != nil {
		return nil, err
	}
	if scenarioText != nil {
		if err := os.WriteFile(filepath.Join(path, "scenario.yaml"), scenarioText, 0o666); err != nil {
			return nil, err
		}
	}
	e.Schema = Schema
	d := &Dir{path, e}
	return d, d.Save()
}

// Open reads a run directory.
func Open(path string) (*Dir, error) {
	d := &Dir{Path: path}
	text, err := os.ReadFile(d.file())
	if err != nil {
		return nil, fmt.Errorf("no run directory of perf-run: %w", err)
	}
	if err := json.Unmarshal(text, &d.Experiment); err != nil {
		return nil, fmt.Errorf("%s: %w", d.file(), err)
	}
	if d.Schema != Schema || d.Scenario == nil || d.ID == "" {
		return nil, fmt.Errorf("%s: schema %q, this program reads %s", d.file(), d.Schema, Schema)
	}
	return d, nil
}

// Save writes the state; after a crash there is the old or the new one.
func (d *Dir) Save() error {
	text, err := json.MarshalIndent(d.Experiment, "", " ")
	if err != nil {
		return err
	}
	return Replace(d.file(), append(text, '\n'))
}

// Replace writes a file so that a reader sees the old or the new content.
func Replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Done returns the outcome of a planned run, nil if it is still to be made.
func (d *Dir) Done(r plan.Run) *Outcome {
	for i := range d.Outcomes {
		if o := &d.Outcomes[i]; o.Run.N == r.N && o.Status != Interrupted {
			return o
		}
	}
	return nil
}

// Add records an outcome and saves the state. What an earlier, interrupted or
// repeated, attempt at this run left is kept in its own folder.
func (d *Dir) Add(o Outcome) error {
	d.Outcomes = append(d.Outcomes, o)
	return d.Save()
}

// Folder makes the folder of an attempt at a run; the error wraps fs.ErrExist where
// there was one of this name. A folder is never renamed: programs of an attempt that
// was cut off may still be about to write there, by its name.
func (d *Dir) Folder(name string) (path string, err error) {
	path = filepath.Join(d.Path, "runs", name)
	return path, os.Mkdir(path, 0o777)
}

// Forget removes failed outcomes, so that these runs are made again; their folders stay.
func (d *Dir) Forget(status Status) {
	for i := range d.Outcomes {
		if d.Outcomes[i].Status == status {
			d.Outcomes[i].Why = fmt.Sprintf("%s, repeated; %s", status, d.Outcomes[i].Why)
			d.Outcomes[i].Status = Interrupted
		}
	}
}
