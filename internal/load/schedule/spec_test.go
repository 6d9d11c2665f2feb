package schedule_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/schedule"
)

func rowsOf(n int64) *schedule.Rows {
	rows := &schedule.Rows{}
	for i := range n {
		rows.Offsets = append(rows.Offsets, i*i*1000)
	}
	return rows
}

// specs is one of each kind, with an end.
func specs() map[string]schedule.Spec {
	b := burst()
	return map[string]schedule.Spec{
		"constant":      {Kind: schedule.KindConstant, RateNum: 1000, RateDen: 3, WithinNS: 2 * sec},
		"constant n":    {Kind: schedule.KindConstant, RateNum: 1000, RateDen: 1, N: 777},
		"shape":         {Kind: schedule.KindShape, Segments: []schedule.Segment{step(100, 1, sec), step(0, 1, sec), ramp(1, 70, 2, 3*sec)}, Repeat: 3},
		"shape forever": {Kind: schedule.KindShape, Segments: []schedule.Segment{ramp(0, 50, 1, sec)}, Repeat: schedule.Forever, WithinNS: 10 * sec, N: 200},
		"poisson":       {Kind: schedule.KindPoisson, RateNum: 500, RateDen: 1, Seed: 1<<64 - 1, Random: schedule.RandomSource, WithinNS: sec},
		"poisson n":     {Kind: schedule.KindPoisson, RateNum: 500, RateDen: 1, Random: schedule.RandomSource, N: 500},
		"poisson shape": {Kind: schedule.KindPoisson, Segments: []schedule.Segment{ramp(0, 500, 1, sec)}, Repeat: 2, Seed: 7, Random: schedule.RandomSource},
		"mmpp2":         {Kind: schedule.KindMMPP2, Burst: &b, Seed: 3, Random: schedule.RandomSource, WithinNS: 100 * sec},
		"replay":        schedule.ReplayOf(rowsOf(50), schedule.Speed{Num: 3, Den: 2}, false),
		"replay loop": func() schedule.Spec {
			s := schedule.ReplayOf(rowsOf(50), schedule.Speed{Num: 1, Den: 1}, true)
			s.N, s.WithinNS = 1234, sec
			return s
		}(),
	}
}

func build(t interface{ Fatal(...any) }, s schedule.Spec) schedule.Schedule {
	var rows *schedule.Rows
	if s.Kind == schedule.KindReplay {
		rows = rowsOf(50)
	}
	b, err := s.Build(rows)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A log tells all that is needed to make the same schedule again (check C22).
func TestSpecRebuilds(t *testing.T) {
	t.Parallel()
	for name, s := range specs() {
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := schedule.ParseSpec(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		one, two := build(t, s), build(t, again)
		if one.N() == 0 || one.N() == schedule.Unbounded || !slices.Equal(offsets(one, one.N()), offsets(two, two.N())) {
			t.Errorf("%s: %d and %d messages", name, one.N(), two.N())
		}
		if s.Hash() != again.Hash() {
			t.Errorf("%s: another hash", name)
		}
	}
}

// However many hosts: together they do exactly what one would.
func TestSharesEqualOne(t *testing.T) {
	t.Parallel()
	for name, s := range specs() {
		whole := build(t, s)
		for _, of := range []int64{1, 5} {
			var union []int64
			for k := range of {
				s.Share = &schedule.Part{K: k + 1, Of: of}
				p := build(t, s)
				union = append(union, offsets(p, p.N())...)
			}
			slices.Sort(union)
			if !slices.Equal(union, offsets(whole, whole.N())) {
				t.Errorf("%s: %d messages in %d shares, %d in one", name, len(union), of, whole.N())
			}
		}
	}
}

// The hash is that of the whole, and tells every other difference.
func TestSpecHash(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, s := range specs() {
		h := s.Hash()
		s.Share = &schedule.Part{K: 2, Of: 5}
		if s.Hash() != h {
			t.Errorf("%s: a share has another hash", name)
		}
		s.Seed++
		for what, other := range map[string]string{name: h, name + " seed": s.Hash()} {
			if seen[other] != "" {
				t.Errorf("%s and %s have the same hash", what, seen[other])
			}
			seen[other] = what
		}
	}
	// Pinned: logs of different versions are compared.
	const want = "sha256:123247078457f06ec0b85c8d529ac7fb73cab2920aad56cbd79f256af5b37faf"
	if got := specs()["constant"].Hash(); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestSpecRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*schedule.Spec){
		"kind":             func(s *schedule.Spec) { s.Kind = "sinus" },
		"no rate":          func(s *schedule.Spec) { s.RateNum, s.RateDen = 0, 0 },
		"negative":         func(s *schedule.Spec) { s.N = -1 },
		"seed of constant": func(s *schedule.Spec) { s.Seed = 1 },
		"loop of constant": func(s *schedule.Spec) { s.Loop = true },
		"repeat":           func(s *schedule.Spec) { s.Repeat = 2 },
		"no source":        func(s *schedule.Spec) { s.Kind = schedule.KindPoisson },
		"other source":     func(s *schedule.Spec) { s.Kind, s.Random = schedule.KindPoisson, "mt19937" },
		"no burst": func(s *schedule.Spec) {
			s.Kind, s.Random, s.RateNum, s.RateDen = schedule.KindMMPP2, schedule.RandomSource, 0, 0
		},
		"no rows": func(s *schedule.Spec) { *s = schedule.ReplayOf(rowsOf(3), schedule.Speed{Num: 1, Den: 1}, false) },
		"share":   func(s *schedule.Spec) { s.Share = &schedule.Part{K: 3, Of: 2} },
	} {
		s := schedule.Spec{Kind: schedule.KindConstant, RateNum: 1, RateDen: 1}
		change(&s)
		if b, err := s.Build(nil); err == nil || b != nil {
			t.Errorf("%s: %v, %v", name, b, err)
		}
	}
	s := schedule.ReplayOf(rowsOf(3), schedule.Speed{Num: 1, Den: 1}, false)
	if _, err := s.Build(rowsOf(4)); err == nil || !strings.Contains(err.Error(), "not the 3") {
		t.Errorf("other rows: %v", err)
	}
	for _, text := range []string{"", "{", `{"kind":"constant","rate_nom":1}`, `{"kind":"constant"} {}`, `{"kind":"poisson","seed":1}`} {
		if _, err := schedule.ParseSpec([]byte(text)); err == nil {
			t.Errorf("%s: accepted", text)
		}
	}
}

// Stripes of shares answer Due as counting would.
func TestDueOfStripes(t *testing.T) {
	t.Parallel()
	all := specs()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"constant", "shape", "poisson", "mmpp2", "replay loop"}).Draw(t, "kind")
		s := all[name]
		of := rapid.Int64Range(1, 4).Draw(t, "of")
		s.Share = &schedule.Part{K: rapid.Int64Range(1, of).Draw(t, "k"), Of: of}
		by := rapid.Int64Range(1, 4).Draw(t, "by")
		p := schedule.Stripe{Of: build(t, s), K: rapid.Int64Range(0, by-1).Draw(t, "producer"), By: by}
		elapsed := rapid.Int64Range(-1, 12*sec).Draw(t, "elapsed")
		want := int64(0)
		for want < p.N() && p.At(want) <= elapsed {
			want++
		}
		from := rapid.Int64Range(0, want).Draw(t, "from")
		if got := schedule.Due(p, from, elapsed); got != want {
			t.Fatalf("%s: %d due at %d from %d, want %d", name, got, elapsed, from, want)
		}
	})
}

func TestPreview(t *testing.T) {
	t.Parallel()
	p := schedule.NewPreview(shape(t, 1, step(5, 1, 2*sec), step(0, 1, sec), ramp(0, 10, 1, 2*sec)), 60)
	var counts []int64
	for _, r := range p.Rows {
		counts = append(counts, r.Count)
	}
	if p.Count != 20 || p.Last != 4_897_366_596 || p.Width != sec || p.Cut || !slices.Equal(counts, []int64{5, 5, 0, 3, 7}) {
		t.Errorf("%+v", p)
	}
	// Longer than the table: each row is as many seconds as needed.
	p = schedule.NewPreview(constant(t, 100, 1, 100*601), 60)
	if len(p.Rows) != 55 || p.Width != 11*sec || p.Rows[0].Count != 1100 || p.Rows[54].Count != 700 || p.Cut {
		t.Errorf("%d rows of %d, %+v", len(p.Rows), p.Width, p.Rows[len(p.Rows)-1])
	}
	p = schedule.NewPreview(constant(t, 100, 1, schedule.Unbounded), 10)
	if p.Count != schedule.Unbounded || p.Last != -1 || len(p.Rows) != 10 || !p.Cut || p.Rows[9].Count != 100 {
		t.Errorf("%+v", p)
	}
	if p := schedule.NewPreview(constant(t, 1, 1, 0), 10); p.Count != 0 || len(p.Rows) != 0 || p.Cut {
		t.Errorf("%+v", p)
	}
	if p := schedule.NewPreview(constant(t, 1, 1e9, 10), 3); len(p.Rows) == 0 || p.Cut {
		t.Errorf("%+v", p)
	}
	// The whole of time.
	p = schedule.NewPreview(constant(t, 1, 1e9, 100), 3)
	n := int64(0)
	for _, r := range p.Rows {
		n += r.Count
	}
	if n != 100 || p.Cut {
		t.Errorf("%d messages of %+v", n, p)
	}
}
