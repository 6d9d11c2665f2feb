package text_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/load/schedule"
	"amqpperf/internal/load/schedule/text"
)

func segment(from, to, den int64, length time.Duration) schedule.Segment {
	return schedule.Segment{
		From: schedule.Ratio{Num: from, Den: den}, To: schedule.Ratio{Num: to, Den: den}, Length: int64(length),
	}
}

func TestParseShape(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want []schedule.Segment
	}{
		{"5k:30s,10k:30s,0:5s,1k-50k:60s", []schedule.Segment{
			segment(5000, 5000, 1, 30*time.Second), segment(10_000, 10_000, 1, 30*time.Second),
			segment(0, 0, 1, 5*time.Second), segment(1000, 50_000, 1, time.Minute),
		}},
		{"30/m:1h, 0/s-0.5/s : 1m30s", []schedule.Segment{
			segment(1, 1, 2, time.Hour),
			{From: schedule.Ratio{Num: 0, Den: 1}, To: schedule.Ratio{Num: 1, Den: 2}, Length: int64(90 * time.Second)},
		}},
		{"0.0:1ns", []schedule.Segment{segment(0, 0, 1, 1)}},
	} {
		got, err := text.ParseShape(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s: %s", tt.text, d)
		}
	}
}

func TestParseShapeRefused(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":            "RATE:LENGTH",
		"5k":          `segment 1 "5k"`,
		"5k:30s,":     `segment 2 ""`,
		"5k:30s,x:1s": `segment 2 "x:1s": rate "x"`,
		"5k:30":       `length "30": not a duration`,
		"5k:0s":       "above 0",
		"5k:-1s":      "above 0",
		"-5k:1s":      `rate ""`,
		"1-2-3:1s":    `rate "2-3"`,
		"max:1s":      "needs numbers",
		"2G:1s":       "1G per second",
		"NaN:1s":      "not a number",
		"0/x:1s":      "s, m or h",
		"..:1s":       "not a number",
		"1:2:3":       "not a duration",
	} {
		if _, err := text.ParseShape(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", s, err, want)
		}
	}
}

// What is printed reads back to the same, and what is read makes a shape or an error.
func FuzzParseShape(f *testing.F) {
	for _, s := range []string{"5k:30s,10k:30s,0:5s,1k-50k:60s", "0.5/h-1G:1ns", "0:1s", "30/m:1h", "1-2-3:1s", ",", "1k:9000000000000h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		segments, err := text.ParseShape(s)
		if err != nil {
			return
		}
		again, err := text.ParseShape(text.Shape(segments))
		if err != nil || !slices.Equal(again, segments) {
			t.Fatalf("%q is printed as %q: %v", s, text.Shape(segments), err)
		}
		shape, err := schedule.NewShape(segments, 1)
		if err != nil {
			return
		}
		n := shape.N()
		if n < 1 || shape.At(0) < 0 || shape.At(n-1) >= shape.Length() || shape.At(n-1) < shape.At(0) || shape.Within(shape.Length()) != n {
			t.Fatalf("%q: %d messages, from %d to %d", s, n, shape.At(0), shape.At(n-1))
		}
	})
}

func TestParseSpeed(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]schedule.Speed{
		"2x": {Num: 2, Den: 1}, "0.5x": {Num: 1, Den: 2}, "2": {Num: 2, Den: 1}, "1/3x": {Num: 1, Den: 3},
		"1.25": {Num: 5, Den: 4}, "4/2": {Num: 2, Den: 1},
	} {
		if got, err := text.ParseSpeed(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "x", "0", "0x", "-1", "NaN", "Inf", "+Inf", "1e3", "0x10", "1_0", "1/0", "0/1", "1/", "/1", "1/2/3",
		"1000000000", "0.0000000001", "2xx", ".", "1..2", strings.Repeat("9", 100)} {
		if got, err := text.ParseSpeed(s); err == nil {
			t.Errorf("%q was accepted as %v", s, got)
		}
	}
}

func TestParseShare(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]schedule.Part{"2/5": {K: 2, Of: 5}, "1/1": {K: 1, Of: 1}} {
		if got, err := text.ParseShare(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "2", "0/5", "6/5", "-1/5", "+1/5", "1/0", "a/b", "1/5/5", "1/1000001", " 1/5", "1.5/5"} {
		if got, err := text.ParseShare(s); err == nil {
			t.Errorf("%q was accepted as %v", s, got)
		}
	}
}

func TestParseRepeat(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{"1": 1, "10k": 10_000, "forever": schedule.Forever} {
		if got, err := text.ParseRepeat(s); err != nil || got != want {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "0", "-1", "x", "1.5"} {
		if _, err := text.ParseRepeat(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestParseBurst(t *testing.T) {
	t.Parallel()
	b, err := text.ParseBurst("10:2s, 1:5s") // K20
	if err != nil || math.Abs(b.Mean()-3.5714) > 1e-4 || math.Abs(b.Dispersion()-14.22) > 5e-3 {
		t.Errorf("%+v, %v: mean %v, dispersion %v", b, err, b.Mean(), b.Dispersion())
	}
	for _, s := range []string{"", "10:2s", "10:2s,1", "10:2s,1:0s", "x:2s,1:5s", "10:2s,1:5s,3:1s", "max:1s,0:1s"} {
		if _, err := text.ParseBurst(s); err == nil {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	segments, err := text.ParseShape("5k:30s,0:5s,1k-50k:60s")
	if err != nil {
		t.Fatal(err)
	}
	burst, err := text.ParseBurst("10:2s,1:5s")
	if err != nil {
		t.Fatal(err)
	}
	rows := schedule.Rows{Offsets: make([]int64, 12345)}
	for want, s := range map[string]schedule.Spec{
		"constant 5k/s, for 1m0s, at most 1,000 messages": {
			Kind: schedule.KindConstant, RateNum: 5000, RateDen: 1, WithinNS: int64(time.Minute), N: 1000,
		},
		"5k/s for 30s, then pause for 5s, then 1k/s to 50k/s over 1m0s, 3 times, share 2 of 5": {
			Kind: schedule.KindShape, Segments: segments, Repeat: 3, Share: &schedule.Part{K: 2, Of: 5},
		},
		"Poisson arrivals at 30/m, seed 7": {Kind: schedule.KindPoisson, RateNum: 1, RateDen: 2, Seed: 7, Random: schedule.RandomSource},
		"random bursts between 10/s and 1/s, on average 3.571/s, index of dispersion 14.22, seed 0": {
			Kind: schedule.KindMMPP2, Burst: &burst, Random: schedule.RandomSource,
		},
		"replay of 12,345 messages at speed 3/2x in a loop": schedule.ReplayOf(&rows, schedule.Speed{Num: 3, Den: 2}, true),
		"replay of 12,345 messages":                         schedule.ReplayOf(&rows, schedule.Speed{Num: 1, Den: 1}, false),
	} {
		if got := text.Describe(s); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestWritePreview(t *testing.T) {
	t.Parallel()
	segments, err := text.ParseShape("5k:2s,0:1s,0-10k:1s")
	if err != nil {
		t.Fatal(err)
	}
	s, err := schedule.NewShape(segments, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := text.WritePreview(&b, schedule.NewPreview(s, 10)); err != nil {
		t.Fatal(err)
	}
	const want = `15,000 messages, the last one at 3.999899994s
        from       messages     per second
          0s          5,000           5000
          1s          5,000           5000
          2s              0              0
          3s          5,000           5000
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
