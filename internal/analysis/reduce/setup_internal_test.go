package reduce

import (
	"maps"
	"testing"

	"amqpperf/format"
)

// Reading the metadata leaves it as it was, with sources and without.
func TestSetupLeavesTheMetadata(t *testing.T) {
	t.Parallel()
	meta := format.Meta{format.KeySchema: "merged/1", format.KeyRun: "r", format.KeyName: "merged"}
	if err := meta.SetJSON(format.KeySource, []format.Meta{
		{format.KeySchema: "send/1", format.KeyName: "first", "file": "a"}, {format.KeySchema: "recv/1", "file": "b"},
	}); err != nil {
		t.Fatal(err)
	}
	for _, m := range []format.Meta{meta, {format.KeySchema: "send/1", format.KeyRun: "r"}, {format.KeySource: "[{]"}, {format.KeySource: "[]"}} {
		want := maps.Clone(m)
		s, _ := setup(m)
		if !maps.Equal(m, want) {
			t.Errorf("the metadata became %v, it was %v", m, want)
		}
		if len(s.Logs) == 0 {
			t.Errorf("%v: no log", m)
		}
	}
}
