package report_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/report"
)

// late is a run whose generator is late for one message in twenty.
func late() *synth.Log {
	rng := rand.New(rand.NewPCG(5, 5))
	l := &synth.Log{}
	var last int64
	for i := range int64(30_000) {
		r := synth.Message(i, synth.Start+i*ms, 0)
		if rng.IntN(20) == 0 {
			r.Ready += 600 * us
		}
		r.Ready = max(r.Ready, last)
		last = r.Ready
		r.Sent, r.Acked = r.Ready, r.Ready+300*us
		l.Rows = append(l.Rows, r)
	}
	return l
}

// texts are the report in every format.
func texts(t *testing.T, r *report.Report) (text, markdown, js, csv string) {
	t.Helper()
	var b [4]bytes.Buffer
	for _, err := range []error{r.Text(&b[0]), r.Markdown(&b[1]), r.JSON(&b[2]), r.CSV(&b[3], true)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b[0].String(), b[1].String(), b[2].String(), b[3].String()
}

// The bracket is in every format: exact numbers, and what kind it is.
func TestBracketFormats(t *testing.T) {
	t.Parallel()
	r := reportOf(t, late())
	text, markdown, js, csv := texts(t, r)
	for name, part := range map[string][2]string{
		"text":     {text, "300us..900us"},
		"text too": {text, "if punctual: between these a generator that is never late would have seen the response, a proven bound"},
		"markdown": {markdown, "300us..900us"},
		"csv":      {csv, "bracket,response_p99,,ns,300000,900000,,bound"},
	} {
		if !strings.Contains(part[0], part[1]) {
			t.Errorf("%s lacks %q:\n%s", name, part[1], part[0])
		}
	}
	var got struct {
		Bracket map[string]map[string]struct {
			Lower     *int64 `json:"lower_ns"`
			Upper     *int64 `json:"upper_ns"`
			Kind      string
			Overtaken *float64 `json:"overtaken_share"`
		}
	}
	if err := json.Unmarshal([]byte(js), &got); err != nil {
		t.Fatal(err)
	}
	q := got.Bracket["response"]["99"]
	if q.Lower == nil || *q.Lower != 300*us || q.Upper == nil || *q.Upper != 900*us || q.Kind != "bound" || q.Overtaken == nil {
		t.Errorf("%+v", got.Bracket)
	}
	var again report.Bracket
	if b, err := json.Marshal(r.Bracket["response"]); err != nil || json.Unmarshal(b, &again) != nil || len(again) != 5 {
		t.Errorf("not read back: %v, %v", again, err)
	}
	overtaken := late()
	overtaken.Rows[50].Acked += 5 * ms
	r = reportOf(t, overtaken)
	text, _, js, _ = texts(t, r)
	if !strings.Contains(text, "an estimate: 0.00333 % of the messages were overtaken") || !strings.Contains(js, `"kind":"estimate"`) {
		t.Errorf("not called an estimate:\n%s", text)
	}
	if row := r.Bracket["response"][0]; row.Overtaken != 1.0/30_000 {
		t.Errorf("overtaken %v", row.Overtaken)
	}
}

// A failed check stamps the numbers it spoils, and only those, in every format.
func TestStamps(t *testing.T) {
	t.Parallel()
	l := late()
	for i := range l.Rows {
		r := &l.Rows[i]
		if i%3 == 0 { // far too late
			r.Ready, r.Sent, r.Acked = r.Ready+ms/2, r.Sent+ms/2, r.Acked+ms/2
		}
	}
	r := reportOf(t, l)
	if got := r.Spoiled("response"); strings.Join(got, " ") != "C3" {
		t.Fatalf("response is spoiled by %q", got)
	}
	if got := r.Spoiled("service"); got != nil {
		t.Errorf("service is spoiled by %q", got)
	}
	text, markdown, js, csv := texts(t, r)
	at := strings.Index(text, "\n  response ")
	if at < 0 || !strings.Contains(text[at:], "INVALID: C3") || strings.Count(text, "INVALID") != 1 {
		t.Errorf("text:\n%s", text)
	}
	if !strings.Contains(markdown, "INVALID: C3") || !strings.Contains(csv, "invalid,response,,,,,,C3") {
		t.Errorf("markdown:\n%s\ncsv:\n%s", markdown, csv)
	}
	if !strings.Contains(js, `"response":["C3"]`) || !strings.Contains(js, `"spoils":["response"]`) {
		t.Error("JSON has no stamp")
	}
}

// withTables are rows with side tables.
type withTables struct {
	*synth.Reader
	events  format.Event
	samples format.Sample
}

func (w *withTables) Table(b format.Batch) error {
	switch b := b.(type) {
	case *format.Event:
		*b = w.events
	case *format.Sample:
		*b = w.samples
	}
	return nil
}

// Hiccups and events of the same seconds stand beside a stall, those of others do not.
func TestBesideStalls(t *testing.T) {
	t.Parallel()
	rows := &withTables{Reader: stalled(1000).Reader(4096)}
	one := func(s string, n int) format.Strings {
		return format.Strings{Values: []string{s}, Codes: make([]int32, n)}
	}
	at := func(seconds ...float64) (out []int64) {
		for _, s := range seconds {
			out = append(out, synth.Start+int64(s*1e9))
		}
		return out
	}
	rows.events = format.Event{
		Instant: at(0, 10.05, 10.06, 20), Kind: one("reconnect", 4), Connection: []int32{0, 3, 3, 9},
		Link: format.Strings{Codes: []int32{-1, -1, -1, -1}}, Condition: one("amqp:connection:forced", 4), Text: format.Strings{Codes: []int32{-1, -1, -1, -1}},
	}
	rows.samples = format.Sample{Instant: at(5, 10.7, 15), What: one("tool.hiccup_max_ns", 3), Value: []int64{90e6, 80e6, 95e6}}
	d, err := reduce.Reduce(rows, reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := report.New(d, report.Options{})
	want := "hiccup of the tool's host of 80.0ms, 2 × reconnect of connection 3 (amqp:connection:forced)"
	if len(r.Stalls) != 1 || strings.Join(r.Stalls[0].Beside, ", ") != want {
		t.Errorf("%+v", r.Stalls)
	}
	text, markdown, js, _ := texts(t, r)
	for _, s := range []string{text, markdown} {
		if !strings.Contains(s, "at 10.000s also: "+want) {
			t.Errorf("not shown:\n%s", s)
		}
	}
	if !strings.Contains(js, `"beside":["hiccup`) {
		t.Error("not in JSON")
	}
}

// --warmup auto is told, whatever it finds.
func TestWarmupAutoIsTold(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 20_000, Interval: 1e6, Service: ms, Transit: -1}.Run()
	for i, want := range []string{"no warm-up left out: MSER-5 found none", "warm-up of 2s left out of rates and latencies (2,000 messages, MSER-5 cut 10 % of the responses)"} {
		d, err := reduce.Reduce(l.Reader(4096), reduce.Options{WarmupAuto: true})
		if err != nil {
			t.Fatal(err)
		}
		r := report.New(d, report.Options{})
		if text, _, _, _ := texts(t, r); !strings.Contains(text, want) || r.Warmup.Source != "auto" || r.Warmup.Cut == nil {
			t.Errorf("%d: %+v\n%.600s", i, r.Warmup, text)
		}
		for k := range 2000 {
			l.Rows[k].Acked += 3 * ms
		}
	}
}

// What held the rate is told, and a cap in the broker once two round trips are known.
func TestJudgeTogether(t *testing.T) {
	t.Parallel()
	capped := func(delay int64) *report.Report {
		l := &synth.Log{}
		settled := make([]int64, 0, 8000)
		for i := range 8000 {
			r := synth.Message(int64(i), synth.Start+int64(i)*50*us, 2*delay)
			leave := r.Intended + delay
			if i >= 60 {
				leave = max(leave, settled[i-60]+delay)
			}
			r = r.Arrive(leave + delay)
			settled = append(settled, r.Settled)
			l.Rows = append(l.Rows, r)
		}
		return reportOf(t, l)
	}
	near, far := capped(5*ms), capped(50*ms)
	text, _, _, _ := texts(t, near)
	if !strings.Contains(text, "receiving side: not determined") || !strings.Contains(text, "up to 60 messages (60.0 KiB of bodies) of a consumer were unsettled, at a round trip of 10.0ms") {
		t.Errorf("alone:\n%s", text)
	}
	if !strings.Contains(text, "from the acknowledgement to the consumer, 0ns waiting in the consumer, 0ns in its work") {
		t.Errorf("no way:\n%.1500s", text)
	}
	report.JudgeTogether([]*report.Report{near, far})
	for _, r := range []*report.Report{near, far} {
		if l := r.Limits[1]; l.Held != checks.ByBrokerCap || *l.Messages < 57 || *l.Messages > 63 {
			t.Errorf("together: %+v", l)
		}
	}
}
