package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"amqpperf/internal/dev/golden"
	"amqpperf/internal/experiment/scenario"
)

func programs() Programs {
	return Programs{
		Send:   Options{"rate": NeedsValue, "duration": NeedsValue, "count": NeedsValue, "durable": NoValue, "label": NeedsValue, "output": NeedsValue, "spin": OptionalValue, "url": NeedsValue, "watch-pid": NeedsValue},
		Recv:   Options{"rate": NeedsValue, "duration": NeedsValue, "credit": NeedsValue, "idle": NeedsValue, "wait": NeedsValue, "label": NeedsValue},
		Report: Options{"warmup": NeedsValue},
	}
}

func read(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Read("s.yaml", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

func runs(all []Run) string {
	var b strings.Builder
	for _, r := range all {
		fmt.Fprintf(&b, "%d %s %s %d\n", r.N, r.Variant, r.Value("rate"), r.Repetition)
	}
	return b.String()
}

// TestOrder has the order that a seed gives: it must be the same for ever, since an
// interrupted experiment goes on with it.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := read(t, "addresses: q\nvariants: [{label: A}, {label: B}]\nrepetitions: 4\n")
	want := "1 B  1\n2 A  1\n3 A  2\n4 B  2\n5 B  3\n6 A  3\n7 A  4\n8 B  4\n"
	if got := runs(Order(s, 7)); got != want {
		t.Errorf("got\n%s", got)
	}
	s.Order = scenario.Given
	if got, want := runs(Order(s, 7)), "1 A  1\n2 B  1\n3 A  2\n4 B  2\n5 A  3\n6 B  3\n7 A  4\n8 B  4\n"; got != want {
		t.Errorf("given: got\n%s", got)
	}
	s.WarmUpRuns, s.Repetitions = 2, 1
	all := Order(s, 7)
	if got, want := runs(all), "1 A  0\n2 B  0\n3 A  0\n4 B  0\n5 A  1\n6 B  1\n"; got != want {
		t.Errorf("with warm-up runs: got\n%s", got)
	}
	if all[3].Counts() || !all[4].Counts() || all[3].Turn() != "warm-up" || all[4].Turn() != "repetition 1" {
		t.Errorf("%+v and %+v", all[3], all[4])
	}
}

// TestOrderIsInterleaved: whatever is run, each pair of repetitions is a list and
// the same backwards, and each combination is run as often as asked.
func TestOrderIsInterleaved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := scenario.New()
		s.Addresses = []string{"q"}
		for i := range rapid.IntRange(1, 4).Draw(t, "variants") {
			s.Variants = append(s.Variants, scenario.Variant{Label: fmt.Sprint("v", i)})
		}
		p := scenario.Parameter{Name: "rate"}
		for i := range rapid.IntRange(1, 4).Draw(t, "values") {
			p.Values = append(p.Values, fmt.Sprint(i+1))
		}
		s.Parameters = []scenario.Parameter{p}
		s.Repetitions = rapid.IntRange(1, 6).Draw(t, "repetitions")
		seed := rapid.Uint64().Draw(t, "seed")
		all := Order(s, seed)
		size := len(s.Variants) * len(p.Values)
		if len(all) != size*s.Repetitions || !cmp.Equal(all, Order(s, seed)) {
			t.Fatalf("%d runs, or not the same twice", len(all))
		}
		for rep := range s.Repetitions {
			round := all[rep*size : (rep+1)*size]
			seen := map[string]bool{}
			for _, r := range round {
				seen[r.Variant+r.Value("rate")] = true
				if r.Repetition != rep+1 {
					t.Fatalf("repetition %d in round %d", r.Repetition, rep+1)
				}
			}
			if len(seen) != size {
				t.Fatalf("round %d has %d different runs of %d", rep, len(seen), size)
			}
			if rep%2 == 1 {
				before := slices.Clone(all[(rep-1)*size : rep*size])
				slices.Reverse(before)
				for i := range round {
					if round[i].Variant != before[i].Variant || round[i].Value("rate") != before[i].Value("rate") {
						t.Fatalf("round %d is not the one before it backwards", rep)
					}
				}
			}
		}
	})
}

// TestPrint is a whole experiment as one would type it.
func TestPrint(t *testing.T) {
	t.Parallel()
	s := read(t, `name: x
addresses: queue://q
url: amqp://host
send: {rate: 5k, duration: 2s, spin: always}
recv: [{credit: "{window}"}, {name: late, late: 1500ms, addresses: 'topic://t{repetition}', url: 'amqp://u:${PW}@other'}]
report: {warmup: 1s}
variants: [{label: A}, {label: B, url: '${B_URL}', send: {durable: true}, env: {OPTS: "-x '$HOME'"}}]
parameters: {window: [10]}
gates: ['e2e.p99 > 5ms']
order: given
hooks: {before-all: ./start, before-run: ./restart}
cool-down: 2s
`)
	p, err := New(s, programs(), "id", "out dir")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := p.Print(&b, Order(s, 1)); err != nil {
		t.Fatal(err)
	}
	golden.String(t, "print", b.String())
}

// TestErrors shows what is said of options that do not fit the programs.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"send: {credit: 10}", "s.yaml:2:8: perf-send has no option --credit"},
		{"send: {r: 10}", "s.yaml:2:8: perf-send has no option --r: options are written by their long names"},
		{"send: {output: x}", "s.yaml:2:8: perf-send --output: perf-run gives it itself"},
		{"send: {durable: 1}", "s.yaml:2:8: perf-send --durable takes no value: write true or false"},
		{"send: {rate: true}", "s.yaml:2:8: perf-send --rate needs a value"},
		{"recv: {credit: '{x}'}", `s.yaml:2:8: {x} in "{x}" is no parameter`},
		{"report: {fail-if: x}", "s.yaml:2:10: perf-report --fail-if: write it under gates"},
		{"variants: [{label: a, recv: {durable: true}}]", "s.yaml:2:30: perf-recv has no option --durable"},
		{"parameters: {window: [1]}", "s.yaml:2:14: parameter window changes nothing: it is no option of a program, {window} stands nowhere, and no hook before a run reads $PERF_PARAM_WINDOW"},
	} {
		s := read(t, "addresses: q\n"+test.text+"\n")
		if _, err := New(s, programs(), "id", "d"); err == nil || err.Error() != test.want {
			t.Errorf("%s:\ngot  %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestRouting: a parameter goes where its name says.
func TestRouting(t *testing.T) {
	t.Parallel()
	s := read(t, "addresses: q\nparameters: {rate: [1], recv.rate: [2], label: [a=b], warmup: [1s], credit: [3]}\n")
	p, err := New(s, programs(), "id", "d")
	if err != nil {
		t.Fatal(err)
	}
	commands, err := p.Commands(Order(s, 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"--rate 2 --label a=b --credit 3 --idle 5s --wait 1m q",
		"--rate 1 --label a=b --duration 30s q",
		"--warmup 1s d/runs/001-1/send.parquet d/runs/001-1/recv.parquet",
	} {
		if got := strings.Join(commands[i].Args, " "); !strings.HasSuffix(got, want) {
			t.Errorf("got  %s\nwant … %s", got, want)
		}
	}
}

// TestVariantReplaces: an option of a variant takes the place of the scenario's, all its values at once.
func TestVariantReplaces(t *testing.T) {
	t.Parallel()
	f := func(name, value string) scenario.Flag { return scenario.Flag{Name: name, Value: value} }
	got := merge([]scenario.Flag{f("rate", "1"), f("label", "a=1"), f("x", "1"), f("x", "2")}, []scenario.Flag{f("x", "3"), f("label", "b=2")}, []scenario.Flag{{Name: "rate", Off: true}})
	if d := cmp.Diff([]scenario.Flag{f("label", "a=1"), f("x", "3"), f("label", "b=2")}, got); d != "" {
		t.Error(d)
	}
}

// TestComparisons: each combination has a comparison of the runs that succeeded.
func TestComparisons(t *testing.T) {
	t.Parallel()
	s := read(t, "addresses: queue://q\nurl: ${U}\nvariants: [{label: A}, {label: B}]\nbaseline: B\nparameters: {rate: [1, 2]}\nrepetitions: 2\norder: given\n")
	p, err := New(s, programs(), "id", "d")
	if err != nil {
		t.Fatal(err)
	}
	all := Order(s, 1)
	got := p.Comparisons(slices.DeleteFunc(all, func(r Run) bool { return r.Value("rate") == "2" && r.Variant == "A" }))
	if len(got) != 1 {
		t.Fatalf("%d comparisons", len(got))
	}
	want := "perf-report -q -f markdown -o d/compared/rate=1.md --compare variant=B --ignore addresses --ignore attached --ignore url " +
		"d/runs/001-A-rate=1-1/send.parquet d/runs/001-A-rate=1-1/recv.parquet d/runs/002-B-rate=1-1/send.parquet d/runs/002-B-rate=1-1/recv.parquet " +
		"d/runs/005-A-rate=1-2/send.parquet d/runs/005-A-rate=1-2/recv.parquet d/runs/006-B-rate=1-2/send.parquet d/runs/006-B-rate=1-2/recv.parquet"
	if d := cmp.Diff(want, got[0].Typed()); d != "" {
		t.Error(d)
	}
}

// TestHosts: each host gets its commands, with the run and the start in common.
func TestHosts(t *testing.T) {
	t.Parallel()
	s := read(t, "addresses: queue://q\nsend: {host: alice}\nrecv: {host: bob}\n")
	p, err := New(s, programs(), "1", "d")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := p.Print(&b, Order(s, 1)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# on bob\nmkdir -p d/runs/001-1\nperf-recv -o d/runs/001-1/recv.parquet --run perf-run-1-001 --ready-file",
		"# on alice\nmkdir -p d/runs/001-1\nperf-send -o d/runs/001-1/send.parquet --run perf-run-1-001 --start-at \"${START}\"",
		"START=$(date -u -d '+30 seconds' +%Y-%m-%dT%H:%M:%SZ)",
		"--clock-listen HOST:PORT for perf-recv",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	lookup := func(name string) string { return map[string]string{"A": "1", "B": "$A"}[name] }
	if got, err := Expand("x${A}-${B}-$A-{A}", lookup); err != nil || got != "x1-$A-$A-{A}" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := Expand("${C}", lookup); err == nil {
		t.Errorf("got %q", got)
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"": "''", "a b": "'a b'", "it's": `'it'\''s'`, "queue://q": "queue://q", "${A}": `"${A}"`, "$A${B}\"`": "\"\\$A${B}\\\"\\`\"", "e2e.p99 > 1": "'e2e.p99 > 1'",
	} {
		if got := Quote(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}

// TestPictures: variants beside the baseline, at each combination; or the values of
// one parameter beside its first; of several parameters there are none.
func TestPictures(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"variants: [{label: A}, {label: B}, {label: C}]\nbaseline: B\n":        {"variant=A", "variant=C"},
		"variants: [{label: A}, {label: B}]\nparameters: {rate: [1, 2]}\n":     {"variant=B-rate=1", "variant=B-rate=2"},
		"parameters: {rate: [1, 2, 3], credit: [5]}\n":                         {"rate=2", "rate=3"},
		"variants: [{label: A}]\nparameters: {rate: [1, 2]}\nrepetitions: 2\n": {"rate=2"},
		"parameters: {rate: [1, 2], credit: [1, 2]}\n":                         nil,
		"parameters: {rate: [1, 2]}\npictures: none\n":                         nil,
		"repetitions: 2\n": nil,
	} {
		s := read(t, "addresses: q\norder: given\n"+text)
		p, err := New(s, programs(), "id", "d")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range p.Pictures(Order(s, 1)) {
			got = append(got, c.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s%s", text, d)
		}
	}
	s := read(t, "addresses: q\norder: given\nparameters: {rate: [1, 2]}\n")
	p, err := New(s, programs(), "id", "d")
	if err != nil {
		t.Fatal(err)
	}
	want := "perf-report -q -o d/compared/rate=2.txt --png d/compared/rate=2 --baseline d/runs/001-rate=1-1/send.parquet --baseline d/runs/001-rate=1-1/recv.parquet " +
		"d/runs/002-rate=2-1/send.parquet d/runs/002-rate=2-1/recv.parquet"
	if d := cmp.Diff(want, p.Pictures(Order(s, 1))[0].Typed()); d != "" {
		t.Error(d)
	}
}

// TestTogether: only what a hook makes different is judged together, everything else
// being equal; and a sweep with a run of each compares nothing.
func TestTogether(t *testing.T) {
	t.Parallel()
	const text = "addresses: q\norder: given\nvariants: [{label: A}, {label: B, send: {watch-pid: \"${PID}\"}}]\n" +
		"parameters: {rtt: [0ms, 10ms], credit: [1, 2]}\nhooks: {before-run: \"echo $PERF_PARAM_RTT\"}\n"
	s := read(t, text)
	p, err := New(s, programs(), "id", "d")
	if err != nil {
		t.Fatal(err)
	}
	all := Order(s, 1)
	got := p.Together(all)
	if len(got) != 4 || got[0].Name != "together-A-credit=1" {
		t.Fatalf("%+v", got)
	}
	want := "perf-report -q -f json -o d/compared/together-A-credit=1.json d/runs/001-A-rtt=0ms-credit=1-1/send.parquet d/runs/001-A-rtt=0ms-credit=1-1/recv.parquet " +
		"d/runs/005-A-rtt=10ms-credit=1-1/send.parquet d/runs/005-A-rtt=10ms-credit=1-1/recv.parquet"
	if d := cmp.Diff(want, got[0].Typed()); d != "" {
		t.Error(d)
	}
	if got := p.Together(all[:1]); len(got) != 0 {
		t.Errorf("a run alone: %+v", got)
	}
	if got := p.Comparisons(all); len(got) != 0 || !p.SweepOnly() {
		t.Errorf("a sweep is compared: %+v", got)
	}
	s.Repetitions = 2
	got = p.Comparisons(Order(s, 1))
	if len(got) != 4 || p.SweepOnly() || !strings.Contains(got[0].Typed(), "--ignore watch ") {
		t.Errorf("%+v", got)
	}
}
