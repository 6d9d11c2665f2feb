package hdr

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"slices"
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
	slices.Sort(values)
	for _, p := range stats.MustPercentiles("0,1,25,50,90,99,99.9,100") {
		exact := values[p.Rank(int64(len(values)))-1]
		got, ok := h.Quantile(p)
		if !ok || got < exact || float64(got) > float64(exact)*1.00098+1 {
			t.Errorf("p%s is %d in the histogram, %d in the rows", p, got, exact)
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
