package checks_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
)

const (
	us  = synth.Microsecond
	ms  = synth.Millisecond
	sec = synth.Second
)

// tables are rows with side tables.
type tables struct {
	*synth.Reader
	samples format.Sample
	clocks  format.ClockRow
}

func (s *tables) Table(b format.Batch) error {
	switch b := b.(type) {
	case *format.Sample:
		*b = s.samples
	case *format.ClockRow:
		*b = s.clocks
	}
	return nil
}

func text(s *format.Strings, v string) {
	for i, known := range s.Values {
		if known == v {
			s.Codes = append(s.Codes, int32(i))
			return
		}
	}
	s.Values = append(s.Values, v)
	s.Codes = append(s.Codes, int32(len(s.Values)-1))
}

// sample adds a value at each second of a process.
func (s *tables) sample(what string, values ...int64) {
	for i, v := range values {
		s.samples.Instant = append(s.samples.Instant, synth.Start+int64(i)*sec)
		text(&s.samples.What, what)
		s.samples.Value = append(s.samples.Value, v)
	}
}

// clock adds states of a clock, a second apart.
func (s *tables) clock(source string, maxError int64, offsets ...int64) {
	c := &s.clocks
	for i, o := range offsets {
		c.Instant = append(c.Instant, synth.Start+int64(i)*sec)
		text(&c.Source, source)
		c.Peer.Codes = append(c.Peer.Codes, -1)
		for _, column := range []*[]int64{&c.T1, &c.T2, &c.T3, &c.T4, &c.Status, &c.EstError} {
			*column = append(*column, format.Null)
		}
		c.WallOffset, c.Gap, c.MaxError = append(c.WallOffset, o), append(c.Gap, 100), append(c.MaxError, maxError)
		c.Freq, c.Tick = append(c.Freq, 0), append(c.Tick, 10_000)
	}
}

func run(l *synth.Log) *tables { return &tables{Reader: l.Reader(4096)} }

// steady is 20 s of 1000/s with a service of about 1 ms.
func steady() *synth.Log {
	rng := rand.New(rand.NewPCG(1, 1))
	l := &synth.Log{}
	for i := range int64(20_000) {
		r := synth.Message(i, synth.Start+i*ms, ms+rng.Int64N(ms/20))
		l.Rows = append(l.Rows, r.Arrive(r.Acked+100*us))
	}
	return l
}

func change(f func(i int, r *synth.Row)) *synth.Log {
	l := steady()
	for i := range l.Rows {
		f(i, &l.Rows[i])
	}
	return l
}

func data(t *testing.T, rows reduce.Rows) *reduce.Data {
	t.Helper()
	d, err := reduce.Reduce(rows, reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func verdict(t *testing.T, in checks.Input, id string, want checks.Status, says string) {
	t.Helper()
	for _, c := range checks.Run(in) {
		if c.ID != id {
			continue
		}
		if c.Status != want || !strings.Contains(c.Text, says) {
			t.Errorf("%s is %s (%s), want %s (%s)", id, c.Status, c.Text, want, says)
		}
		if bad := c.Status == checks.Warn || c.Status == checks.Fail; bad != (c.Advice != "") {
			t.Errorf("%s is %s and advises %q", id, c.Status, c.Advice)
		}
		return
	}
	t.Errorf("no check %s", id)
}

// Nothing is wrong with a steady run, and what it has no data for is skipped.
func TestSteady(t *testing.T) {
	t.Parallel()
	in := checks.Input{Data: data(t, run(steady()))}
	all := checks.Run(in)
	if len(all) != 25 {
		t.Fatalf("%d checks", len(all))
	}
	skipped := " C5 C11 C12 C13 C14 C15 C20 C21 C22 C25 "
	for i, c := range all {
		if c.ID != "C"+strings.TrimLeft(string(rune('0'+(i+1)/10)), "0")+string(rune('0'+(i+1)%10)) {
			t.Errorf("check %d is %s", i, c.ID)
		}
		want := checks.OK
		if strings.Contains(skipped, " "+c.ID+" ") {
			want = checks.Skip
		} else if c.ID == "C10" {
			want = checks.Fail // p99.99 of 20,000 messages
		}
		if c.Status != want || c.Text == "" || c.Limit == "" {
			t.Errorf("%s is %s (%s)", c.ID, c.Status, c.Text)
		}
	}
	if got := checks.Run(checks.Input{Data: &reduce.Data{}}); got != nil {
		t.Errorf("an empty run has checks: %v", got)
	}
}

// K26: a generator that stands still for 100 ms is the tool's fault; the upper
// end of the bracket has it, the lower one has not.
func TestK26GeneratorStops(t *testing.T) {
	t.Parallel()
	stop := func(length int64) *synth.Log {
		return change(func(_ int, r *synth.Row) {
			if since := r.Intended - (synth.Start + 10*sec); since >= 0 && since < length {
				late := length - since
				r.Ready, r.Sent, r.Acked = r.Ready+late, r.Sent+late, r.Acked+late
			}
		})
	}
	d := data(t, run(stop(400*ms)))
	verdict(t, checks.Input{Data: d}, "C3", checks.Warn, "the generator was late in an episode of 401ms from 10.000 s")
	rare := change(func(i int, r *synth.Row) {
		if i%20 == 7 {
			r.Ready, r.Sent, r.Acked = r.Ready+3*ms/2, r.Sent+3*ms/2, r.Acked+3*ms/2
		}
	})
	for i := range rare.Rows { // in order, one pacer
		if i > 0 && rare.Rows[i].Ready < rare.Rows[i-1].Ready {
			r, shift := &rare.Rows[i], rare.Rows[i-1].Ready-rare.Rows[i].Ready
			r.Ready, r.Sent, r.Acked = r.Ready+shift, r.Sent+shift, r.Acked+shift
		}
	}
	verdict(t, checks.Input{Data: data(t, run(rare))}, "C3", checks.Fail, "100 % of response p50 1.03ms")
	slight := change(func(_ int, r *synth.Row) { r.Ready, r.Sent, r.Acked = r.Ready+80*us, r.Sent+80*us, r.Acked+80*us })
	verdict(t, checks.Input{Data: data(t, run(slight))}, "C3", checks.Warn, "lag p50 80.0us")
	for i, q := range d.Metrics[reduce.Response].Quantiles {
		if low := d.Bracket.Lower[i].Value; q.Percentile.String() == "99" && (q.Observed < 100*ms || low > 2*ms) {
			t.Errorf("p99: %d to %d", low, q.Observed)
		}
	}
}

func TestArrivalProcess(t *testing.T) {
	t.Parallel()
	burst := change(func(_ int, r *synth.Row) {
		late := 8*ms - (r.Intended-synth.Start)%(8*ms)
		r.Ready, r.Sent, r.Acked = r.Ready+late, r.Sent+late, r.Acked+late
	})
	verdict(t, checks.Input{Data: data(t, run(burst))}, "C6", checks.Fail, "dispersion of counts in 1ms: 7 handed over, 0 intended")
	rng := rand.New(rand.NewPCG(6, 6))
	at := 0.0
	poisson := change(func(_ int, r *synth.Row) {
		at += rng.ExpFloat64() * float64(ms)
		r.Intended = synth.Start + int64(at)
		r.Ready, r.Sent, r.Acked = r.Intended, r.Intended, r.Intended+ms
	})
	poisson.Meta = synth.Config(map[string]any{"rate": "1k", "arrivals": "poisson"}, nil, "")
	verdict(t, checks.Input{Data: data(t, run(poisson))}, "C6", checks.OK, "A*² of 4096 gaps")
	grid := change(func(_ int, r *synth.Row) {})
	grid.Meta = poisson.Meta
	verdict(t, checks.Input{Data: data(t, run(grid))}, "C6", checks.Fail, "A*² of 4096 gaps")
}

func TestSeriesChecks(t *testing.T) {
	t.Parallel()
	slower := func(by func(i int) float64) *synth.Log {
		return change(func(i int, r *synth.Row) { r.Acked = r.Sent + int64(float64(r.Acked-r.Sent)*by(i)) })
	}
	for name, c := range map[string]struct {
		by       func(i int) float64
		c8, c9   checks.Status
		c9says   string
		overload bool
	}{
		"steady":    {func(int) float64 { return 1 }, checks.OK, checks.OK, "no trend and no step", false},
		"drift":     {func(i int) float64 { return 1 + 0.1*float64(i)/20_000 }, checks.Fail, checks.Warn, "p50 drifts by +9", false},
		"far drift": {func(i int) float64 { return 1 + 0.5*float64(i)/20_000 }, checks.Fail, checks.Fail, "p50 drifts by +3", false},
		"step": {func(i int) float64 {
			if i < 10_000 {
				return 1
			}
			return 1.15
		}, checks.OK, checks.Fail, "p50 steps by +15 % at 10", false},
		"overload": {func(int) float64 { return 1 }, checks.Skip, checks.Skip, "overload", true},
	} {
		in := checks.Input{Data: data(t, run(slower(c.by))), Overloaded: c.overload}
		verdict(t, in, "C9", c.c9, c.c9says)
		if name == "steady" || name == "overload" {
			verdict(t, in, "C8", c.c8, "")
		}
	}
	late := slower(func(i int) float64 {
		if i < 7000 {
			return 5
		}
		return 1
	})
	verdict(t, checks.Input{Data: data(t, run(late))}, "C8", checks.Warn, "first 35 %")
	late = slower(func(i int) float64 {
		if i < 13_000 {
			return 5
		}
		return 1
	})
	verdict(t, checks.Input{Data: data(t, run(late))}, "C8", checks.Fail, "first 65 %")
}

func TestHost(t *testing.T) {
	t.Parallel()
	rows := run(steady())
	rows.sample("tool.hiccup_p999_ns", 200_000, 300_000, 250_000)
	rows.sample("tool.hiccup_p999_ns", 100_000, 90_000_000, 110_000) // another process, one bad second
	rows.sample("tool.hiccup_max_ns", 300_000, 95_000_000, 300_000)
	rows.sample("tool.cpu_ns", 1e9, 2.5e9, 4e9)
	rows.sample("tool.gomaxprocs_count", 2, 2, 2)
	rows.sample("host.cpu_steal_ppm", 0, 6000, 3000)
	in := checks.Input{Data: data(t, rows)}
	verdict(t, in, "C11", checks.Warn, "hiccups p99.9 250us of a second (longest 95.0ms), 24 % of response p99.9 1.05ms; 0.3 % of the CPU stolen")
	verdict(t, in, "C12", checks.Warn, "used 75 % of its processors")
	rows = run(steady())
	rows.sample("host.cpu_steal_ppm", 60_000)
	rows.sample("tool.cpu_ns", 0, 0.9e9)
	in = checks.Input{Data: data(t, rows)}
	verdict(t, in, "C11", checks.Fail, "6.0 % of the CPU stolen")
	verdict(t, in, "C12", checks.Fail, "used 90 %")
	rows = run(steady())
	rows.sample("conn.reader_busy_ppm", 900_000)
	verdict(t, checks.Input{Data: data(t, rows)}, "C3", checks.Fail, "readers busy 90 %")
	spoils(t, data(t, rows), "C3", "transit", "e2e")
}

func spoils(t *testing.T, d *reduce.Data, id string, want ...string) {
	t.Helper()
	for _, c := range checks.Run(checks.Input{Data: d}) {
		if c.ID == id && !slices.Equal(c.Spoils, want) {
			t.Errorf("%s spoils %v, want %v", id, c.Spoils, want)
		}
	}
}

// A generator that is late spoils what its lateness is a large part of: not the
// way to the receiver, and not e2e where messages take seconds to arrive.
func TestLateGeneratorSpoils(t *testing.T) {
	t.Parallel()
	late := func(far int64) *synth.Log {
		return change(func(_ int, r *synth.Row) {
			r.Ready, r.Sent, r.Acked = r.Ready+ms, r.Sent+ms, r.Acked+ms
			*r = r.Arrive(r.Acked + far)
		})
	}
	spoils(t, data(t, run(late(0))), "C3", "response", "e2e")
	spoils(t, data(t, run(late(sec))), "C3", "response")
}

// Attempts of messages that were sent again are in the accounting of the join: of a
// new one beside the messages, of an old one as intended.
func TestAccountingOfAttempts(t *testing.T) {
	t.Parallel()
	d := data(t, run(steady()))
	d.Counts.Attempts = d.Counts.Intended + 3
	d.Counts.Outcomes[reduce.Failed] += 3
	account := reduce.Accounting{Intended: d.Counts.Intended, Attempts: d.Counts.Attempts, Received: d.Counts.Received, Lost: d.Counts.Lost, Duplicate: d.Counts.Duplicate}
	d.Accounted = &account
	verdict(t, checks.Input{Data: d}, "C1", checks.OK, "every message accounted for")
	account.Intended, account.Attempts = d.Counts.Attempts, 0
	verdict(t, checks.Input{Data: d}, "C1", checks.OK, "every message accounted for")
	account.Intended, account.Attempts = d.Counts.Intended, d.Counts.Attempts-1
	verdict(t, checks.Input{Data: d}, "C1", checks.Fail, "off by 1 messages")
}

// hosts are two logs of one boot or of two.
func hosts(boots ...string) format.Meta {
	m := format.Meta{format.KeySchema: "merged/1", format.KeyRun: "run"}
	var logs []format.Meta
	for i, b := range boots {
		logs = append(logs, format.Meta{format.KeySchema: []string{"send/1", "recv/1"}[i], format.KeyBootID: b, format.KeyComplete: "true"})
	}
	_ = m.SetJSON(format.KeySource, logs)
	return m
}

func TestClocks(t *testing.T) {
	t.Parallel()
	check := func(source string, maxError int64, boots []string, step int64, c13, c14, c15 checks.Status) {
		t.Helper()
		l := steady()
		l.Meta = hosts(boots...)
		rows := run(l)
		rows.clock(source, maxError, 1000, 1000, 1000+step, 1000+step)
		rows.clock(source, maxError, 5, 5, 5) // another process, with another offset
		in := checks.Input{Data: data(t, rows)}
		verdict(t, in, "C13", c13, source)
		verdict(t, in, "C14", c14, "maxerror")
		says := "no step"
		if c15 != checks.OK {
			says = "at 2.000 s"
		}
		verdict(t, in, "C15", c15, says)
	}
	one, two := []string{"x", "x"}, []string{"x", "y"}
	check("tsc", 16e9, one, 0, checks.OK, checks.OK, checks.OK)
	check("hpet", 500_000, two, 30_000, checks.Warn, checks.OK, checks.Warn)
	check("kvm-clock", 2e6, two, 500_000, checks.OK, checks.Warn, checks.Warn)
	check("tsc", 16e9, two, 2e6, checks.OK, checks.Fail, checks.Fail)
	check("tsc", 16e9, one, 2e6, checks.OK, checks.OK, checks.Warn)
}

func TestFloor(t *testing.T) {
	t.Parallel()
	check := func(at string, p50 int64, want checks.Status, says string) {
		t.Helper()
		l := steady()
		l.Meta = format.Meta{format.KeySchema: "send/1", format.KeyHost: "a"}
		if err := l.Meta.SetJSON("perf.calibration", format.Calibration{At: at, Host: "a", Target: format.Target{Floors: map[string]format.Floor{"response": {P50: p50, P99: 2000}}}}); err != nil {
			t.Fatal(err)
		}
		verdict(t, checks.Input{Data: data(t, run(l))}, "C21", want, says)
	}
	day := time.Unix(0, synth.Start).UTC()
	check(day.Add(-time.Hour).Format(time.RFC3339), 100_000, checks.OK, "of response p50 1.03ms the tool's own floor is 100us")
	check(day.Add(-time.Hour).Format(time.RFC3339), 300_000, checks.Warn, "")
	check(day.Add(-time.Hour).Format(time.RFC3339), 900_000, checks.Fail, "")
	check(day.Add(-8*24*time.Hour).Format(time.RFC3339), 100_000, checks.Warn, "older than seven days")
}

func TestMerge(t *testing.T) {
	t.Parallel()
	check := func(want checks.Status, says string, logs ...format.Meta) {
		t.Helper()
		l := steady()
		for i := range l.Rows {
			l.Rows[i].Sender = int32(i % 2)
		}
		if says == "a sending process had ended" {
			for i := range l.Rows {
				l.Rows[i].Sender = int32(i / 10_000)
			}
		}
		l.Meta = format.Meta{format.KeySchema: "merged/1"}
		_ = l.Meta.SetJSON(format.KeySource, logs)
		verdict(t, checks.Input{Data: data(t, run(l))}, "C22", want, says)
	}
	send := func(run, config string) format.Meta {
		return format.Meta{format.KeySchema: "send/1", format.KeyRun: run, format.KeyConfig: config}
	}
	recv := format.Meta{format.KeySchema: "recv/1", format.KeyRun: "other"} // its rows decide
	check(checks.OK, "2 send and 1 receive logs", send("run", `{"rate":"1k"}`), send("run", `{"rate":"1k"}`), recv)
	check(checks.Fail, "2 different loads", send("run", `{"rate":"1k"}`), send("run", `{"rate":"2k"}`))
	check(checks.Fail, "2 different loads", send("run", `{"rate":"1k","schedule_hash":"a"}`), send("run", `{"rate":"1k","schedule_hash":"b"}`))
	check(checks.Fail, "a send log is of run other", send("run", "{}"), send("other", "{}"))
	check(checks.Fail, "1 of 2 shares", send("run", `{"share":"0/2"}`))
	check(checks.Fail, "two senders have share 0/2", send("run", `{"share":"0/2"}`), send("run", `{"share":"0/2"}`))
	check(checks.OK, "", send("run", `{"share":"0/2"}`), send("run", `{"share":"1/2"}`))
	check(checks.Fail, "a sending process had ended", send("run", "{}"), send("run", "{}"))
}

// The join has seen more than the rows: where its verdict is worse it counts.
func TestVerdictsOfTheJoin(t *testing.T) {
	t.Parallel()
	with := func(boots []string, verdicts ...reduce.Verdict) checks.Input {
		d := *data(t, run(steady()))
		d.Logs = nil
		for _, boot := range boots {
			d.Logs = append(d.Logs, reduce.Source{Schema: "send/1", BootID: boot})
		}
		d.Verdicts = verdicts
		return checks.Input{Data: &d}
	}
	one, two := []string{"a", "a"}, []string{"a", "b"}
	says := "the join of the whole run says: so"
	for _, id := range []string{"C14", "C15", "C16", "C17", "C22"} {
		for _, status := range []checks.Status{checks.Warn, checks.Fail} {
			verdict(t, with(two, reduce.Verdict{ID: id, Status: string(status), Text: "so"}), id, status, says)
		}
	}
	verdict(t, with(two, reduce.Verdict{ID: "C14", Status: "ok", Text: "so"}), "C14", checks.OK, says)
	verdict(t, with(two, reduce.Verdict{ID: "C17", Status: "ok", Text: "so"}), "C17", checks.OK, "0 of")
	verdict(t, with(one, reduce.Verdict{ID: "C14", Status: "warn", Text: "so"}), "C14", checks.Skip, "no state")
	verdict(t, with(two, reduce.Verdict{ID: "C17", Status: "gone", Text: "so"}), "C17", checks.OK, "0 of")
	verdict(t, with(two, reduce.Verdict{ID: "C18", Status: "fail", Text: "so"}), "C18", checks.OK, "time in flight")
}

// One process reads one clock: an answer before its question is a corrupt log.
func TestAckedBeforeSent(t *testing.T) {
	t.Parallel()
	l := change(func(i int, r *synth.Row) {
		if i == 7 {
			r.Acked = r.Sent - 1
		}
	})
	verdict(t, checks.Input{Data: data(t, run(l))}, "C18", checks.Fail, "1 message acked before sent")
}

func TestPower(t *testing.T) {
	t.Parallel()
	d := data(t, run(steady()))
	verdict(t, checks.Input{Data: d, Comparison: &checks.Comparison{RunsA: 3, RunsB: 8, SmallestP: 0.1}}, "C25", checks.Warn, "cannot be significant")
	verdict(t, checks.Input{Data: d, Comparison: &checks.Comparison{RunsA: 5, RunsB: 5, SmallestP: 0.048, Detectable: 0.053}}, "C25", checks.OK, "detectable from 5.3 % on")
}
