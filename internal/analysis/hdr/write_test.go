package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

const epoch = 1_796_000_000_250_123_456 // not on a millisecond

// sampleCollector has a headline and two tagged series over 10.5 s of which the
// first 2.5 s are warm-up, values from nanoseconds to minutes, and some that no
// histogram takes.
func sampleCollector(t testing.TB) *Collector {
	t.Helper()
	c, err := NewCollector(Config{
		Start: epoch, End: epoch + 10_500_000_000, WarmupEnd: epoch + 2_500_000_000,
		Comments: []string{"perf-report test, run 0000"},
	}, "response", "service", "transit")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 10_500 {
		at := epoch + int64(i)*1_000_000
		v := int64(math.Exp(12 + 2*rng.NormFloat64()))
		c.Series(0).Record(at, v+1000)
		c.Series(1).Record(at, v)
		c.Series(2).RecordWithin(at, v-20_000, 15_000)
	}
	c.Series(0).Record(epoch+5_000_000_000, int64(2*time.Hour))
	c.Series(0).Infinite()
	return c
}

func TestWriteForOtherTools(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PERF_HDR_DIR")
	if dir == "" {
		t.Skip("PERF_HDR_DIR is not set: no files for other tools")
	}
	c := sampleCollector(t)
	write := func(name string, f func(io.Writer) error) {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("run.hlog", c.WriteLog)
	for i, s := range c.series {
		write(s.name+".hgrm", func(w io.Writer) error { return c.WriteHgrm(w, i) })
	}
	empty, err := NewCollector(Config{Start: epoch, WarmupEnd: epoch + 1e9}, "response")
	if err != nil {
		t.Fatal(err)
	}
	write("empty.hlog", empty.WriteLog)
	empty.Series(0).Record(epoch, 5)
	write("warmup-only.hlog", empty.WriteLog)
}

func TestLogLines(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := sampleCollector(t).WriteLog(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for _, want := range []string{
		"#[perf-report test, run 0000]",
		"#[CO: latencies measured from intended send time; do NOT apply -correctLogWithKnownCoordinatedOmission]",
		"#[response: 1 without an answer are infinite and not in these histograms]",
		"#[response: 0 negative and 1 above 1h0m0s are not in these histograms]",
		"#[Histogram log format version 1.3]",
		"#[StartTime: 1796000000.250 (seconds since epoch), Mon Nov 30 00:53:20 UTC 2026]",
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	form := regexp.MustCompile(`^(Tag=([A-Za-z0-9_.:-]+),)?(\d+\.\d{3}),(\d+\.\d{3}),\d+\.\d{3},HISTF[A-Za-z0-9+/]+=*$`)
	tags, lengths, last := map[string]int{}, map[string]string{}, ""
	for _, l := range lines {
		if len(l) > 0 && (l[0] == '#' || l[0] == '"') {
			if len(l) > 127 {
				t.Errorf("header line of %d bytes", len(l))
			}
			continue
		}
		m := form.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("line %q", l)
		}
		if m[3] < last {
			t.Errorf("%s after %s", m[3], last)
		}
		last = m[3]
		tags[m[2]]++
		lengths[m[2]+"@"+m[3]] = m[4]
	}
	// 2.5 s of warm-up are three intervals, and eight and a half are left: the
	// third second is divided, the last one is cut.
	for tag, n := range map[string]int{"": 9, "service": 9, "transit": 9, "warmup-response": 3, "warmup-service": 3, "warmup-transit": 3} {
		if tags[tag] != n {
			t.Errorf("%d lines of tag %q, want %d", tags[tag], tag, n)
		}
	}
	for at, want := range map[string]string{
		"warmup-response@1796000000.250": "1.000", "warmup-response@1796000002.250": "0.500", "@1796000002.750": "0.500", "@1796000003.250": "1.000", "@1796000010.250": "0.500",
	} {
		if lengths[at] != want {
			t.Errorf("interval %s is %q s long, want %s", at, lengths[at], want)
		}
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	c, err := NewCollector(Config{Start: 0, Highest: time.Second}, "e2e")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Series(0)
	for _, v := range []int64{5, -1, -100, -101, 0, int64(time.Second), int64(time.Second) + 1, math.MinInt64, math.MaxInt64} {
		s.RecordWithin(3, v, 100)
	}
	s.Record(4, -1)
	s.Infinite()
	want := Totals{Recorded: 5, Zeroed: 2, Negative: 3, TooLarge: 2, Infinite: 1}
	if got := s.Totals(); got != want || got.Errors() != 5 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func() (*Collector, error){
		"a blank in a tag": func() (*Collector, error) { return NewCollector(Config{}, "delay send") },
		"a comma in a tag": func() (*Collector, error) { return NewCollector(Config{}, "a", "b,") },
		"an empty tag":     func() (*Collector, error) { return NewCollector(Config{}, "") },
		"a line break":     func() (*Collector, error) { return NewCollector(Config{}, "a\nb") },
		"no series":        func() (*Collector, error) { return NewCollector(Config{}) },
		"twice":            func() (*Collector, error) { return NewCollector(Config{}, "a", "a") },
		"microseconds":     func() (*Collector, error) { return NewCollector(Config{Interval: 1500 * time.Microsecond}, "a") },
		"negative":         func() (*Collector, error) { return NewCollector(Config{Interval: -time.Second}, "a") },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Order of values and a split over collectors do not change a byte.
func TestMergeIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Start: 1e18, WarmupEnd: 1e18 + 1_500_000_000}
		build := func() *Collector {
			c, err := NewCollector(config, "a", "b")
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		one, parts := build(), []*Collector{build(), build(), build()}
		type sample struct{ s, at, v int64 }
		samples := rapid.SliceOf(rapid.Custom(func(t *rapid.T) sample {
			return sample{rapid.Int64Range(0, 1).Draw(t, "s"), rapid.Int64Range(-2e9, 4e9).Draw(t, "at"), rapid.Int64Range(-5, 5e12).Draw(t, "v")}
		})).Draw(t, "samples")
		for _, s := range samples {
			one.Series(int(s.s)).Record(1e18+s.at, s.v)
		}
		for i, s := range rapid.Permutation(samples).Draw(t, "order") {
			parts[i%3].Series(int(s.s)).Record(1e18+s.at, s.v)
		}
		for _, p := range parts[1:] {
			if err := parts[0].Merge(p); err != nil {
				t.Fatal(err)
			}
		}
		var a, b bytes.Buffer
		if err := one.WriteLog(&a); err != nil {
			t.Fatal(err)
		}
		if err := parts[0].WriteLog(&b); err != nil {
			t.Fatal(err)
		}
		if a.String() != b.String() {
			t.Fatalf("%s\nand\n%s", a.String(), b.String())
		}
	})
}

// The geometry and the encoding are those of the library.
func TestEncodingIsTheLibrarys(t *testing.T) {
	t.Parallel()
	enc := &encoder{}
	rapid.Check(t, func(t *rapid.T) {
		shape := Shape{Lowest: 1, Highest: int64(time.Hour), Digits: 3}
		geo := newGeometry(shape.Lowest, shape.Digits)
		p, d := NewHistogram(shape), hdrhistogram.New(shape.Lowest, shape.Highest, shape.Digits)
		values := rapid.SliceOf(rapid.OneOf(rapid.Int64Range(0, shape.Highest), rapid.Int64Range(0, 5000))).Draw(t, "values")
		for _, v := range values {
			n := rapid.Int64Range(1, 1<<50).Draw(t, "n")
			if err := d.RecordValues(v, n); err != nil {
				t.Fatal(err)
			}
			if err := p.Merge(&Histogram{shape: shape, geo: geo, buckets: []bucket{{geo.low(v), n}}, n: n}); err != nil {
				t.Fatal(err)
			}
			if got := geo.value(geo.index(v)); got != geo.low(v) {
				t.Fatalf("%d: index %d is of %d, not %d", v, geo.index(v), got, geo.low(v))
			}
			if !d.ValuesAreEquivalent(v, geo.low(v)) || !d.ValuesAreEquivalent(v, geo.high(v)) || d.ValuesAreEquivalent(v, geo.high(v)+1) {
				t.Fatalf("%d: bucket %d to %d", v, geo.low(v), geo.high(v))
			}
		}
		text, err := enc.encode(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := hdrhistogram.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equals(d) {
			t.Fatal("decoded histogram differs")
		}
		// The same payload, whatever the compression made of it.
		want, err := d.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := inflate(t, text), inflate(t, want); !bytes.Equal(a, b) {
			t.Fatalf("payload\n%x, the library's\n%x", a, b)
		}
	})
}

func inflate(t *rapid.T, text []byte) []byte {
	raw, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		v    float64
		n    int
		want string
	}{{1.0005, 3, "1.001"}, {0.0004999, 3, "0.000"}, {999.9995, 3, "1000.000"}, {-2.5, 0, "-3"}, {1e15, 2, "1000000000000000.00"}, {0.1, 12, "0.100000000000"}, {1.005, 2, "1.01"}} {
		if got := fixed(c.v, c.n); got != c.want {
			t.Errorf("%v with %d decimals: %s, want %s", c.v, c.n, got, c.want)
		}
	}
}

func TestFailedWrites(t *testing.T) {
	t.Parallel()
	c := sampleCollector(t)
	if err := c.WriteLog(failing{}); err == nil {
		t.Error("a failed write of the log is not reported")
	}
	if err := c.WriteHgrm(failing{}, 0); err == nil {
		t.Error("a failed write of the percentile file is not reported")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func BenchmarkRecord(b *testing.B) {
	c, err := NewCollector(Config{}, "response")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 1<<16)
	for i := range values {
		values[i] = int64(math.Exp(13 + 0.5*rng.NormFloat64()))
	}
	s := c.Series(0)
	for i := 0; b.Loop(); i++ {
		s.Record(int64(i)*1000, values[i&(1<<16-1)])
	}
}

// BenchmarkRecordScattered changes the interval every 50 values, as the pages of
// many producers do.
func BenchmarkRecordScattered(b *testing.B) {
	c, err := NewCollector(Config{}, "response")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]int64, 1<<16)
	for i := range values {
		values[i] = int64(math.Exp(13 + 0.5*rng.NormFloat64()))
	}
	s := c.Series(0)
	for i := 0; b.Loop(); i++ {
		s.Record(int64(i/50%600)*1_000_000_000, values[i&(1<<16-1)])
	}
}

// BenchmarkWriteLog writes 600 s of four series.
func BenchmarkWriteLog(b *testing.B) {
	c, err := NewCollector(Config{}, "response", "service", "transit", "e2e")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 600 * 5000 {
		c.Series(i%4).Record(int64(i)*200_000, int64(math.Exp(13+0.5*rng.NormFloat64())))
	}
	for b.Loop() {
		if err := c.WriteLog(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
