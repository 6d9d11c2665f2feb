package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sqlAnswers is what testdata/sql_run.py prints: the rows of every query of docs/sql.
type sqlAnswers struct {
	Loss          []map[string]any
	Subscriptions []map[string]any
	Duplicates    []map[string]any
	Quantiles     []struct {
		Run, Metric, Percentile string
		N                       int64
		Value                   *int64 `json:"value_ns"`
	}
	Series []struct {
		From     int64 `json:"from_ns"`
		Intended int64
		Sent     int64
		Acked    int64
		Received int64
	}
	Comparison []sqlChange
}

type sqlChange struct {
	Metric, Percentile string
	Base               *int64 `json:"base_ns"`
	New                *int64 `json:"new_ns"`
	Change             *float64
}

// reported is what is compared of perf-report's JSON.
type reported struct {
	Counts  map[string]int64
	Metrics map[string]struct {
		N         int64
		Infinite  int64
		Quantiles map[string]struct {
			Observed *int64 `json:"observed_ns"`
			Status   string
		}
	}
	Series struct {
		Interval int64 `json:"interval_ns"`
		Intended []int64
		Sent     []int64
		Acked    []int64
		Received []int64
	}
}

// TestSQL runs the queries of docs/sql in DuckDB over logs in which everything happens, and finds exactly what perf-merge and
// perf-report find.
func TestSQL(t *testing.T) {
	t.Parallel()
	environment(t, "PERF_TEST_PYTHON")
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for run, scale := range map[string]int64{"base": 2, "new": 3} {
		synthesize(t, folder, run, scale)
	}
	var check []byte
	for _, name := range []string{"base", "new"} {
		run(t, "", command(t, "perf-merge"), "-q", "-o", at(name+".parquet"), at(name+"-send.parquet"), at(name+"-recv.parquet"))
		check = []byte(run(t, "", command(t, "perf-merge"), "--check", "-f", "json", at(name+"-send.parquet"), at(name+"-recv.parquet")))
	}
	queries, err := filepath.Abs(filepath.Join("..", "..", "..", "docs", "sql"))
	if err != nil {
		t.Fatal(err)
	}
	var sql sqlAnswers
	python(t, "", &sql, "sql_run.py", queries, folder)

	var report reported
	text := run(t, "", command(t, "perf-report"), "-f", "json", "--warmup", "0s", "--interval", "1s", at("new.parquet"))
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatalf("%v\n%.2000s", err, text)
	}
	compareCounts(t, &sql, &report, check)
	compareQuantiles(t, &sql, &report)
	compareSeconds(t, &sql, &report)
	text = run(t, "", command(t, "perf-report"), "-f", "json", "--warmup", "0s", "--baseline", at("base.parquet"), at("new.parquet"))
	compareChanges(t, &sql, text)
}

func number64(t *testing.T, row map[string]any, name string) int64 {
	t.Helper()
	v, ok := row[name].(float64)
	if !ok {
		t.Fatalf("%s: %v", name, row[name])
	}
	return int64(v)
}

func compareCounts(t *testing.T, sql *sqlAnswers, report *reported, check []byte) {
	t.Helper()
	if len(sql.Loss) != 1 {
		t.Fatalf("loss.sql: %v", sql.Loss)
	}
	for name, v := range sql.Loss[0] {
		if name == "run" {
			continue
		}
		want, ok := report.Counts[name]
		if got := number64(t, sql.Loss[0], name); !ok || got != want {
			t.Errorf("%s: loss.sql %v, perf-report %d (%v)", name, v, want, ok)
		}
	}
	// The log has something of each, or nothing is proved.
	for _, name := range []string{"lost", "unknown", "duplicate", "reordered", "redelivered", "rejected", "released", "unsettled", "failed", "unsent", "resent"} {
		if report.Counts[name] == 0 {
			t.Errorf("the logs have nothing %s", name)
		}
	}
	duplicates := int64(0)
	for _, row := range sql.Duplicates {
		duplicates += number64(t, row, "duplicates")
	}
	if duplicates != report.Counts["duplicate"] {
		t.Errorf("duplicates.sql: %d, perf-report: %d", duplicates, report.Counts["duplicate"])
	}
	compareCheck(t, sql, check)
}

// compareCheck compares with perf-merge --check.
func compareCheck(t *testing.T, sql *sqlAnswers, check []byte) {
	t.Helper()
	var accounts any
	if err := json.Unmarshal(check, &accounts); err != nil {
		t.Fatalf("%v\n%s", err, check)
	}
	if list, ok := accounts.([]any); ok && len(list) == 1 {
		accounts = list[0]
	}
	account, ok := accounts.(map[string]any)
	if inner, nested := account["accounting"].(map[string]any); nested {
		account = inner
	}
	if !ok || account["intended"] == nil {
		t.Fatalf("perf-merge --check: %.2000s", check)
	}
	for name, v := range sql.Loss[0] {
		if name != "run" && account[name] != v {
			t.Errorf("%s: loss.sql %v, perf-merge %v", name, v, account[name])
		}
	}
	subscriptions, _ := account["subscriptions"].([]any)
	if len(subscriptions) != 2 || len(sql.Subscriptions) != 2 {
		t.Fatalf("subscriptions: SQL %v, perf-merge %v", sql.Subscriptions, subscriptions)
	}
	for i, s := range subscriptions {
		row, _ := s.(map[string]any)
		for _, name := range []string{"source", "subscription", "received", "lost", "reordered"} {
			if row[name] != sql.Subscriptions[i][name] {
				t.Errorf("subscription %d, %s: SQL %v, perf-merge %v", i, name, sql.Subscriptions[i][name], row[name])
			}
		}
	}
}

func compareQuantiles(t *testing.T, sql *sqlAnswers, report *reported) {
	t.Helper()
	seen := map[string]bool{}
	for _, row := range sql.Quantiles {
		metric, ok := report.Metrics[row.Metric]
		q, okQ := metric.Quantiles[row.Percentile]
		seen[row.Metric] = true
		if !ok || !okQ {
			t.Errorf("perf-report has no %s p%s", row.Metric, row.Percentile)
			continue
		}
		if row.N != metric.N+metric.Infinite && row.N != metric.N {
			t.Errorf("%s: n is %d in SQL, %d and %d infinite in the report", row.Metric, row.N, metric.N, metric.Infinite)
		}
		switch infinite := q.Status == "infinite"; {
		case infinite != (row.Value == nil):
			t.Errorf("%s p%s: SQL %v, perf-report %s", row.Metric, row.Percentile, row.Value, q.Status)
		case !infinite && (q.Observed == nil || *q.Observed != *row.Value):
			t.Errorf("%s p%s: SQL %d, perf-report %v", row.Metric, row.Percentile, *row.Value, q.Observed)
		}
	}
	if len(seen) != 9 {
		t.Errorf("quantiles.sql has the metrics %v, want all nine", seen)
	}
}

func compareSeconds(t *testing.T, sql *sqlAnswers, report *reported) {
	t.Helper()
	s := report.Series
	if s.Interval != 1e9 {
		t.Fatalf("the series has intervals of %d ns", s.Interval)
	}
	got := map[string][]int64{}
	for _, name := range []string{"intended", "sent", "acked", "received"} {
		got[name] = make([]int64, len(s.Intended))
	}
	for _, row := range sql.Series {
		i := int(row.From / 1e9)
		if i >= len(s.Intended) {
			t.Fatalf("second %d is not in the report's series of %d", i, len(s.Intended))
		}
		got["intended"][i], got["sent"][i], got["acked"][i], got["received"][i] = row.Intended, row.Sent, row.Acked, row.Received
	}
	want := map[string][]int64{"intended": s.Intended, "sent": s.Sent, "acked": s.Acked, "received": s.Received}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("series (-perf-report +SQL)\n%s", d)
	}
}

func compareChanges(t *testing.T, sql *sqlAnswers, text string) {
	t.Helper()
	at := strings.Index(text, `{"schema":"compare/1"`)
	if at < 0 {
		t.Fatalf("no comparison: %.500s", text)
	}
	var compared struct {
		Rows []struct {
			Metric    string
			Base, New []float64
			Change    *float64
		}
	}
	if err := json.NewDecoder(strings.NewReader(text[at:])).Decode(&compared); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, row := range compared.Rows {
		i := slices.IndexFunc(sql.Comparison, func(c sqlChange) bool { return fmt.Sprintf("%s p%s", c.Metric, c.Percentile) == row.Metric })
		if i < 0 {
			continue
		}
		c := sql.Comparison[i]
		if len(row.Base) != 1 || len(row.New) != 1 || c.Base == nil || c.New == nil {
			continue // infinite on a side
		}
		n++
		if row.Base[0] != float64(*c.Base) || row.New[0] != float64(*c.New) {
			t.Errorf("%s: SQL %d and %d, perf-report %v and %v", row.Metric, *c.Base, *c.New, row.Base, row.New)
		}
		if row.Change == nil || c.Change == nil || *row.Change-*c.Change > 1e-12 || *c.Change-*row.Change > 1e-12 {
			t.Errorf("%s: change %v in SQL, %v in perf-report", row.Metric, c.Change, row.Change)
		}
	}
	if n < 3 {
		t.Errorf("only %d quantiles were compared of %d rows", n, len(compared.Rows))
	}
}

// TestSQLIsListed: the README of docs/sql has every query.
func TestSQLIsListed(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "docs", "sql")
	readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !strings.Contains(string(readme), "("+filepath.Base(file)+")") {
			t.Errorf("%s is not in the README", filepath.Base(file))
		}
	}
}
