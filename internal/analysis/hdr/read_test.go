package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/analysis/stats"
)

// histText is the text of a histogram of some values.
func histText(t testing.TB, values ...int64) string {
	t.Helper()
	c := newScratch(Shape{Lowest: 1, Highest: int64(time.Hour), Digits: 3})
	h := NewHistogram(Shape{Lowest: 1, Highest: int64(time.Hour), Digits: 3})
	for _, v := range values {
		c.record(v)
	}
	c.moveTo(h)
	text, err := (&encoder{}).encode(h)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is written is read: counts, quantiles within a bucket, tags, times, and
// the rows that are not in the log.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	c := sampleCollector(t)
	var b bytes.Buffer
	if err := c.WriteLog(&b); err != nil {
		t.Fatal(err)
	}
	log, err := ReadLog(&b, "run.hlog")
	if err != nil {
		t.Fatal(err)
	}
	if !log.HasStart || log.Start != epoch/1_000_000 || len(log.Intervals) != 36 || len(log.Warnings) != 0 {
		t.Errorf("start %d, %d intervals, warnings %q", log.Start, len(log.Intervals), log.Warnings)
	}
	if d := cmp.Diff([]string{"warmup-response", "warmup-service", "warmup-transit", "", "service", "transit"}, log.Tags()); d != "" {
		t.Error(d)
	}
	counts := map[string]int64{}
	for _, iv := range log.Intervals {
		counts[iv.Tag] += iv.Histogram.N()
	}
	for i, s := range c.series {
		tag := s.name
		if i == 0 {
			tag = ""
		}
		if got := counts[tag] + counts["warmup-"+s.name]; got != s.Totals().Recorded {
			t.Errorf("%s: %d values read, %d recorded", s.name, got, s.Totals().Recorded)
		}
	}
	last := log.Intervals[len(log.Intervals)-1]
	if last.End != (epoch+10_500_000_000)/1_000_000 {
		t.Errorf("the last interval ends at %d", last.End)
	}
}

// K24: quantiles of a histogram are at or above the exact ones, by 1/1024 at
// most.
func TestQuantilesAgainstRows(t *testing.T) {
	t.Parallel()
	var values []int64
	for i := range int64(5000) {
		values = append(values, i*i*i%900_000_007)
	}
	h, err := decode([]byte(histText(t, values...)))
	if err != nil {
		t.Fatal(err)
	}
	d := stats.NewDistribution()
	d.AddBatch(values)
	rows := make([]stats.Row, len(values))
	for i, v := range values {
		rows[i].Value = v
	}
	for _, q := range stats.Quantiles(rows, stats.MustPercentiles("0,1,25,50,90,99,99.9,100")) {
		got, ok := h.Quantile(q.Percentile)
		if !ok || got < q.Observed || float64(got) > float64(q.Observed)*1.00098+1 {
			t.Errorf("p%s is %d in the histogram, %d in the rows", q.Percentile, got, q.Observed)
		}
	}
}

func TestReadOddLogs(t *testing.T) {
	t.Parallel()
	a, b := histText(t, 1000, 2000, 3000), histText(t, 5_000_000)
	head := "#[Histogram log format version 1.3]\n#[StartTime: 1441812279.474 (seconds since epoch), Wed Sep 09]\n\"StartTimestamp\",\"Interval_Length\"\n"
	type interval struct {
		Tag        string
		Start, End int64
		N          int64
	}
	first := interval{"", 1441812279601, 1441812280608, 3}
	for _, c := range []struct {
		name, text string
		want       []interval
		warnings   int
	}{
		{"relative to the start", head + "0.127,1.007,0.003," + a + "\n", []interval{first}, 0},
		{"absolute", head + "1441812279.601,1.007,0.003," + a + "\n", []interval{first}, 0},
		{"no final line end, blanks, CR LF", head + "\r\n0.127,1.007,0.003," + a + " \r\n   \r\n1.134,0.5,5.0," + b + "\t ", []interval{first, {"", 1441812280608, 1441812281108, 1}}, 0},
		{"base time", head + "#[BaseTime: 1441812123.123 (seconds since epoch)]\n0.127,1.007,0.003," + a, []interval{{"", 1441812123250, 1441812124257, 3}}, 0},
		{"base time in lower case", head + "#[Basetime: 1441812279.474]\n0.127,1.007,0.003," + a, []interval{first}, 0},
		{"no header", "0.127,1.007,0.003," + a, []interval{{"", 127, 1134, 3}}, 0},
		{"tags with blanks, as Artemis writes them", head + "Tag=delay send,0.127,1.007,0.003," + a + "\nTag=send,0.127,1.007,0.003," + b, []interval{{"delay send", 1441812279601, 1441812280608, 3}, {"send", 1441812279601, 1441812280608, 1}}, 0},
		{"a tag alone", head + "Tag=A\n0.127,1.007,0.003," + a, []interval{first}, 1},
		{"out of order, comment between", head + "1.134,0.5,5.0," + b + "\n# a comment\n0.127,1.007,0.003," + a, []interval{first, {"", 1441812280608, 1441812281108, 1}}, 0},
		{"header only", head, nil, 0},
		{"nothing", "", nil, 0},
	} {
		log, err := ReadLog(strings.NewReader(c.text), c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []interval
		for _, iv := range log.Intervals {
			got = append(got, interval{iv.Tag, iv.Start, iv.End, iv.Histogram.N()})
		}
		if d := cmp.Diff(c.want, got); d != "" || len(log.Warnings) != c.warnings {
			t.Errorf("%s: %s warnings %q", c.name, d, log.Warnings)
		}
	}
}

func TestRefusedLogs(t *testing.T) {
	t.Parallel()
	a := histText(t, 1000, 2000)
	raw, err := base64.StdEncoding.DecodeString(a)
	if err != nil {
		t.Fatal(err)
	}
	text := func(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
	damaged := bytes.Clone(raw)
	damaged[len(damaged)-1] ^= 1
	for _, c := range []struct{ name, line, want string }{
		{"no histogram", "0.1,1.0,2.0", "3 fields"},
		{"misspelled tag", "Ta=a,0.1,1.0,2.0," + a, "5 fields"},
		{"decimal commas", "0,127,1,007,2,769," + a, "decimal commas"},
		{"milliseconds", "1441812279601.0,1.0,2.0," + a, "milliseconds"},
		{"not base64", "0.1,1.0,2.0,HIST!", "base64"},
		{"cut", "0.1,1.0,2.0," + text(raw[:len(raw)-4]), "cut"},
		{"damaged", "0.1,1.0,2.0," + text(damaged), "checksum"},
		{"something else", "0.1,1.0,2.0," + text([]byte("a picture of a cat")), "not an HDR histogram"},
		{"floating point", "0.1,1.0,2.0," + text([]byte{0x0c, 0x72, 0x12, 0x4f, 0, 0, 0, 0}), "DoubleHistogram"},
		{"not a number", "0.1,NaN,2.0," + a, "length"},
		{"hexadecimal", "0x1p-2,1.0,2.0," + a, "start"},
		{"negative", "0.1,-1.0,2.0," + a, "length"},
		{"bad start time", "#[StartTime: soon]", "StartTime"},
		{"six digits", "0.1,1.0,2.0," + text(encoded(t, cookieV2, cookieV2Compressed, 6, 1, 1000, nil)), "digits"},
		{"lowest too large", "0.1,1.0,2.0," + text(encoded(t, cookieV2, cookieV2Compressed, 3, math.MaxInt64, math.MaxInt64, nil)), "64 bits"},
		{"words of 3 bytes", "0.1,1.0,2.0," + text(encoded(t, cookieV1|0x30, cookieV1Compressed, 3, 1, 1000, []byte{0, 0, 1})), "counts of 3 bytes"},
	} {
		good := "0.0,1.0,0.002," + a + "\n"
		log, err := ReadLog(strings.NewReader(good+c.line+"\n"+good), "x.hlog")
		if err == nil {
			t.Errorf("%s is accepted", c.name)
			continue
		}
		if s := err.Error(); !strings.HasPrefix(s, "x.hlog: line 2: ") || !strings.Contains(s, c.want) || !strings.Contains(s, "1 intervals before") {
			t.Errorf("%s: %v", c.name, err)
		}
		if len(log.Intervals) != 1 {
			t.Errorf("%s: %d intervals kept, want what came before", c.name, len(log.Intervals))
		}
	}
}

// encoded packs a histogram of any encoding, right or wrong.
func encoded(t testing.TB, cookie, compressed uint32, digits int32, lowest, highest int64, payload []byte) []byte {
	t.Helper()
	head := binary.BigEndian.AppendUint32(nil, cookie)
	if cookie&^cookieMask != cookieV0 {
		head = binary.BigEndian.AppendUint32(head, uint32(len(payload)))
		head = binary.BigEndian.AppendUint32(head, 1) // normalizing index offset: no meaning for readers
	}
	head = binary.BigEndian.AppendUint32(head, uint32(digits))
	head = binary.BigEndian.AppendUint64(head, uint64(lowest))
	head = binary.BigEndian.AppendUint64(head, uint64(highest))
	head = binary.BigEndian.AppendUint64(head, 0) // ratio, or total count in V0
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(append(head, payload...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, compressed)
	out = binary.BigEndian.AppendUint32(out, uint32(z.Len()))
	return append(out, z.Bytes()...)
}

// The older encodings, and an offset that means nothing, give the same counts.
func TestOldEncodings(t *testing.T) {
	t.Parallel()
	counts := make([]byte, 2*2050)
	counts[2*7+1], counts[2*2049+1], counts[2*2049] = 3, 5, 1 // 3 of value 7, 261 of bucket 2049
	wide := make([]byte, 8*8)
	wide[8*7+7] = 3
	v2 := appendZigZag(appendZigZag(nil, -7), 3)
	for name, raw := range map[string][]byte{
		"V0, 2 bytes": encoded(t, cookieV0|0x20, cookieV0Compressed, 3, 1, 1_000_000, counts),
		"V1, 2 bytes": encoded(t, cookieV1|0x20, cookieV1Compressed, 3, 1, 1_000_000, counts),
		"V1, 8 bytes": encoded(t, cookieV1|0x80, cookieV1Compressed, 3, 1, 1_000_000, wide),
		"V2, offset":  encoded(t, cookieV2, cookieV2Compressed, 3, 1, 1_000_000, v2),
	} {
		h, err := decode([]byte(base64.StdEncoding.EncodeToString(raw)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []bucket{{7, 3}}
		if strings.Contains(name, "2 bytes") {
			want = append(want, bucket{2050, 261}) // 2048 and up stand in twos
		}
		if d := cmp.Diff(want, h.buckets, cmp.AllowUnexported(bucket{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A few bytes that expand to many megabytes are refused before they do.
func TestBombs(t *testing.T) {
	t.Parallel()
	ones := bytes.Repeat([]byte{2}, 40<<20)
	for name, raw := range map[string][]byte{
		"V2": encoded(t, cookieV2, cookieV2Compressed, 5, 1, math.MaxInt64, ones),
		"V1": encoded(t, cookieV1|0x20, cookieV1Compressed, 5, 1, math.MaxInt64, ones),
		"V0": encoded(t, cookieV0|0x20, cookieV0Compressed, 5, 1, math.MaxInt64, ones),
	} {
		text := base64.StdEncoding.EncodeToString(raw)
		allocated := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode([]byte(text)); err == nil {
					b.Error(name, "is accepted")
				}
			}
		}).AllocedBytesPerOp()
		if allocated > 16<<20 {
			t.Errorf("%s: %d bytes of %d allocated", name, allocated, len(raw))
		}
	}
	full := encoded(t, cookieV2, cookieV2Compressed, 5, 1, math.MaxInt64, bytes.Repeat([]byte{2}, maxPayload))
	line := "0.1,1.0,2.0," + base64.StdEncoding.EncodeToString(full) + "\n"
	if log, err := ReadLog(strings.NewReader(strings.Repeat(line, 10)), "bomb"); err == nil {
		t.Errorf("a log of %d intervals with 2 Mi buckets each is kept", len(log.Intervals))
	}
}

func TestScanLogStopsWhereToldTo(t *testing.T) {
	t.Parallel()
	line := "0.1,1.0,2.0," + histText(t, 5) + "\n"
	stop := errors.New("enough")
	n := 0
	_, err := ScanLog(strings.NewReader(strings.Repeat(line, 5)), "x", func(Interval) error {
		if n++; n == 3 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || n != 3 {
		t.Errorf("%d intervals, %v", n, err)
	}
}

// B-103: intervals of different geometry are added at low edges and that is
// said.
func TestSumOfGeometries(t *testing.T) {
	t.Parallel()
	three, err := decode([]byte(histText(t, 1_000_000)))
	if err != nil {
		t.Fatal(err)
	}
	two := NewHistogram(Shape{Lowest: 1000, Highest: int64(time.Hour), Digits: 2})
	two.mergeBuckets([]bucket{{two.geo.low(1_000_000), 4}})
	two.n = 4
	sum, own, err := Sum([]Interval{{Histogram: three}, {Histogram: two}})
	if err != nil || own || sum.N() != 5 {
		t.Errorf("%d values, own %v, %v", sum.N(), own, err)
	}
	if sum, own, err = Sum([]Interval{{Histogram: two}, {Histogram: two}}); err != nil || !own || sum.N() != 8 || sum.Max() != two.Max() {
		t.Errorf("%d values, own %v, max %d, %v", sum.N(), own, sum.Max(), err)
	}
}

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

func FuzzReadLog(f *testing.F) {
	a := histText(f, 1, 1000, 1_000_000)
	for _, s := range []string{
		"#[StartTime: 1441812279.474 (seconds since epoch)]\n0.127,1.007,2.769," + a + "\n",
		"Tag=a b,0.1,1,1," + a + "\nTag=A\n\n#[Basetime: 5]\n",
		"0.1,1.0,2.0," + base64.StdEncoding.EncodeToString(encoded(f, cookieV1|0x20, cookieV1Compressed, 3, 1, 1000, []byte{0, 1})),
		"0.1,1.0,2.0," + base64.StdEncoding.EncodeToString(encoded(f, cookieV0|0x40, cookieV0Compressed, 2, 20000, 1<<40, []byte{0, 0, 0, 1})),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		log, err := ReadLog(strings.NewReader(s), "fuzz")
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz: line ") {
			t.Errorf("the error does not name the line: %v", err)
		}
		for _, iv := range log.Intervals {
			checkSound(t, iv.Histogram)
		}
	})
}

// FuzzDecode fuzzes what is inside the compression, which a fuzzer cannot reach
// through it.
func FuzzDecode(f *testing.F) {
	f.Add(uint32(cookieV2), uint32(cookieV2Compressed), int32(3), int64(1), int64(1000), []byte{2, 1, 4})
	f.Add(uint32(cookieV1|0x20), uint32(cookieV1Compressed), int32(0), int64(1), int64(1000), []byte{0, 1})
	f.Add(uint32(cookieV0|0x80), uint32(cookieV0Compressed), int32(5), int64(1<<40), int64(math.MaxInt64), bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 1}, 3))
	f.Fuzz(func(t *testing.T, cookie, compressed uint32, digits int32, lowest, highest int64, payload []byte) {
		h, err := decode([]byte(base64.StdEncoding.EncodeToString(encoded(t, cookie, compressed, digits, lowest, highest, payload))))
		if err == nil {
			checkSound(t, h)
		}
	})
}

// checkSound checks what every histogram that was read must be.
func checkSound(t *testing.T, h *Histogram) {
	t.Helper()
	var n int64
	last := int64(-1)
	for b := range h.Buckets {
		if b.Low <= last || b.High < b.Low || b.Count < 0 || b.Below != n {
			t.Fatalf("%+v after %d", b, last)
		}
		last = b.High
		n += b.Count
	}
	if n != h.N() {
		t.Fatalf("%d values in buckets, %d in all", n, h.N())
	}
	sum, _, err := Sum([]Interval{{Histogram: h}})
	if err != nil || sum.N() != n {
		t.Fatalf("sum of %d values: %v", n, err)
	}
}

func FuzzReadHgrm(f *testing.F) {
	f.Add("Value Percentile TotalCount 1/(1-Percentile)\n1 0.5 5 2\n2 1 10\n#[Mean = 1, StdDeviation = 2]\n")
	f.Add(fmt.Sprintf("Value Percentile TotalCount\n%g 1 1 inf", math.MaxFloat64))
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ReadHgrm(strings.NewReader(s), "fuzz")
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz: line ") {
			t.Errorf("the error does not name the line: %v", err)
		}
		for i, r := range p.Rows {
			if !(r.Fraction >= 0 && r.Fraction <= 1) || (i > 0 && r.Count < p.Rows[i-1].Count) {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
	})
}
