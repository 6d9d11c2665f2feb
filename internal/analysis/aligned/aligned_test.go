package aligned_test

import (
	"strings"
	"testing"

	"amqpperf/internal/analysis/aligned"
)

func TestLines(t *testing.T) {
	t.Parallel()
	table := aligned.Table{Left: []int{0, 2}, Rows: [][]string{{"", "n", "why"}, {"ü", "12"}, {"a\x1b[0m", "1,000", "x"}}}
	got := strings.Join(table.Lines(), "\n")
	want := "              n  why\nü            12\na\\x1b[0m  1,000  x"
	if got != want {
		t.Errorf("\n%s\nwant\n%s", got, want)
	}
	var b strings.Builder
	table.Indent(&b)
	if !strings.HasPrefix(strings.Split(b.String(), "\n")[1], "  ü") {
		t.Errorf("\n%s", b.String())
	}
	if len(aligned.Table{}.Lines()) != 0 {
		t.Error("nothing has lines")
	}
}
