package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/report"
)

// What recorders sampled of transactions while the messages were under way is in
// every form; what they sampled before and after is not.
func TestTransactions(t *testing.T) {
	t.Parallel()
	d, err := reduce.Reduce(synth.Queue{N: 1000, Interval: 1e6, Service: 1e6, Transit: -1}.Run().Reader(100), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.Side.Samples = map[string][]reduce.Sample{}
	for i := range int64(102) { // 1 to 100 ms, and two outside
		at := synth.Start + (i-1)*10*synth.Millisecond
		if i == 101 {
			at = d.Integrity.LastInstant + 1
		}
		d.Side.Samples["tx.commit_ns"] = append(d.Side.Samples["tx.commit_ns"], reduce.Sample{At: at, Value: i * synth.Millisecond})
	}
	r := report.New(d, report.Options{})
	if len(r.Transactions) != 1 {
		t.Fatalf("%+v", r.Transactions)
	}
	if got, want := r.Transactions[0], (report.Transactions{Kind: "commit", N: 100, Min: 1e6, Mean: 50.5e6, P50: 50e6, P99: 99e6, Max: 100e6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for name, form := range map[string]func(*bytes.Buffer) error{
		"100 commits: mean 50.5ms, p50 50.0ms, p99 99.0ms, max 100ms": func(b *bytes.Buffer) error { return r.Text(b) },
		"- 100 commits: mean 50.5ms":                                  func(b *bytes.Buffer) error { return r.Markdown(b) },
		"commit,p99,99000000,ns,,,100,":                               func(b *bytes.Buffer) error { return r.CSV(b, true) },
		`"transactions":[{"kind":"commit","n":100`:                    func(b *bytes.Buffer) error { return r.JSON(b) },
	} {
		var b bytes.Buffer
		if err := form(&b); err != nil || !strings.Contains(b.String(), name) {
			t.Errorf("%q is not in\n%s", name, b.String())
		}
	}
	var without bytes.Buffer
	d.Side.Samples = nil
	if err := report.New(d, report.Options{}).JSON(&without); err != nil || !json.Valid(without.Bytes()) || strings.Contains(without.String(), "transactions") {
		t.Errorf("transactions of a run that had none: %v", err)
	}
}
