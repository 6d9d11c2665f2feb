package scenario

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const full = `# everything that a scenario may have
name: funnel
title: Two senders, one receiver
about: |
  Several lines
  of text.
url: ${BROKER}
addresses: [queue://a, queue://b]
shared: true
send:
  - {rate: 5k, duration: 10s, durable: true, name: first}
  - rate: 1_000
    label: [a=b, c=d]
    addresses: queue://c
    url: amqp://other
    host: alice
recv:
  credit: 010
  late: 1m30s
report: {warmup: 5s}
variants:
  - label: trunk
  - label: patched
    url: ${PATCHED}
    send: {durable: false}
    env: {JAVA_OPTS: "-Xmx1g"}
baseline: patched
parameters:
  rate: [5k, 10k]
  credit: 1
repetitions: 5
warm-up-runs: 2
order: given
pictures: compared
seed: 18446744073709551615
cool-down: 2s
drain: 0s
timeout: 10m
gates: ['e2e.p99 > 10ms', "counts.lost > 0"]
hooks:
  before-all: ./start.sh
  after-run: |
    echo done
`

func TestRead(t *testing.T) {
	t.Parallel()
	s, err := Read("s.yaml", strings.NewReader(full))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(18446744073709551615)
	want := &Scenario{
		File: "s.yaml", Name: "funnel", Title: "Two senders, one receiver", About: "Several lines\nof text.\n", URL: "${BROKER}",
		Addresses: []string{"queue://a", "queue://b"}, Shared: true,
		Send: []Group{
			{Name: "first", Flags: []Flag{{Name: "rate", Value: "5k"}, {Name: "duration", Value: "10s"}, {Name: "durable", Bare: true}}},
			{URL: "amqp://other", Addresses: []string{"queue://c"}, Host: "alice", Flags: []Flag{{Name: "rate", Value: "1_000"}, {Name: "label", Value: "a=b"}, {Name: "label", Value: "c=d"}}},
		},
		Recv:   []Group{{Late: 90 * time.Second, Flags: []Flag{{Name: "credit", Value: "010"}}}},
		Report: []Flag{{Name: "warmup", Value: "5s"}},
		Variants: []Variant{
			{Label: "trunk"},
			{Label: "patched", URL: "${PATCHED}", Send: []Flag{{Name: "durable", Off: true}}, Env: []Flag{{Name: "JAVA_OPTS", Value: "-Xmx1g"}}},
		},
		Baseline: "patched", Parameters: []Parameter{{Name: "rate", Values: []string{"5k", "10k"}}, {Name: "credit", Values: []string{"1"}}},
		Repetitions: 5, WarmUpRuns: 2, Order: Given, Pictures: DrawCompared, Seed: &seed, CoolDown: 2 * time.Second, Timeout: 10 * time.Minute,
		Gates: []string{"e2e.p99 > 10ms", "counts.lost > 0"}, Hooks: Hooks{BeforeAll: "./start.sh", AfterRun: "echo done\n"},
	}
	if d := cmp.Diff(want, s, cmpopts.IgnoreTypes(Pos{})); d != "" {
		t.Error(d)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if s.Send[1].Name != "send-2" || s.Recv[0].Name != "recv" || s.Recv[0].Addresses[1] != "queue://b" {
		t.Errorf("groups are %+v and %+v", s.Send, s.Recv)
	}
	if got := s.Send[1].Flags[0].Pos; got != (Pos{12, 5}) {
		t.Errorf("the rate of the second sender is at %v", got)
	}
}

// TestErrors shows what is said of faults, and where.
func TestErrors(t *testing.T) {
	t.Parallel()
	const a = "addresses: q\n"
	for _, test := range []struct{ name, text, want string }{
		{"unknown key", a + "sned: {}\n", `s.yaml:2:1: a scenario has no key "sned": it may have about, addresses, baseline, cool-down, drain, gates, hooks, name, order, parameters, pictures, recv, repetitions, report, search, seed, send, shared, timeout, title, url, variants, warm-up-runs`},
		{"unknown key of a hook", a + "hooks:\n  before: x\n", `s.yaml:3:3: hooks has no key "before": it may have after-all, after-run, before-all, before-run`},
		{"unknown key of a variant", a + "variants:\n  - label: x\n    rate: 5k\n", `s.yaml:4:5: a variant has no key "rate": it may have env, label, recv, report, send, url`},
		{"twice", a + "name: x\nname: y\n", `s.yaml:3:1: mapping key "name" already defined at [2:1]`},
		{"list for a text", a + "name: [x]\n", `s.yaml:2:7: a text is needed, not a list`},
		{"no value", a + "name:\n", `s.yaml:2:1: a text is needed, not nothing`},
		{"dashes", a + "send: {--rate: 5k}\n", `s.yaml:2:8: option "--rate": it is written by its long name, without dashes`},
		{"duration", a + "cool-down: 5\n", `s.yaml:2:12: a duration is needed, such as 10s or 1m30s, not "5"`},
		{"repetitions", a + "repetitions: 0\n", `s.yaml:2:14: a whole number from 1 to 10000 is needed, not "0"`},
		{"order", a + "order: random\n", `s.yaml:2:8: order "random": interleaved or given`},
		{"shared", a + "shared: yes\n", `s.yaml:2:9: true or false is needed, not "yes"`},
		{"anchor", a + "send: &x {rate: 5k}\n", `s.yaml:2:7: anchor: anchors, aliases and tags have no use in a scenario`},
		{"second document", a + "---\nname: x\n", `s.yaml:3:5: a second document: a scenario is one`},
		{"a list", "- x\n", `s.yaml:1:1: a scenario is a mapping, not a list`},
		{"empty", "", `s.yaml: it is empty`},
		{"syntax", a + "send: {rate: 5k\n", `s.yaml:2:7: could not find flow mapping end token '}'`},
		{"no address", "name: x\n", `send has no address: give addresses, such as queue://bench`},
		{"names", a + "send: [{name: x}, {name: x}]\n", `s.yaml:2:20: name "x": each process needs one of its own, of letters, digits, '-', '_' and '.'`},
		{"labels", a + "variants: [{label: x}, {label: x}]\n", `s.yaml:2:25: two variants have the label "x"`},
		{"baseline", a + "baseline: x\n", `s.yaml: baseline "x" is no variant`},
		{"same value", a + "parameters: {rate: [5k, 5k]}\n", `s.yaml:2:14: parameter rate has the value 5k twice: use repetitions`},
		{"taken", a + "parameters: {run: [1]}\n", `s.yaml:2:14: parameter "run": each needs a name of its own; variant, repetition, run, seq and producer are taken`},
		{"search and rate", a + "parameters: {rate: [1]}\nsearch: {condition: e2e.p99 < 1ms}\n", `s.yaml:3:10: rate is what the search varies: it cannot be a parameter too`},
		{"search", a + "search: {runs: 3}\n", `s.yaml:2:10: search has no condition, such as e2e.p99 < 10ms`},
		{"nothing left", a + "send: none\nrecv: none\n", `s.yaml: send and recv are both none: nothing is left to do`},
		{"password", a + "variants: [{label: x, url: 'amqp://u:p@h'}]\n", "s.yaml:2:13: a password in a URL would be copied into the run directory: write ${NAME} and set NAME in the environment, or give it by --env"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := Read("s.yaml", strings.NewReader(test.text))
			if err == nil {
				err = s.Check()
			}
			if err == nil {
				t.Fatal("no error")
			}
			var e *Error
			if !errors.As(err, &e) || !strings.HasSuffix(err.Error(), strings.TrimPrefix(test.want, "s.yaml")) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestParseFlags(t *testing.T) {
	t.Parallel()
	got, err := ParseFlags(`--rate 5k --durable --name="a \"b" --label 'x=y z' --offset=-5`)
	if err != nil {
		t.Fatal(err)
	}
	want := []Flag{{Name: "rate", Value: "5k"}, {Name: "durable", Bare: true}, {Name: "name", Value: `a "b`}, {Name: "label", Value: "x=y z"}, {Name: "offset", Value: "-5"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"-r 5k", "5k", "--rate 'x", "--=5", `--rate \`} {
		if got, err := ParseFlags(bad); err == nil {
			t.Errorf("%s: got %v", bad, got)
		}
	}
}

func TestParseVariant(t *testing.T) {
	t.Parallel()
	v, err := ParseVariant("a=amqps://host:5671", nil)
	if err != nil || v.URL != "amqps://host:5671" || v.Label != "a" {
		t.Errorf("got %+v, %v", v, err)
	}
	v, err = ParseVariant("b=--rate 5k", func(f Flag, v *Variant) error { v.Send = append(v.Send, f); return nil })
	if err != nil || len(v.Send) != 1 || v.URL != "" {
		t.Errorf("got %+v, %v", v, err)
	}
	for _, bad := range []string{"amqp://host", "=x", "a b=amqp://h"} {
		if v, err := ParseVariant(bad, nil); err == nil {
			t.Errorf("%s: got %+v", bad, v)
		}
	}
}

func TestHasPassword(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"amqp://h": false, "amqp://u@h": false, "amqp://u:@h": false, "amqp://u:p@h": true, "amqp://u:p@q@h/x": true, "amqp://h/a:b@c": false,
		"amqp://u:${PW}@h": false, "${URL}": false, "": false,
	} {
		if got := HasPassword(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(full)
	f.Add("send: {rate: [1, 2]}\n")
	f.Add("a: &x [*x]\n")
	f.Add("? a\n: b\n<<: c")
	f.Add("\t")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Read("s.yaml", strings.NewReader(text))
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Errorf("%v is no *Error", err)
			}
			return
		}
		if err := s.Check(); err == nil && (len(s.Variants) == 0 || len(s.Send)+len(s.Recv) == 0) {
			t.Errorf("a scenario without processes or variants: %+v", s)
		}
	})
}

func FuzzSplit(f *testing.F) {
	f.Add(`a 'b c' "d\" e" \f`)
	f.Fuzz(func(t *testing.T, text string) {
		words, err := Split(text)
		if err != nil {
			return
		}
		// Quoted again, the words are the same.
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
		}
		again, err := Split(strings.Join(quoted, " "))
		if err != nil || !cmp.Equal(words, again) {
			t.Errorf("%q is %q, then %q (%v)", text, words, again, err)
		}
	})
}
