package checks

import (
	"strings"
	"testing"

	"amqpperf/internal/analysis/reduce"
)

// A log whose recorder was killed is told by the checks that it concerns.
func TestIncompleteLogs(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		logs    []string
		c1, c23 Status
	}{
		{nil, OK, OK},
		{[]string{"perf-recv log"}, Warn, OK},
		{[]string{"perf-send log", "perf-recv log"}, Warn, Warn},
	} {
		d := &reduce.Data{}
		d.Incomplete = tt.logs
		d.Integrity.Answerable = 10
		in := &Input{Data: d}
		var c1, c23 Check
		completeness(in, &c1)
		censoring(in, &c23)
		if c1.Status != tt.c1 || c23.Status != tt.c23 || strings.Contains(c1.Text, "did not end cleanly") != (tt.logs != nil) {
			t.Errorf("%v: C1 %s %q, C23 %s %q", tt.logs, c1.Status, c1.Text, c23.Status, c23.Text)
		}
	}
}
