package schedule_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/schedule"
)

const (
	ms  = int64(1e6)
	sec = int64(1e9)
)

func step(num, den, length int64) schedule.Segment { return ramp(num, num, den, length) }

func ramp(from, to, den, length int64) schedule.Segment {
	return schedule.Segment{
		From: schedule.Ratio{Num: from, Den: den}, To: schedule.Ratio{Num: to, Den: den}, Length: length,
	}
}

func shape(t interface{ Fatal(...any) }, repeat int64, segments ...schedule.Segment) *schedule.Shape {
	s, err := schedule.NewShape(segments, repeat)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func offsets(s schedule.Schedule, n int64) []int64 {
	at := make([]int64, n)
	for i := range at {
		at[i] = s.At(int64(i))
	}
	return at
}

// K18, and the number of every segment of the example of the manual.
func TestShapeExact(t *testing.T) {
	t.Parallel()
	hour := shape(t, schedule.Forever, step(300_000, 1, sec))
	if got := hour.At(300_000 * 3600); got != 3600*sec {
		t.Errorf("300,000/s for an hour: at %d", got)
	}
	s := shape(t, 1, step(5000, 1, 30*sec), step(10_000, 1, 30*sec), step(0, 1, 5*sec), ramp(1000, 50_000, 1, 60*sec))
	if s.N() != 150_000+300_000+25_500*60 {
		t.Errorf("%d messages", s.N())
	}
	for _, tt := range []struct{ i, at int64 }{
		{0, 0}, {1, 200_000}, {149_999, 30*sec - 200_000}, {150_000, 30 * sec}, {150_001, 30*sec + 100_000},
		{449_999, 60*sec - 100_000}, {450_000, 65 * sec}, // after the pause
	} {
		if got := s.At(tt.i); got != tt.at {
			t.Errorf("message %d at %d, want %d", tt.i, got, tt.at)
		}
	}
	for _, tt := range []struct{ d, n int64 }{
		{0, 0}, {1, 1}, {30 * sec, 150_000}, {60 * sec, 450_000}, {63 * sec, 450_000}, {65 * sec, 450_000},
		{65*sec + 1, 450_001}, {95 * sec, 450_000 + 397_500}, {125 * sec, 1_980_000}, {math.MaxInt64, 1_980_000},
	} {
		if got := s.Within(tt.d); got != tt.n {
			t.Errorf("%d messages before %d, want %d", got, tt.d, tt.n)
		}
	}
}

// The closed form of a ramp from rest: t = √(2i/a).
func TestRampFromRest(t *testing.T) {
	t.Parallel()
	s := shape(t, 1, ramp(0, 200, 1, 2*sec)) // a = 100/s²
	for _, tt := range []struct{ i, at int64 }{{0, 0}, {50, sec}, {2, 200 * ms}, {8, 400 * ms}, {1, 141_421_356}, {199, 1_994_993_734}} {
		if got := s.At(tt.i); got != tt.at {
			t.Errorf("message %d at %d, want %d", tt.i, got, tt.at)
		}
	}
	down := shape(t, 1, ramp(200, 0, 1, 2*sec))
	// The mirror image: 2 s − √(2(200−i)/100).
	for _, tt := range []struct{ i, at int64 }{{0, 0}, {150, sec}, {199, 2*sec - 141_421_357}, {192, 1600 * ms}} {
		if got := down.At(tt.i); got != tt.at {
			t.Errorf("down: message %d at %d, want %d", tt.i, got, tt.at)
		}
	}
	if s.N() != 200 || down.N() != 200 {
		t.Errorf("%d and %d messages", s.N(), down.N())
	}
}

// Bursts on and off, and fractions of a message carried over: 0.5 a cycle.
func TestShapeRepeats(t *testing.T) {
	t.Parallel()
	s := shape(t, 1000, step(1000, 1, 10*ms), step(0, 1, 90*ms))
	if s.N() != 10_000 || s.Length() != 100*sec {
		t.Errorf("%d messages in %d ns", s.N(), s.Length())
	}
	for _, tt := range []struct{ i, at int64 }{{9, 9 * ms}, {10, 100 * ms}, {9_999, 99*sec + 909*ms}} {
		if got := s.At(tt.i); got != tt.at {
			t.Errorf("message %d at %d, want %d", tt.i, got, tt.at)
		}
	}
	half := shape(t, schedule.Forever, step(1, 2, sec), step(0, 1, sec))
	for i, want := range []int64{0, 4 * sec, 8 * sec, 12 * sec} {
		if got := half.At(int64(i)); got != want {
			t.Errorf("half a message a cycle: %d at %d, want %d", i, got, want)
		}
	}
	if half.N() != schedule.Unbounded || half.Length() != schedule.Unbounded {
		t.Error("for ever has an end")
	}
	if got := half.At(math.MaxInt64 - 1); got != math.MaxInt64 {
		t.Errorf("beyond all time: at %d", got)
	}
}

func TestShapeRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		repeat   int64
		segments []schedule.Segment
	}{
		"nothing":       {1, nil},
		"no rate":       {1, []schedule.Segment{step(0, 1, sec)}},
		"no length":     {1, []schedule.Segment{step(1, 1, 0)}},
		"negative":      {1, []schedule.Segment{step(-1, 1, sec)}},
		"too fast":      {1, []schedule.Segment{step(1e9+1, 1, sec)}},
		"too fast by 1": {1, []schedule.Segment{step(2e9+1, 2, sec)}},
		"zero den":      {1, []schedule.Segment{step(1, 0, sec)}},
		"digits":        {1, []schedule.Segment{step(1, 8_999_999_999, sec), step(1, 8_999_999_998, sec)}},
		"repeat 0":      {0, []schedule.Segment{step(1, 1, sec)}},
		"too long":      {1, []schedule.Segment{step(1, 1, math.MaxInt64), step(1, 1, 1)}},
	} {
		if _, err := schedule.NewShape(tt.segments, tt.repeat); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func drawSegments(t *rapid.T) []schedule.Segment {
	rate := func(name string) schedule.Ratio {
		den := rapid.SampledFrom([]int64{1, 1, 2, 7, 60, 3600, 1000}).Draw(t, name+" den")
		return schedule.Ratio{Num: rapid.SampledFrom([]int64{0, 1, 3, 10, 977, 50_000, 1_000_000_000}).Draw(t, name), Den: den}
	}
	var segments []schedule.Segment
	for range rapid.IntRange(1, 5).Draw(t, "segments") {
		g := schedule.Segment{From: rate("from"), Length: rapid.Int64Range(1, 1<<rapid.IntRange(1, 56).Draw(t, "bits")).Draw(t, "length")}
		g.To = g.From
		if rapid.Bool().Draw(t, "ramp") {
			g.To = rate("to")
		}
		segments = append(segments, g)
	}
	return segments
}

// integral is Λ(d) as a fraction: an independent statement of the definition.
func integral(segments []schedule.Segment, d int64) *big.Rat {
	sum, begin := new(big.Rat), int64(0)
	for _, g := range segments {
		t := min(d-begin, g.Length)
		if t <= 0 {
			break
		}
		from, to := big.NewRat(g.From.Num, g.From.Den), big.NewRat(g.To.Num, g.To.Den)
		// The mean of the rates at both ends of [0, t).
		end := new(big.Rat).Sub(to, from)
		end.Mul(end, big.NewRat(t, g.Length)).Add(end, from)
		mean := end.Add(end, from)
		mean.Mul(mean, big.NewRat(t, 2*sec))
		sum.Add(sum, mean)
		begin += g.Length
	}
	return sum
}

// ⌊inf{t: Λ(t) > i}⌋ = a means Λ(a) ≤ i < Λ(a+1).
func TestShapeProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		segments := drawSegments(t)
		s, err := schedule.NewShape(segments, 1)
		if err != nil {
			t.Skip(err)
		}
		if s.N() == 0 {
			t.Fatal("no messages")
		}
		i := rapid.Int64Range(0, s.N()-1).Draw(t, "i")
		at := s.At(i)
		message := new(big.Rat).SetInt64(i)
		if integral(segments, at).Cmp(message) > 0 || integral(segments, at+1).Cmp(message) <= 0 {
			t.Fatalf("message %d of %d at %d: Λ is %v there and %v after", i, s.N(), at,
				integral(segments, at).FloatString(3), integral(segments, at+1).FloatString(3))
		}
		if i > 0 && s.At(i-1) > at {
			t.Fatalf("message %d at %d, before it %d", i, at, s.At(i-1))
		}
		if n := s.Within(at + 1); n <= i || s.Within(at) > i {
			t.Fatalf("message %d at %d, but %d are before that and %d until then", i, at, s.Within(at), n)
		}
		if got := schedule.Due(s, 0, at); got != s.Within(at+1) {
			t.Fatalf("%d due, %d within", got, s.Within(at+1))
		}
		if got := s.Within(s.Length()); got != s.N() {
			t.Fatalf("%d within all, %d messages", got, s.N())
		}
	})
}

// A cycle that is repeated is the same as its segments written out.
func TestRepeatIsConcatenation(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		segments := drawSegments(t)
		times := rapid.Int64Range(1, 5).Draw(t, "times")
		var all []schedule.Segment
		for range times {
			all = append(all, segments...)
		}
		short, err := schedule.NewShape(segments, times)
		if err != nil {
			t.Skip(err)
		}
		long, err := schedule.NewShape(all, 1)
		if err != nil {
			t.Skip(err)
		}
		if short.N() != long.N() {
			t.Fatalf("%d and %d messages", short.N(), long.N())
		}
		i := rapid.Int64Range(0, short.N()-1).Draw(t, "i")
		d := rapid.Int64Range(0, long.Length()).Draw(t, "d")
		if short.At(i) != long.At(i) || short.Within(d) != long.Within(d) {
			t.Fatalf("message %d at %d and %d; %d and %d before %d", i, short.At(i), long.At(i), short.Within(d), long.Within(d), d)
		}
	})
}

func TestShapeOfOneStepIsConstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(1, 1e9).Draw(t, "num")
		den := rapid.Int64Range(1, 9e9).Draw(t, "den")
		s := shape(t, schedule.Forever, step(num, den, rapid.Int64Range(1, 1e15).Draw(t, "length")))
		c := constant(t, num, den, schedule.Unbounded)
		i := rapid.Int64Range(0, 1e18).Draw(t, "i")
		d := rapid.Int64Range(0, math.MaxInt64).Draw(t, "d")
		if s.At(i) != c.At(i) || s.Within(d) != c.Within(d) {
			t.Fatalf("message %d at %d and %d; %d and %d before %d", i, s.At(i), c.At(i), s.Within(d), c.Within(d), d)
		}
	})
}

func TestShapeDoesNotAllocate(t *testing.T) {
	for _, g := range []schedule.Segment{step(5000, 1, 30*sec), ramp(1000, 50_000, 1, 60*sec), ramp(50_000, 0, 1, 10*sec)} {
		s, i := shape(t, schedule.Forever, g), int64(0)
		if got := testing.AllocsPerRun(1000, func() { s.At(i); i += 1777 }); got != 0 {
			t.Errorf("%v: %v allocations a message", g, got)
		}
	}
}

func BenchmarkShapeAt(b *testing.B) {
	for _, bench := range []struct {
		name string
		s    *schedule.Shape
	}{
		{"step", shape(b, schedule.Forever, step(5000, 1, 30*sec))},
		{"ramp", shape(b, schedule.Forever, ramp(1000, 50_000, 1, 60*sec))},
	} {
		b.Run(bench.name, func(b *testing.B) {
			for i := int64(0); b.Loop(); i++ {
				bench.s.At(i)
			}
		})
	}
}
