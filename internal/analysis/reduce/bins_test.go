package reduce

import (
	"strings"
	"testing"

	"amqpperf/internal/analysis/reduce/synth"
)

// lateNow and then: every 40th message is 300 µs late, the others are on time;
// the system is empty in between.
func lateNowAndThen(producers int) *synth.Log {
	l := &synth.Log{}
	for p := range producers {
		for i := range int64(6000 / producers) {
			k := i*int64(producers) + int64(p)
			r := synth.Message(i, synth.Start+k*synth.Millisecond, 0)
			r.Producer = int32(p)
			if k%40 == 7 {
				r.Ready += 300 * synth.Microsecond
			}
			r.Sent, r.Acked = r.Ready, r.Ready+500*synth.Microsecond
			l.Rows = append(l.Rows, r)
		}
	}
	return l
}

func bracketIn(t *testing.T, l *synth.Log, opt Options) Bracket {
	t.Helper()
	d, err := Reduce(l.Reader(500), opt)
	if err != nil {
		t.Fatal(err)
	}
	return d.Bracket
}

// In bins the lower ends are never above those row by row, and with one message
// a bin as good as they are.
func TestBracketInBins(t *testing.T) {
	t.Parallel()
	exact := bracketIn(t, lateNowAndThen(1), Options{})
	bins := bracketIn(t, lateNowAndThen(1), Options{inOrder: 100})
	if exact.BinWidth != 0 || bins.BinWidth == 0 || bins.BinWidth > synth.Millisecond {
		t.Fatalf("bins of %d and %d ns", exact.BinWidth, bins.BinWidth)
	}
	if !exact.Bound || !bins.Bound {
		t.Errorf("%q, %q", exact.Reasons, bins.Reasons)
	}
	for i := range exact.Lower {
		a, b := exact.Lower[i].Value, bins.Lower[i].Value
		if b > a || float64(a-b) > float64(a)/1000 {
			t.Errorf("quantile %d: %d row by row, %d in bins", i, a, b)
		}
	}
	if exact.Largest != 300*synth.Microsecond || bins.Largest != exact.Largest {
		t.Errorf("largest %d, %d", exact.Largest, bins.Largest)
	}
}

// What bins cannot tell makes an estimate that says so.
func TestBracketInBinsEstimates(t *testing.T) {
	t.Parallel()
	for want, l := range map[string]*synth.Log{
		"of 6000 messages of 3 producers": lateNowAndThen(3),
		"the rows are not in order":       lateNowAndThen(1).Shuffle(1),
	} {
		if b := bracketIn(t, l, Options{inOrder: 100}); b.Bound || !strings.Contains(strings.Join(b.Reasons, ";"), want) {
			t.Errorf("%q, want %q", b.Reasons, want)
		}
	}
	swapped := lateNowAndThen(1)
	a, b := &swapped.Rows[100], &swapped.Rows[101]
	a.Acked = b.Acked + 1
	if got := bracketIn(t, swapped, Options{inOrder: 100}); got.Bound || got.Overtaken != 1 {
		t.Errorf("%+v", got)
	}
}

// MSER-5 over bins finds what it finds row by row.
func TestWarmupAutoInBins(t *testing.T) {
	t.Parallel()
	l := lateNowAndThen(1)
	for i := range 1000 {
		l.Rows[i].Acked += 2 * synth.Millisecond
	}
	for _, opt := range []Options{{WarmupAuto: true}, {WarmupAuto: true, inOrder: 100}} {
		d, err := Reduce(l.Reader(500), opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Window.Warmup; got < 990*synth.Millisecond || got > 1030*synth.Millisecond {
			t.Errorf("%+v: %d", opt, got)
		}
	}
}
