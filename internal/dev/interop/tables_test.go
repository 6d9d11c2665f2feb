package interop

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/dev/jsonpath"
)

// summary is what testdata/duckdb_read.py and arrow_read.py print.
type summary struct {
	SendRows   int              `json:"send_rows"`
	RecvRows   int              `json:"recv_rows"`
	MergedRows int              `json:"merged_rows"`
	Outcomes   map[string]int   `json:"outcomes"`
	Quantiles  map[string]int64 `json:"quantiles"` // "response 99" → ns, by exact rank, without the warm-up
	Schemas    []string         `json:"schemas"`   // perf.schema of each stream, in order
	Types      []string         `json:"types"`     // of the columns of instants, without repetition
}

// wantQuantiles takes the report's own quantiles.
func wantQuantiles(t *testing.T, report []byte) map[string]int64 {
	t.Helper()
	want := map[string]int64{}
	for _, metric := range []string{"response", "service", "transit", "e2e"} {
		for _, p := range []string{"50", "90", "99", "99.9"} {
			v, err := jsonpath.Number(report, fmt.Sprintf("/0/metrics/%s/quantiles/%s/observed_ns", metric, p))
			if err != nil {
				t.Error(err)
			}
			want[metric+" "+p] = int64(v)
		}
	}
	return want
}

// TestDuckDB computes counts and exact quantiles with SQL and finds those of the report.
func TestDuckDB(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	r := pipeline(t)
	warmup, err := jsonpath.Number(r.report, "/0/warmup/seconds")
	if err != nil {
		t.Fatal(err)
	}
	var got summary
	python(t, "", &got, "duckdb_read.py", r.directory, fmt.Sprint(int64(warmup*1e9)))
	want := summary{
		SendRows: messages, RecvRows: messages, MergedRows: messages,
		Outcomes: map[string]int{"accepted": messages}, Quantiles: wantQuantiles(t, r.report), Types: []string{"BIGINT"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("DuckDB and the report differ (-report +DuckDB)\n%s", d)
	}
}

// TestPyArrow reads both containers.
func TestPyArrow(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	r := pipeline(t)
	var got summary
	python(t, "", &got, "arrow_read.py", r.directory)
	if got.SendRows != messages || got.RecvRows != messages || got.MergedRows != messages {
		t.Errorf("rows: got %+v, want %d of each", got, messages)
	}
	if d := cmp.Diff([]string{"int64"}, got.Types); d != "" {
		t.Errorf("types of instants (-want +got)\n%s", d)
	}
	n := len(got.Schemas)
	if n < 2 || got.Schemas[0] != "merged/1" || got.Schemas[n-1] != "meta/1" {
		t.Errorf("the pipe has the streams %q, want merged/1 first and meta/1 last", got.Schemas)
	}
}
