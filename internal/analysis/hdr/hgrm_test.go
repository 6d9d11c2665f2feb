package hdr

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"amqpperf/internal/analysis/stats"
)

func TestHgrmRoundTrip(t *testing.T) {
	t.Parallel()
	c := sampleCollector(t)
	var b bytes.Buffer
	if err := c.WriteHgrm(&b, 0); err != nil {
		t.Fatal(err)
	}
	p, err := ReadHgrm(&b, "response.hgrm")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.series[0].total()
	if err != nil {
		t.Fatal(err)
	}
	if p.N != sum.N() || p.Max != float64(sum.Max())/1e6 && math.Abs(p.Max-float64(sum.Max())/1e6) > 0.0006 || !(p.Mean > 0) {
		t.Errorf("%d values, max %g, mean %g", p.N, p.Max, p.Mean)
	}
	for _, q := range []string{"50", "90"} {
		pc := stats.MustPercentiles(q)[0]
		want, _ := sum.Quantile(pc)
		if got, ok := p.At(pc.Fraction()); !ok || math.Abs(got-float64(want)/1e6) > 0.0006 {
			t.Errorf("p%s is %g, want %g", q, got, float64(want)/1e6)
		}
	}
	if last := p.Rows[len(p.Rows)-1]; last.Fraction != 1 {
		t.Errorf("last row %+v", last)
	}
}

func TestHgrmOfOthers(t *testing.T) {
	t.Parallel()
	const head = "       Value   Percentile   TotalCount 1/(1-Percentile)\n\n"
	p, err := ReadHgrm(strings.NewReader(head+"  0.189  0.000000   1   1.00\n  64.767 1.000000  3477000   inf\n    #[Mean = 4.881, StdDeviation = 1.777]\n"), "wrk2")
	if err != nil || p.N != 3477000 || p.Mean != 4.881 || p.StdDev != 1.777 || !math.IsNaN(p.Max) || len(p.Rows) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	for name, text := range map[string]string{
		"another table":  "1.0\t10000.0\t0%\n",
		"nothing":        "",
		"comments only":  "#[Mean = 1, StdDeviation = 1]\n",
		"two in one":     head + "2 0.5 10 2\n3 1.0 20\n" + "1 0.0 1 1\n",
		"above 1":        head + "2 50.0 10 2\n",
		"not a number":   head + "x 0.5 10 2\n",
		"NaN":            head + "NaN 0.5 10 2\n",
		"negative count": head + "1 0.5 -10 2\n",
		"two fields":     head + "1 0.5\n",
		"bad footer":     head + "1 1.0 5\n#[Mean = lots, Max = 5]\n",
	} {
		if _, err := ReadHgrm(strings.NewReader(text), "x.hgrm"); err == nil || !strings.HasPrefix(err.Error(), "x.hgrm: line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
