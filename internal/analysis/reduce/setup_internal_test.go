package reduce

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"amqpperf/format"
)

// Logs stand in an order of their own, whatever that of the files was.
func TestSetupOrdersLogs(t *testing.T) {
	t.Parallel()
	source := func(schema, host string, wall int) format.Meta {
		return format.Meta{format.KeySchema: schema, format.KeyHost: host, format.KeyClock: fmt.Sprintf(`{"wall_ns":%d}`, wall)}
	}
	sources := []format.Meta{
		source("recv/1", "a", 1), source("send/1", "b", 3), source("send/1", "a", 9), source("recv/1", "a", 0), source("send/1", "b", 2),
	}
	for range sources {
		sources = append(sources[1:], sources[0])
		meta := format.Meta{format.KeySchema: "merged/1"}
		if err := meta.SetJSON(format.KeySource, sources); err != nil {
			t.Fatal(err)
		}
		s, warnings := setup(meta)
		var got []string
		for _, l := range s.Logs {
			got = append(got, fmt.Sprint(l.Schema, " ", l.Host, l.Anchor.Wall))
		}
		if want := []string{"send/1 a9", "send/1 b2", "send/1 b3", "recv/1 a0", "recv/1 a1"}; !slices.Equal(got, want) || len(warnings) > 0 {
			t.Errorf("%v (%v), want %v", got, warnings, want)
		}
	}
}

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
