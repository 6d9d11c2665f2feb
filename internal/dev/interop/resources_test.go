package interop

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestResources gives perf-report what pyarrow and DuckDB wrote of a broker's host.
func TestResources(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	r := pipeline(t)
	var kinds []string
	python(t, "", &kinds, "resources_write.py", r.directory)
	if len(kinds) != 4 {
		t.Fatalf("%q", kinds)
	}
	for _, kind := range kinds {
		out := run(t, "", command(t, "perf-report"), "-f", "json", "--resources", filepath.Join(r.directory, "resources-"+kind+".parquet"),
			filepath.Join(r.directory, "merged.parquet"))
		found := false
		for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
			var v any
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			found = walk(v, func(m map[string]any) bool {
				return m["schema"] == "resources/1" && m["n"].(float64) > 10 && m["cpu_mean_percent"] == 100.0 && m["rss_max_bytes"] == float64(1<<20)
			}) || found
		}
		if !found {
			t.Errorf("%s: no resources in\n%.2000s", kind, out)
		}
	}
}

// walk reports whether an object for which is is true is anywhere in v.
func walk(v any, is func(map[string]any) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		if is(v) {
			return true
		}
		for _, e := range v {
			if walk(e, is) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if walk(e, is) {
				return true
			}
		}
	}
	return false
}
