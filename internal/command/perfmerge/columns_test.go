package perfmerge_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/analysis/join/synth"
	"amqpperf/internal/cli"
)

// A column is the same whether it is written with all the others or alone,
// when others are not even read; and so is the accounting.
func TestEveryColumnAlone(t *testing.T) {
	t.Parallel()
	_, names := logsOf(t, synth.Spec{Messages: 300, Producers: 3, Receivers: 2, Loss: 10, Duplicate: 20})
	all := perfMerge(t, append([]string{"-f", "csv"}, names...)...)
	rows := records(t, all)
	if len(rows) < 300 {
		t.Fatalf("%d rows", len(rows))
	}
	for at, c := range format.MergedSchema().Columns {
		// A line of nothing but a NULL is empty, which readers of CSV leave out.
		by, byAt := "seq", 3
		if c.Name == by {
			by, byAt = "sent", 9
		}
		one := perfMerge(t, append([]string{"-f", "csv", "--select", c.Name + "," + by}, names...)...)
		var want [][]string
		for _, row := range rows {
			want = append(want, []string{row[at], row[byAt]})
		}
		if diff := cmp.Diff(want, records(t, one)); diff != "" {
			t.Errorf("column %s alone (-with all +alone):\n%s", c.Name, diff)
		}
		if one.stderr != all.stderr {
			t.Errorf("column %s: the accounting is %s, with all columns %s", c.Name, one.stderr, all.stderr)
		}
	}
	check := perfMerge(t, append([]string{"--check"}, names...)...)
	if !strings.HasPrefix(check.stdout, all.stderr) {
		t.Errorf("--check says %s, with rows it is %s", check.stdout, all.stderr)
	}
}

func records(t *testing.T, r result) [][]string {
	t.Helper()
	if r.code != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	rows, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
