package stats

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// K21: the definition of a quantile.
func TestNearestRank(t *testing.T) {
	t.Parallel()
	sorted := []int64{10, 20, 30, 40, 50}
	for p, want := range map[string]int64{"0": 10, "20": 10, "20.1": 20, "25": 20, "50": 30, "90": 50, "100": 50} {
		if got, ok := MustPercentiles(p)[0].ofSorted(sorted); !ok || got != want {
			t.Errorf("p%s of %v = %d, want %d", p, sorted, got, want)
		}
	}
	if _, ok := DefaultPercentiles()[0].ofSorted(nil); ok {
		t.Error("a quantile of nothing")
	}
}

// Ranks where a product of floats lands beside the integer.
func TestRankIsExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p       string
		n, want int64
	}{
		{"7", 100, 7},
		{"99.9", 10_000, 9_990}, // K2
		{"99.9", 1_000, 999},
		{"99.9", 12_600, 12_588},
		{"99.99", 1<<62 + 1, 4611224849825545167},
		{"100", 1<<63 - 1, 1<<63 - 1},
		{"0", 1<<63 - 1, 1},
	} {
		if got := MustPercentiles(c.p)[0].Rank(c.n); got != c.want {
			t.Errorf("rank of p%s in %d = %d, want %d", c.p, c.n, got, c.want)
		}
	}
}

func TestRankAgainstRationals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[0-9]{1,2}(\.[0-9]{1,10})?`).Draw(t, "p")
		n := rapid.Int64Range(1, 1<<63-1).Draw(t, "n")
		p, err := ParsePercentile(s)
		if err != nil {
			t.Fatal(err)
		}
		r, _ := new(big.Rat).SetString(s)
		r.Mul(r, new(big.Rat).SetFrac64(n, 100))
		num := new(big.Int).Add(r.Num(), new(big.Int).Sub(r.Denom(), big.NewInt(1)))
		want := max(1, num.Div(num, r.Denom()).Int64())
		if got := p.Rank(n); got != want {
			t.Fatalf("rank of p%s in %d = %d, want %d", s, n, got, want)
		}
	})
}

func TestParsePercentiles(t *testing.T) {
	t.Parallel()
	ps, err := ParsePercentiles("50,97.5,99.99,5,100,0")
	if err != nil {
		t.Fatal(err)
	}
	if got := ps[1].String(); got != "97.5" {
		t.Errorf("label %q", got)
	}
	if got := MustPercentiles("99.9999")[0].Tail(); got != 1e-6 {
		t.Errorf("tail of 99.9999 = %g", got)
	}
	if !MustPercentiles("0.99")[0].LooksLikeFraction() || MustPercentiles("1")[0].LooksLikeFraction() {
		t.Error("LooksLikeFraction")
	}
	for _, bad := range []string{"", "50,", "-1", "+5", "100.1", "101", "1e2", "NaN", "50,x", ".5", "5.", " 5", "1.12345678901", "50,50.0", "99999999999999999999999"} {
		if _, err := ParsePercentiles(bad); err == nil {
			t.Errorf("%q accepted", bad)
		} else if bad == "50,x" && !strings.Contains(err.Error(), `"x"`) {
			t.Errorf("the error does not name the entry: %v", err)
		}
	}
}

func FuzzParsePercentiles(f *testing.F) {
	for _, s := range []string{"50,90,99,99.9", "0", "100", "1.", ",", "00050"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ps, err := ParsePercentiles(s)
		if err != nil {
			return
		}
		var labels []string
		for _, p := range ps {
			labels = append(labels, p.String())
			if f := p.Fraction(); f < 0 || f > 1 {
				t.Errorf("%q: fraction %g", p, f)
			}
			if r := p.Rank(1000); r < 1 || r > 1000 {
				t.Errorf("%q: rank %d of 1000", p, r)
			}
		}
		if got := strings.Join(labels, ","); got != s {
			t.Errorf("labels %q of %q", got, s)
		}
	})
}

func TestTooManyPercentiles(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range mostPercentiles + 1 {
		list = append(list, fmt.Sprintf("%d.%03d", i/100, i%100))
	}
	if ps, err := ParsePercentiles(strings.Join(list[1:], ",")); err != nil || len(ps) != mostPercentiles {
		t.Errorf("%d: %v", len(ps), err)
	}
	if _, err := ParsePercentiles(strings.Join(list, ",")); err == nil {
		t.Error("one more is accepted")
	}
}
