package rundir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/scenario"
)

// TestRoundTrip: what is saved is what is opened, and a folder that is there is not taken for a new one.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "d")
	s := scenario.New()
	s.Addresses, s.Send = []string{"q"}, []scenario.Group{{Name: "send", Flags: []scenario.Flag{{Name: "rate", Value: "5k"}}}}
	d, err := Create(path, Experiment{ID: "x", Seed: 1 << 63, Scenario: s}, []byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	o := Outcome{Run: plan.Run{N: 1, Params: []plan.Setting{{Name: "a", Value: "b"}}, Repetition: 1}, Status: Failed, Why: "why", Folder: "runs/1"}
	if err := d.Add(o); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d.Experiment, again.Experiment); diff != "" {
		t.Error(diff)
	}
	if got := again.Done(o.Run); got == nil || got.Status != Failed {
		t.Errorf("the failed run is not done: %+v", got)
	}
	again.Forget(Failed)
	if got := again.Done(o.Run); got != nil {
		t.Errorf("what was forgotten is done: %+v", got)
	}
	if _, err := Create(path, Experiment{}, nil); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a folder in use: %v", err)
	}
}

// TestFolder: what is there is left alone.
func TestFolder(t *testing.T) {
	t.Parallel()
	d, err := Create(filepath.Join(t.TempDir(), "d"), Experiment{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	path, err := d.Folder("001")
	if err != nil || path != filepath.Join(d.Path, "runs", "001") {
		t.Fatalf("%s, %v", path, err)
	}
	if _, err := d.Folder("001"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder that is there: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", "[]", `{"schema":"experiment/2","id":"x","scenario":{}}`, `{"schema":"experiment/1","id":"x"}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "experiment.json"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Errorf("%q was opened", text)
		}
	}
	if _, err := Open(t.TempDir()); err == nil {
		t.Error("an empty folder was opened")
	}
}
