package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func newRun() *run { return &run{Values: map[string]float64{}, Texts: map[string]string{}} }

func TestSpread(t *testing.T) {
	t.Parallel()
	tests := []struct {
		values []float64
		want   spread
	}{
		{nil, spread{}},
		{[]float64{7}, spread{7, 7, 7, 1}},
		{[]float64{3, 1, 2}, spread{2, 1, 3, 3}},
		{[]float64{4, 1, 2, 10}, spread{3, 1, 10, 4}},
	}
	for _, tt := range tests {
		if got := spreadOf(tt.values); got != tt.want {
			t.Errorf("%v: got %+v, want %+v", tt.values, got, tt.want)
		}
	}
}

// TestRatio pairs by repetition: a repetition that failed on one side counts on neither.
func TestRatio(t *testing.T) {
	t.Parallel()
	one := func(rep int, v float64) run { return run{Rep: rep, Values: map[string]float64{"x": v}} }
	ours := &row{runs: []run{one(0, 100), one(1, 50), one(2, 70)}}
	theirs := &row{runs: []run{one(1, 10), one(0, 10), {Rep: 2, Error: "died"}}}
	if got, want := ratio(ours, theirs, "x"), (spread{7.5, 5, 10, 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	got, err := parseStat("12 (a) b) S 1 77 12 0 -1 4194304 9 9 0 0 250 50 1 1 20 0 1 0 123 456 789")
	if want := (stat{77, 3 * time.Second}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if _, err := parseStat("12 (a) S 1"); err == nil {
		t.Error("a short line was accepted")
	}
}

func TestInterpolate(t *testing.T) {
	t.Parallel()
	zero := time.Unix(100, 0)
	samples := []usage{{zero, 0}, {zero.Add(time.Second), 500 * time.Millisecond}, {zero.Add(2 * time.Second), time.Second}}
	for at, want := range map[time.Duration]time.Duration{-time.Second: 0, 500 * time.Millisecond: 250 * time.Millisecond, 5 * time.Second: time.Second} {
		if got := interpolate(samples, zero.Add(at)); got != want {
			t.Errorf("at %v: got %v, want %v", at, got, want)
		}
	}
}

func TestReadArtemis(t *testing.T) {
	t.Parallel()
	r := newRun()
	from, to, err := readArtemis([]byte(`[
{"sampleType":"interval","warmup":true,"time":1000,"sent":10,"received":9},
{"sampleType":"interval","warmup":false,"time":2000,"sent":100,"received":80},
{"sampleType":"interval","warmup":false,"time":3010,"sent":300,"received":100},
{"sampleType":"summary","time":3500,"result":"success","totalSent":410,"totalReceived":189,
 "totalSendTime":{"mean":"1.5","50":2,"99":30,"99.9":31,"max":40,"count":400},"totalTransferTime":{"count":0}}
]`), r)
	if err != nil {
		t.Fatal(err)
	}
	if span := to.Sub(from); span != 2010*time.Millisecond {
		t.Errorf("span %v", span)
	}
	want := map[string]float64{"sent_per_s": 200, "recv_per_s": 90, "sent_total": 410, "recv_total": 189, "service.50": 2, "service.99": 30, "service.99.9": 31, "service.max": 40}
	same(t, r.Values, want)
	if r.Texts["result"] != "success" {
		t.Errorf("result %q", r.Texts["result"])
	}
	if _, _, err := readArtemis([]byte(`[{"sampleType":"summary","totalSent":5}]`), newRun()); err == nil {
		t.Error("a run without a measured interval was accepted")
	}
}

func TestPerfTest(t *testing.T) {
	t.Parallel()
	p := &perftestReader{begun: make(chan time.Duration, 1)}
	at := time.Unix(1, 0)
	for i, line := range strings.Split(`id: test, starting producer #0
id: test, time 1.004 s, sent: 646 msg/s, confirmed: 646 msg/s, nacked: 0 msg/s, received: 645 msg/s, min/median/75th/95th/99th consumer latency: 365/5246/55723/76579/85705 µs, confirm latency: 252/2788/34879/181687/184687 µs
id: test, time 2.005 s, sent: 1378 msg/s, confirmed: 1377 msg/s, nacked: 0 msg/s, received: 1300.0 msg/s, min/median/75th/95th/99th consumer latency: 235/1092/3461/8647/15520 µs, confirm latency: 167/672/2478/12294/23218 µs
id: test, time 3.004 s, sent: 1000 msg/s, confirmed: 1001 msg/s, nacked: 0 msg/s, received: 1100 msg/s, min/median/75th/95th/99th consumer latency: 203/498/686/1681/3634 µs, confirm latency: 125/376/523/1220/2994 µs
id: test, sending rate avg: 1120 msg/s
id: test, receiving rate avg: 1120 msg/s
id: test, consumer latency min/median/75th/95th/99th 203/727/2287/34750/73904 µs
id: test, confirm latency min/median/75th/95th/99th 137/517/1426/33733/181162 µs`, "\n") {
		p.line(at.Add(time.Duration(i)*time.Second), line)
	}
	select {
	case since := <-p.begun:
		if since != 1004*time.Millisecond {
			t.Errorf("begun %v before the first line", since)
		}
	default:
		t.Error("the begin was not seen")
	}
	r, l := newRun(), load{seconds: 2, warmup: 1}
	if err := p.result(l, r); err != nil {
		t.Fatal(err)
	}
	same(t, r.Values, map[string]float64{"sent_per_s": 1189, "recv_per_s": 1200, "sent_total": 1120 * 3.004, "service.50": 517, "service.99": 181162,
		"transit.50": 727, "transit.99": 73904, "service.99_second": 23218, "transit.99_second": 15520})
	if from, to := p.span(l); to.Sub(from) != 2*time.Second {
		t.Errorf("span %v", to.Sub(from))
	}
}

func TestReadReport(t *testing.T) {
	t.Parallel()
	r := newRun()
	err := readReport([]byte(`{"schema":"report/1","counts":{"sent":5},"config":{"peer_product":"b","peer_version":"1"},
"rates":{"sent_per_s":10,"received_per_s":null},"metrics":{"lag":{"max_ns":2000,"infinite":1,"quantiles":{"99":{"value_ns":null,"observed_ns":1500}}}},
"checks":[{"id":"C3","status":"ok"}],"stalls":[{"length_ns":1e8,"messages":100,"carried_by":"broker"}]}`), r)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r.Values, map[string]float64{"n.sent": 5, "sent_per_s": 10, "lag.max": 2, "lag.infinite": 1, "lag.99": 1.5})
	if r.Texts["C3"] != "ok" || r.Texts["stalls"] != "100 ms, 100 messages, carried by broker" || r.Texts["peer"] != "b 1" {
		t.Errorf("texts %v", r.Texts)
	}
	if err := readReport([]byte(`{"schema":"report/2"}`), newRun()); err == nil {
		t.Error("an unknown schema was accepted")
	}
}

func same(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for key, w := range want {
		if g, ok := got[key]; !ok || g != w {
			t.Errorf("%s: got %v, want %v", key, g, w)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s: %v was not expected", key, got[key])
		}
	}
}

func TestSection(t *testing.T) {
	t.Parallel()
	one := func(tool string, rep int, rate float64) run {
		return run{Case: "max", Broker: "artemis", Param: "100 in flight", Tool: tool, Rep: rep, Seconds: 10, Warmup: 5,
			Commands: []string{tool + " --go"}, Values: map[string]float64{"recv_per_s": rate, "other_cores": 0.1}}
	}
	failed := run{Case: "max", Broker: "artemis", Param: "100 in flight", Tool: "b", Rep: 1, Error: "exit | 1"}
	s := &set{Warm: map[string]float64{"artemis": 15}, Runs: []run{one("a", 0, 160000), one("b", 0, 16000), one("a", 1, 180000), failed}}
	got := s.section(allCases()[0], "artemis")
	for _, want := range []string{
		"2 interleaved repetitions", "after 5 s that are not counted", "for 15 s.",
		"| load | tool | runs | received/s | the first of this load is … times it |",
		"| 100 in flight | a | 2 | 170,000 (160,000–180,000) |  |\n",
		"| 100 in flight | b | 1 | 16,000 | **10.00** |\n",
		`- failed, repetition 2: 100 in flight, b: exit \| 1`, "a --go",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if strings.Contains(got, "not quiet") {
		t.Error("0.1 of a processor is no busy machine")
	}
	if s.section(allCases()[0], "rabbitmq") != "" {
		t.Error("a section of what was not run")
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "page.md")
	text := "# P\n<!-- bench max/artemis -->\nnot measured yet\n<!-- /bench max/artemis -->\nend\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	r := run{Case: "max", Broker: "artemis", Param: "p", Tool: "a", Values: map[string]float64{"recv_per_s": 5}}
	other := r
	other.Broker = "nowhere"
	s := &set{Runs: []run{r, other}}
	if err := s.update(path); err == nil || !strings.Contains(err.Error(), "max/nowhere") {
		t.Errorf("a missing place: %v", err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(got)
	if strings.Contains(page, "not measured yet") || !strings.Contains(page, "| p | a |") || !strings.HasSuffix(page, "<!-- /bench max/artemis -->\nend\n") {
		t.Errorf("got\n%s", page)
	}
}

// TestAhead: the ratios of all brokers, the worst first, and none of ours against ours.
func TestAhead(t *testing.T) {
	t.Parallel()
	r := func(broker, tool string, rate float64) run {
		return run{Case: "max", Broker: broker, Param: "p", Tool: tool, Values: map[string]float64{"recv_per_s": rate}}
	}
	s := &set{Runs: []run{r("a", ourName, 100), r("a", "x", 50), r("a", ourName+", --client library", 30), r("b", ourName, 100), r("b", "y", 200)}}
	want := "| b | p | y | **0.50** |\n| a | p | x | **2.00** |\n"
	if got := s.ahead(); !strings.HasSuffix(got, "|---|---|---|--:|\n"+want) {
		t.Errorf("got\n%s", got)
	}
	if got := (&set{}).ahead(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}

// TestPage: docs/performance.md or docs/peers.md has a place for every case on every broker it is meant for.
func TestPage(t *testing.T) {
	t.Parallel()
	var text []byte
	for _, path := range []string{"../../docs/performance.md", "../../docs/peers.md"} {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, page...)
	}
	for _, c := range allCases() {
		for _, broker := range c.brokers {
			if _, ok := replace(string(text), c.name+"/"+broker, ""); !ok {
				t.Errorf("no place for %s/%s", c.name, broker)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{group(999), "999"}, {group(162000.4), "162,000"}, {group(1234567), "1,234,567"}, {group(-1234), "-1,234"}, {group(-123), "-123"},
		{span(55.4), "55 µs"}, {span(1500), "1.5 ms"}, {span(1_014_000), "1,014 ms"}, {span(12_340_000), "12.3 s"},
		{percent(99.96), "99.96"}, {whole(9.6), "10"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
	if got, err := numbers("1, 100 1000"); err != nil || !slices.Equal(got, []int{1, 100, 1000}) {
		t.Errorf("numbers: %v, %v", got, err)
	}
	for _, bad := range []string{"", "0", "x", "-1"} {
		if _, err := numbers(bad); err == nil {
			t.Errorf("numbers %q was accepted", bad)
		}
	}
}

// TestTyped: what is printed can be typed elsewhere.
func TestTyped(t *testing.T) {
	t.Parallel()
	b := &bench{bin: "/home/x/bin", tools: map[string]string{"perftest": "/cache/perftest-2"}}
	got := b.typed([]string{"java", "-cp", "/cache/perftest-2:*"}, "/out/1")
	if want := "java -cp 'perftest:*'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := b.typed([]string{"/home/x/bin/perf-send", "-o", "/out/1/send.parquet"}, "/out/1"); got != "perf-send -o send.parquet" {
		t.Errorf("got %q", got)
	}
}

func TestTransferRate(t *testing.T) {
	t.Parallel()
	lines := "1000,0\n1999,0\n2000,0\n2500,0\n3999,0\n4000,0\n"
	got, err := transferRate(strings.NewReader(lines), 0, load{warmup: 1, seconds: 2})
	if err != nil || got != 1.5 { // 2000, 2500 and 3999: three in two seconds
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := transferRate(strings.NewReader(lines), 2, load{seconds: 2}); err == nil {
		t.Error("a line without the field was accepted")
	}
	if _, err := transferRate(strings.NewReader(lines), 0, load{warmup: 9, seconds: 2}); err == nil {
		t.Error("a run that ended before the warm-up was accepted")
	}
}

func TestOmq(t *testing.T) {
	t.Parallel()
	o := &omqReader{begun: make(chan time.Duration, 1)}
	at := time.Unix(1, 0)
	for i, line := range strings.Split(`2026/12/01 02:37:59 INFO publisher started id=0 rate=unlimited destination=q
2026/12/01 02:38:00 published=18270/s consumed=17488/s pub_min=379µs pub_max=21.2ms e2e_min=959µs e2e_max=55.2ms
2026/12/01 02:38:01 published=16000/s consumed=15000/s pub_min=0µs pub_max=35.1ms e2e_min=1.0ms e2e_max=130.9ms
2026/12/01 02:38:02 published=18000/s consumed=18000/s pub_min=730µs pub_max=84.6ms e2e_min=16.0ms e2e_max=203.2ms
2026/12/01 02:38:03 published=573/s consumed=92/s pub_min=1.5ms pub_max=900.5ms e2e_min=90.5ms e2e_max=94.9ms
2026/12/01 02:38:03 TOTAL PUBLISHED messages=53483 confirmed=53483 returned=0 rate=13285.31/s
2026/12/01 02:38:03 TOTAL CONSUMED messages=51523 rate=12798.36/s`, "\n") {
		o.line(at.Add(time.Duration(i)*time.Second), line)
	}
	if since := <-o.begun; since != time.Second {
		t.Errorf("begun %v before the first line", since)
	}
	r := newRun()
	from, to, err := o.result(load{seconds: 2, warmup: 1}, r)
	if err != nil {
		t.Fatal(err)
	}
	same(t, r.Values, map[string]float64{"sent_per_s": 17000, "recv_per_s": 16500, "sent_total": 53483, "recv_total": 51523})
	if span := to.Sub(from); span != 2*time.Second {
		t.Errorf("span %v", span)
	}
	if want := "worst pub_max 85 ms, worst e2e_max 203 ms, no percentile"; r.Texts["status"] != want {
		t.Errorf("got %q, want %q", r.Texts["status"], want)
	}
	if _, _, err := o.result(load{seconds: 2, warmup: 9}, newRun()); err == nil {
		t.Error("a run without a line after the warm-up was accepted")
	}
}

func TestUnwindowedToolsNeedThePath(t *testing.T) {
	t.Parallel()
	k := &broker{name: "artemis"}
	with, without := &bench{tools: map[string]string{"quiver": "/q", "omq": "/o"}, windows: []int{1, 100}, clients: []string{""}}, &bench{windows: []int{1, 100}, clients: []string{""}}
	kinds := func(b *bench) (all []string) {
		for _, v := range maxRate(b, k) {
			all = append(all, v.kind)
		}
		return all
	}
	if got := kinds(without); slices.Contains(got, "omq") || slices.Contains(got, "quiver") {
		t.Errorf("tools that are not there: %v", got)
	}
	if got := kinds(with); len(got) != len(kinds(without))+4 { // omq for both windows, quiver once, beside ours without a window
		t.Errorf("got %v", got)
	}
}
