package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/report"
)

func verdict(t *testing.T, r *report.Report, id string, want report.CheckStatus) report.Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.ID == id {
			if c.Status != want {
				t.Errorf("%s is %s (%s), want %s", id, c.Status, c.Text, want)
			}
			return c
		}
	}
	t.Errorf("no check %s", id)
	return report.Check{}
}

func status(t *testing.T, r *report.Report, metric, p string, want report.Status) report.Quantile {
	t.Helper()
	q, ok := r.Metrics.Get(metric).Quantile(p)
	if !ok || q.Status != want {
		t.Errorf("%s p%s is %q, want %q", metric, p, q.Status, want)
	}
	withheld := want == report.Infinite || want == report.ClockUnknown || want == report.Uncertain
	if withheld != (q.Value == nil) {
		t.Errorf("%s p%s has status %s and value %v", metric, p, q.Status, q.Value)
	}
	return q
}

func says(t *testing.T, r *report.Report, part string) {
	t.Helper()
	if !strings.Contains(strings.Join(r.Findings, "\n"), part) {
		t.Errorf("no finding says %q:\n%s", part, strings.Join(r.Findings, "\n"))
	}
}

// The first truth: with --max-pending 1 response shows about a hundred slow
// messages and service one, and the report says why; at 1000 both show them.
func TestStallThroughTheWindow(t *testing.T) {
	t.Parallel()
	r := reportOf(t, stalled(1))
	says(t, r, "messages waited for the window (--max-pending 1)")
	says(t, r, "98 % of the time of the 125 messages above p99 of response (200us) is blocked by window")
	if r.Loop != report.Open { // 125 of 28,000 waited
		t.Errorf("loop %s", r.Loop)
	}
	if len(r.Stalls) != 1 || r.Stalls[0].CarriedBy != reduce.ByWindow {
		t.Errorf("stalls %+v", r.Stalls)
	}
	r = reportOf(t, stalled(1000))
	says(t, r, "100 % of the time of the 112 messages above p99 of response (200us) is service")
	if r.Finding() == "" || strings.Contains(r.Finding(), "determined by") { // 112 of 28,000 messages
		t.Errorf("%q stands in titles", r.Finding())
	}
	if len(r.Stalls) != 1 || r.Stalls[0].CarriedBy != reduce.ByBroker {
		t.Errorf("stalls %+v", r.Stalls)
	}
}

// An episode that hit a hundredth of the messages or more is what titles say, unless
// they waited in the sender: then it is what for.
func TestHeavyStallIsTheTitle(t *testing.T) {
	t.Parallel()
	q := synth.Queue{N: 4000, Interval: 1e6, Service: ms / 2, StallAt: 2000 * ms, StallFor: 400 * ms, Serial: true}
	if got := reportOf(t, q.Run()).Finding(); !strings.HasPrefix(got, "p99.9 is determined by one event") || !strings.HasSuffix(got, "carried by the broker") {
		t.Errorf("%q", got)
	}
	q.Window = 1
	if got := reportOf(t, q.Run()).Finding(); !strings.Contains(got, "messages waited for the window") {
		t.Errorf("%q", got)
	}
}

func TestK5ReportsOverload(t *testing.T) {
	t.Parallel()
	r := reportOf(t, synth.Queue{N: 36_000, Interval: 1e9 / 1200.0, Service: ms, Serial: true, Transit: 100 * us}.Run())
	verdict(t, r, "C7", report.CheckFail)
	status(t, r, "response", "50", report.Nonstationary)
	status(t, r, "e2e", "99", report.Nonstationary)
	status(t, r, "lag", "50", report.OK)
	says(t, r, "overload: offered 1,200/s, achieved 1,000/s acked; the backlog grows by 200 messages a second and the response by 200ms per second")
}

func TestK6ReportsCensoring(t *testing.T) {
	t.Parallel()
	r := reportOf(t, logs()["server-dies"]())
	verdict(t, r, "C23", report.CheckFail)
	status(t, r, "response", "99", report.Infinite)
	if q, _ := r.Metrics.Get("response").Quantile("90"); q.Observed == nil || *q.Observed != 200*us || q.Status == report.Infinite {
		t.Errorf("p90 %+v", q)
	}
	if r.Overload != nil {
		t.Error("a broker that died was called overloaded")
	}
}

func TestK7ReportsLoss(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 100_000, Interval: 1e6, Network: 100 * us, Transit: 200 * us}.Run()
	for i := 250; i < len(l.Rows); i += 500 {
		l.Rows[i] = l.Rows[i].Lose()
	}
	r := reportOf(t, l)
	status(t, r, "e2e", "99", report.OK)
	status(t, r, "e2e", "99.9", report.Infinite)
	verdict(t, r, "C1", report.CheckWarn)
	says(t, r, "200 messages that the broker took never arrived (0.2 % of those it should have delivered): e2e quantiles above p99.8 are infinite")
	if r.Overload != nil {
		t.Error("loss was called overload")
	}
}

func TestK12ReportsTheWindow(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 80_000, Interval: 125_000, Service: 2 * ms, Window: 10, Transit: -1}.Run()
	for name, meta := range map[string]format.Meta{"window known": synth.Config(map[string]any{"rate": "8k", "max-pending": 10}, nil, ""), "no perf.config": nil} {
		l.Meta = meta
		r := reportOf(t, l)
		verdict(t, r, "C4", report.CheckFail)
		verdict(t, r, "C5", report.CheckWarn)
		if r.Loop != report.PartlyClosed {
			t.Errorf("%s: loop %s", name, r.Loop)
		}
		says(t, r, "offered 8,000/s, achieved 5,000/s acked")
	}
}

// Without a window that anybody waited for, constant latency is no limit (K3).
func TestConstantLatencyIsNoWindow(t *testing.T) {
	t.Parallel()
	r := reportOf(t, synth.Queue{N: 20_000, Interval: 1e6, Service: 10 * ms, Transit: -1}.Run())
	verdict(t, r, "C5", report.CheckSkip)
	says(t, r, "no back-pressure")
}

func TestK17ReportsCausality(t *testing.T) {
	t.Parallel()
	r := reportOf(t, logs()["negative-one-way"]())
	verdict(t, r, "C17", report.CheckFail)
	q := status(t, r, "transit", "50", report.ClockUnknown)
	if q.Observed == nil || *q.Observed != -4*ms {
		t.Errorf("observed %v", q.Observed)
	}
	status(t, r, "e2e", "99", report.ClockUnknown)
	status(t, r, "handled", "99", report.ClockUnknown)
	status(t, r, "queued", "50", report.OK)
	says(t, r, "clock offset unknown: transit, e2e and handled are withheld; by causality the receiver's clock is behind the sender's by at least 4.00ms")
}

// A bound above a quarter of the median withholds, one below does not.
func TestBoundWithholds(t *testing.T) {
	t.Parallel()
	for bound, want := range map[int64]report.Status{260 * us: report.ClockUnknown, 240 * us: report.OK} {
		l := synth.Queue{N: 20_000, Interval: 1e6, Service: ms, Transit: 0}.Run()
		for i := range l.Rows {
			l.Rows[i].Bound = bound
		}
		status(t, reportOf(t, l), "transit", "50", want)
	}
}

func TestLoop(t *testing.T) {
	t.Parallel()
	blocked := func(share int) *synth.Log {
		l := synth.Queue{N: 10_000, Interval: 1e6, Service: ms, Transit: -1}.Run()
		for i := range l.Rows {
			if i%100 < share {
				l.Rows[i].Sent, l.Rows[i].Acked, l.Rows[i].Wait = l.Rows[i].Sent+2*ms, l.Rows[i].Acked+2*ms, format.WaitWindow
			}
		}
		return l
	}
	for name, c := range map[string]struct {
		log  *synth.Log
		rate string
		want report.Loop
	}{
		"nobody waits":         {blocked(0), "1k", report.Open},
		"one in a hundred":     {blocked(1), "1k", report.PartlyClosed},
		"everybody":            {blocked(100), "1k", report.PartlyClosed},
		"everybody, no config": {blocked(100), "", report.PartlyClosed},
		"max":                  {blocked(0), "max", report.Closed},
	} {
		if c.rate != "" {
			c.log.Meta = synth.Config(map[string]any{"rate": c.rate}, nil, "")
		}
		if got := reportOf(t, c.log).Loop; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A closed loop shows no response and no e2e, and every format says so.
func TestClosedLoop(t *testing.T) {
	t.Parallel()
	r := reportOf(t, logs()["closed"]())
	var b bytes.Buffer
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(b.String(), "\n") {
		if strings.HasPrefix(line, "  response") || strings.HasPrefix(line, "  e2e") {
			t.Errorf("shown: %s", line)
		}
	}
	if !strings.Contains(b.String(), "closed loop") {
		t.Error("not called a closed loop")
	}
}

// K22: one run in any order of rows gives byte-identical reports.
func TestK22Identical(t *testing.T) {
	t.Parallel()
	l := overload()
	for i := range l.Rows {
		l.Rows[i].Producer, l.Rows[i].Seq = int32(i%3), int64(i/3)
		l.Rows[i].Consumer = int32(i % 2)
	}
	render := func(l *synth.Log, batch int) string {
		warmup := 3 * time.Second
		d, err := reduce.Reduce(l.Reader(batch), reduce.Options{Warmup: &warmup})
		if err != nil {
			t.Fatal(err)
		}
		r := report.New(d, report.Options{})
		var b bytes.Buffer
		for _, write := range []func() error{
			func() error { return r.Text(&b) }, func() error { return r.Markdown(&b) },
			func() error { return r.CSV(&b, true) }, func() error { return r.JSON(&b) },
		} {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		return b.String()
	}
	want := render(l, 65536)
	for seed := range uint64(3) {
		if render(l.Shuffle(seed), 1000+int(seed)*777) != want {
			t.Errorf("seed %d: the report differs", seed)
		}
	}
}

// Text of peers and files cannot break out of any format.
func TestHostileText(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 10, Interval: 1e6, Service: ms, Transit: -1}.Run()
	evil := "=cmd|'\x1b[31m\r\n<script>|`*"
	for i := range l.Rows {
		l.Rows[i].Run = evil
	}
	l.Meta = synth.Config(nil, map[string]any{"k\n|": evil}, evil)
	r := reportOf(t, l)
	var text, md, csv, js bytes.Buffer
	for _, err := range []error{r.Text(&text), r.Markdown(&md), r.CSV(&csv, true), r.JSON(&js)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, out := range map[string]string{"text": text.String(), "markdown": md.String(), "csv": csv.String(), "json": js.String()} {
		if strings.ContainsAny(out, "\x1b\r") {
			t.Errorf("%s lets control characters through", name)
		}
	}
	if strings.Contains(md.String(), "<script>") {
		t.Error("markdown lets HTML through")
	}
	if strings.Contains(csv.String(), "\n=") || strings.Contains(csv.String(), ",=") {
		t.Error("csv lets a formula through")
	}
	if !json.Valid(js.Bytes()) {
		t.Error("invalid JSON")
	}
}

// The fields of design.md are all there.
func TestJSONFields(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := reportOf(t, logs()["stall-window-1"]()).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"schema", "run", "name", "labels", "config", "loop", "counts", "warmup", "rates", "metrics", "bracket", "clock", "checks", "stalls", "warnings", "series"} {
		if got[key] == nil {
			t.Errorf("no %s", key)
		}
	}
	var metrics map[string]struct {
		N         *int64 `json:"n"`
		Quantiles map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(got["metrics"], &metrics); err != nil {
		t.Fatal(err)
	}
	for _, m := range []string{"lag", "blocked", "service", "response", "transit", "e2e", "queued", "work", "handled"} {
		for _, p := range []string{"50", "90", "99", "99.9", "99.99"} {
			for _, key := range []string{"value_ns", "low_ns", "high_ns", "events", "observed_ns", "status"} {
				if metrics[m].Quantiles[p][key] == nil {
					t.Errorf("metrics.%s.quantiles.%s lacks %s", m, p, key)
				}
			}
		}
	}
}

// Instants in an order that cannot be are kept, counted and said.
func TestOddInstants(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 100, Interval: 1e6, Service: ms, Transit: ms}.Run()
	l.Rows[3].Acked = l.Rows[3].Sent - ms
	l.Rows[4].Sent = l.Rows[4].Intended - 2*ms
	l.Rows[5].Received = l.Rows[5].Sent - 3*ms
	l.Rows[6].Acked = synth.Null
	l.Rows[7].Outcome = "odd"
	r := reportOf(t, l)
	for _, want := range []string{
		"acked before sent: 1 message;", "sent before intended: 1 message",
		"received before sent: 1 message;", "lacking an instant and in no latency: 1 message", "does not know: 1 message",
	} {
		if !strings.Contains(strings.Join(r.Warnings, "\n"), want) {
			t.Errorf("no warning %q in %q", want, r.Warnings)
		}
	}
	if m := r.Metrics.Get("service"); *m.Min != -ms || m.Negative != 1 || m.N != 98 {
		t.Errorf("service %+v", m)
	}
	if m := r.Metrics.Get("transit"); *m.Min != -3*ms || m.N != 100 {
		t.Errorf("transit %+v", m)
	}
	verdict(t, r, "C17", report.CheckFail) // by more than the bound, which is 0
	verdict(t, r, "C1", report.CheckOK)
}

// Accepted with a bound that explains it, received before sent is a warning.
func TestCausalityWithinTheBound(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 100, Interval: 1e6, Service: ms, Transit: 0}.Run()
	for i := range l.Rows {
		l.Rows[i].Bound = 10 * us
	}
	l.Rows[5].Received = l.Rows[5].Sent - 9*us
	verdict(t, reportOf(t, l), "C17", report.CheckWarn)
}
