package interop

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"amqpperf/internal/dev/jsonpath"
)

// TestHdrHistogramJS compares counts and quantiles of the series that
// hdr-histogram-js reads from the HDR log with those of the report.
func TestHdrHistogramJS(t *testing.T) {
	t.Parallel()
	node, library := environment(t, "PERF_TEST_NODE"), environment(t, "PERF_TEST_HDR_JS")
	r := pipeline(t)
	var got map[string]struct {
		Count     float64            `json:"count"`
		First     float64            `json:"first_ms"`
		Quantiles map[string]float64 `json:"quantiles"`
	}
	out := run(t, "", node, filepath.Join("testdata", "hdr.js"), library, r.path("run.hlog"))
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, ok := got["warmup-response"]; !ok {
		t.Errorf("no series of the warm-up: %s", out)
	}
	// The headline is untagged: response, at a rate.
	for metric, tag := range map[string]string{"response": "", "service": "service", "transit": "transit", "e2e": "e2e"} {
		s, ok := got[tag]
		n, err := jsonpath.Number(r.report, "/0/metrics/"+metric+"/n")
		if err != nil || !ok || n != s.Count {
			t.Errorf("%s: JavaScript counts %v, the report says %v (%v)", metric, s.Count, n, err)
		}
		if s.First < 1.7e12 {
			t.Errorf("%s begins at %v ms since 1970", metric, s.First)
		}
		for p, v := range s.Quantiles {
			want, err := jsonpath.Number(r.report, "/0/metrics/"+metric+"/quantiles/"+p+"/observed_ns")
			if err != nil || math.Abs(v-want) > 0.001*want+1 {
				t.Errorf("%s p%s: the report says %v, JavaScript %v (%v)", metric, p, want, v, err)
			}
		}
	}
}
