package gate_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"amqpperf/internal/analysis/gate"
	"amqpperf/internal/analysis/report"
)

func ns(v int64) *int64      { return &v }
func num(v float64) *float64 { return &v }

// sample is a report with one number of each kind.
func sample() *report.Report {
	q := func(p string, v int64, s report.Status) report.Quantile {
		out := report.Quantile{P: p, Observed: ns(v), Status: s, Events: 3, Needed: num(4)}
		if s == report.OK || s == report.Low || s == report.Nonstationary {
			out.Value, out.Low, out.High = ns(v), ns(v-1e6), ns(v+1e6)
		}
		return out
	}
	return &report.Report{
		Name: "trunk", Loop: report.Open,
		Counts: report.Counts{Lost: 3, Intended: 1000},
		Rates:  report.Rates{Acked: num(990)},
		Checks: []report.Check{
			{ID: "C1", Name: "completeness", Status: report.CheckWarn, Text: "3 lost"},
			{ID: "C3", Name: "generator lag", Status: report.CheckFail, Advice: "spin"},
			{ID: "C6", Name: "arrival process", Status: report.CheckSkip},
		},
		Metrics: report.Metrics{
			{Name: "response", N: 1000, Min: ns(1e6), Max: ns(9e6), Mean: num(3e6), Quantiles: []report.Quantile{
				q("50", 3e6, report.OK), q("99", 5_500_000, report.Low), q("99.9", 8e6, report.Uncertain),
			}},
			{Name: "service", N: 1000, Infinite: 2, Max: ns(9e6), Mean: num(3e6), Quantiles: []report.Quantile{q("99.9", 9e6, report.Infinite)}},
			{Name: "e2e", N: 1000, Max: ns(9e6), Mean: num(3e6), Quantiles: []report.Quantile{q("50", 9e6, report.Nonstationary)}},
			{Name: "transit", N: 1000, Max: ns(9e6), Mean: num(3e6), Quantiles: []report.Quantile{q("50", 9e6, report.ClockUnknown)}},
		},
	}
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]struct {
		crossed bool
		text    string
	}{
		"response.p99 > 5ms":        {true, "5.50ms (95 % 4.50ms .. 6.50ms), low confidence"},
		"response.p99>6ms":          {false, "5.50ms"},
		"  response.p99 <= 5500us ": {true, "5.50ms"},
		"response.p99 == 5500000ns": {true, ""},
		"response.p50 != 3ms":       {false, "3.00ms"},
		"response.p50 >= 3ms":       {true, ""},
		"response.p50 < 3ms":        {false, ""},
		"response.p99.9 > 1h":       {true, "withheld: too uncertain, 3 independent events beyond it, needs a run 4 times as long, observed 8.00ms"},
		"response.p99.9 < 1ns":      {true, "withheld: too uncertain"},
		"response.p90 > 1h":         {true, "withheld: p90 was not computed"},
		"response.mean > 2ms":       {true, "3.00ms"},
		"response.max > 9ms":        {false, "9.00ms"},
		"response.min < 1ms":        {false, "1.00ms"},
		"response.stddev > 1ms":     {true, "withheld: too few messages"},
		"response.n < 1001":         {true, "1,000"},
		"service.infinite > 1":      {true, "2"},
		"service.p99.9 > 1h":        {true, "withheld: infinite"},
		"service.mean > 1h":         {true, "withheld: 2 of 1,000 messages"},
		"e2e.p50 > 1h":              {true, "withheld: the system was overloaded"},
		"e2e.max > 1h":              {true, "withheld: the system was overloaded"},
		"transit.p50 > 1h":          {true, "withheld: the clocks"},
		"work.p50 > 1h":             {true, "withheld: no message has it"},
		"counts.lost > 0":           {true, "3"},
		"counts.duplicate > 0":      {false, "0"},
		"rates.acked < 1k":          {true, "990/s"},
		"rates.acked < 900":         {false, "990/s"},
		"rates.acked == 0":          {false, "990/s"},
		"rates.received < 1":        {true, "withheld: too few messages for a rate"},
		"checks.C3 == fail":         {true, "generator lag is fail"},
		"checks.C1 == fail":         {false, "completeness is warn: 3 lost"},
		"checks.C1 != ok":           {true, "completeness is warn"},
		"checks.C6 == fail":         {true, "withheld: arrival process is skip"},
		"checks.C6 == skip":         {true, "arrival process is skip"},
		"checks.C99 == fail":        {true, "no check C99"},
	} {
		g, err := gate.Parse(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		got := g.Evaluate(sample())
		if got.Crossed != want.crossed || !strings.HasPrefix(got.Text, want.text) && !strings.Contains(got.Text, want.text) || got.Run != "trunk" || got.Name != src {
			t.Errorf("%s: %+v, want %v %q", src, got, want.crossed, want.text)
		}
	}
	closed := sample()
	closed.Loop = report.Closed
	g, err := gate.Parse("response.p50 > 1h")
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Evaluate(closed); !got.Crossed || !strings.Contains(got.Text, "a closed loop has no schedule") {
		t.Errorf("%+v", got)
	}
}

func TestChange(t *testing.T) {
	t.Parallel()
	with := func(v int64) *report.Report {
		r := sample()
		r.Metrics[0].Quantiles[0].Value = ns(v)
		return r
	}
	g, err := gate.Parse("response.p50.change > 5%")
	if err != nil || !g.Change() {
		t.Fatal(err)
	}
	if p, ok := g.Percentile(); !ok || p.String() != "50" {
		t.Errorf("percentile %v", p)
	}
	one := g.EvaluateChange([]*report.Report{with(1000)}, []*report.Report{with(1051)})
	if !one.Crossed || !strings.HasPrefix(one.Text, "+5.10 % (one run a side: no interval") {
		t.Errorf("%+v", one)
	}
	base := []*report.Report{with(1000), with(1001), with(1002), with(1003)}
	other := []*report.Report{with(1020), with(1021), with(1022), with(1023)}
	four := g.EvaluateChange(base, other)
	if four.Crossed || !strings.HasPrefix(four.Text, "+2.00 % (95 % +1.") || !strings.Contains(four.Text, "p 0.029, 4 and 4 runs") {
		t.Errorf("%+v", four)
	}
	broken := sample()
	broken.Metrics[0].Quantiles[0].Value = nil
	broken.Metrics[0].Quantiles[0].Status = report.Uncertain
	if got := g.EvaluateChange(base, append(other, broken)); !got.Crossed || !strings.Contains(got.Text, "withheld: trunk: too uncertain") {
		t.Errorf("%+v", got)
	}
	if got := g.EvaluateChange(nil, other); !got.Crossed || !strings.Contains(got.Text, "no baseline") {
		t.Errorf("%+v", got)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                           "column 1: no comparison",
		"response.p99":               "column 13: no comparison",
		"response.p99 = 5ms":         `column 14: "=" compares nothing`,
		"> 5ms":                      "column 1: nothing is compared",
		"latency.p99 > 5ms":          `column 1: "latency" is none of lag, blocked`,
		" response > 5ms":            "column 10: response of what?",
		"response.p999 > 5ms":        `column 10: percentile "999": above 100`,
		"response.median > 5ms":      `column 10: response has no "median"`,
		"response.p99 > 5":           `column 16: "5" is no duration`,
		"response.p99 > ":            "no value",
		"response.p99.change > 5":    `column 23: "5" is no percentage`,
		"response.p99.change > 5e9%": "is no percentage",
		"response.n.change > 5%":     "n has no change",
		"counts.lots > 0":            `column 8: counts has no "lots"`,
		"counts.lost.change > 5%":    "counts have no change",
		"counts.lost > 0.5":          "must be a whole number",
		"rates.acked > max":          "max is no number",
		"rates.acked > fast":         "not a number",
		"rates.s1 > 5":               `rates has no "s1"`,
		"checks.C3 > fail":           "column 11: a check is compared with == or !=",
		"checks.C3 == bad":           `column 14: "bad" is none of ok`,
		"checks.X == fail":           `"X" is no check`,
		"checks.C03 == fail":         `"C03" is no check`,
		"checks.C3.change == fail":   "is no check",
		"résponse.p99 > 5ms":         `column 1: "résponse"`,
		"response.pé > 5ms":          "column 10",
		strings.Repeat("x", 2000):    "longer than",
	} {
		_, err := gate.Parse(src)
		var at *gate.Error
		if !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50q: %v, want %q", src, err, want)
		}
	}
}

func TestCountNames(t *testing.T) {
	t.Parallel()
	for _, n := range gate.CountNames() {
		g, err := gate.Parse("counts." + n + " > 5")
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Evaluate(&report.Report{}); got.Crossed {
			t.Errorf("%s: %+v", n, got)
		}
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	r := sample()
	r.Name = "a<b>&\"\x00\x1b[31m\xff ü"
	g, err := gate.Parse("response.p99 > 5ms")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	suites := []gate.Suite{{Name: r.Title(), Gates: []gate.Result{g.Evaluate(r)}, Checks: gate.Checks(r, false)}, {Name: "strict", Checks: gate.Checks(r, true)}}
	if err := gate.JUnit(&b, suites); err != nil {
		t.Fatal(err)
	}
	type message struct {
		Message string `xml:"message,attr"`
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string   `xml:"name,attr"`
				Failure *message `xml:"failure"`
				Skipped *message `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if got.Tests != 7 || got.Failures != 2 || got.Skipped != 3 {
		t.Errorf("%d tests, %d failures, %d skipped\n%s", got.Tests, got.Failures, got.Skipped, b.String())
	}
	cases := got.Suites[0].Cases
	if cases[0].Name != "response.p99 > 5ms" || cases[0].Failure == nil || !strings.HasPrefix(cases[0].Failure.Message, "5.50ms") {
		t.Errorf("%+v", cases[0])
	}
	if got.Suites[0].Name != "a<b>&\"��[31m� ü" || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q", got.Suites[0].Name)
	}
	if cases[2].Skipped == nil || got.Suites[1].Cases[1].Failure == nil {
		t.Error("a failed check counts only if asked for")
	}
}

// Any text is an error with a position, or a gate that can be evaluated.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"response.p99 > 5ms", "rates.acked<30k", "counts.lost != 0", "checks.C3 == fail", "e2e.p99.9.change >= -5%", "x.y>z", ">", "response.p > 1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := gate.Parse(s)
		if err != nil {
			var at *gate.Error
			if !errors.As(err, &at) || at.Pos < 0 || at.Pos > len(s) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if again, err := gate.Parse(g.String()); err != nil || *again != *g {
			t.Fatalf("%q: %+v, again %+v, %v", s, g, again, err)
		}
		var res gate.Result
		if g.Change() {
			res = g.EvaluateChange([]*report.Report{sample()}, []*report.Report{sample()})
		} else {
			res = g.Evaluate(sample())
		}
		if err := gate.JUnit(io.Discard, []gate.Suite{{Gates: []gate.Result{res}}}); err != nil {
			t.Fatal(err)
		}
	})
}
