package clock

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"amqpperf/format"
)

func TestPolicySet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		texts []string
		want  string // "" is an error
	}{
		{nil, "auto"},
		{[]string{"auto"}, "auto"},
		{[]string{"none"}, "none"},
		{[]string{"h=-3ms±50us", "g=1s+-0s"}, "g=1s±0s,h=-3ms±50µs"},
		{[]string{"h=3ms"}, ""},
		{[]string{"h=3ms±-1us"}, ""},
		{[]string{"=3ms±1us"}, ""},
		{[]string{"h=3±1us"}, ""},
		{[]string{"always"}, ""},
		{[]string{"none", "h=3ms±1us"}, ""},
		{[]string{"h=3ms±1us", "none"}, ""},
		{[]string{"h=3ms±1us", "h=4ms±1us"}, ""},
		{[]string{"none", "auto"}, ""},
		{[]string{"h=2000000h±1us"}, ""},
	}
	for _, tt := range tests {
		var p Policy
		got := ""
		for _, text := range tt.texts {
			if err := p.Set(text); err != nil {
				got = "error"
			}
		}
		if got == "error" {
			got = ""
		} else {
			got = p.String()
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.texts, got, tt.want)
		}
	}
}

func TestPeer(t *testing.T) {
	t.Parallel()
	for _, p := range []Peer{{ClockID: 0xabc}, {ClockID: 1 << 63, Receiver: 7, Anchor: true, Offset: -5, Gap: 9}} {
		if got, err := ParsePeer(p.String()); err != nil || got != p {
			t.Errorf("%s: %+v, %v", p, got, err)
		}
	}
	// What the prober writes; both packages must agree.
	if got, err := ParsePeer("00000000000000ff/7/-12/80"); err != nil || got != (Peer{255, 7, true, -12, 80}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "1/2", "1/-2/3/4", "1/2/3/-4", "1/2/3/4/5", "1/2147483648/0/0", "1/2/x/4"} {
		if p, err := ParsePeer(bad); err == nil {
			t.Errorf("%q is %+v", bad, p)
		}
	}
}

// Rows that cannot be true are counted and not used; nothing overflows.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		instant := rapid.OneOf(rapid.Int64(), rapid.Int64Range(epoch, epoch+second), rapid.SampledFrom([]int64{0, -1, far, 2 * far, -far, 1<<63 - 1, -1 << 63, epoch}))
		b := &format.ClockRow{}
		n := rapid.IntRange(1, 12).Draw(rt, "n")
		peers := []string{"", "2", peerOf(anchor(2, epoch)).String(), "3/1/-9223372036854775808/9223372036854775807", "junk"}
		b.Peer.Values, b.Source.Values = peers, []string{"tsc"}
		for range n {
			b.Instant = append(b.Instant, instant.Draw(rt, "at"))
			b.Peer.Codes = append(b.Peer.Codes, int32(rapid.IntRange(-1, len(peers)-1).Draw(rt, "peer")))
			b.Source.Codes = append(b.Source.Codes, -1)
			for _, c := range []*[]int64{&b.T1, &b.T2, &b.T3, &b.T4, &b.WallOffset, &b.Gap, &b.Status, &b.MaxError, &b.EstError, &b.Freq, &b.Tick} {
				*c = append(*c, instant.Draw(rt, "value"))
			}
		}
		p := pair(nil)
		p[0].Add(b)
		p[1].States = p[0].States
		s := Solve(p, 0, Policy{})
		for range 20 {
			at := instant.Draw(rt, "look")
			if _, bound, source := s.Model(1).At(at); source != Unknown && bound < 0 {
				rt.Fatalf("bound %d (%s)", bound, source)
			}
			if bound, source := s.Between(0, at, 1, instant.Draw(rt, "other")); source != Unknown && bound < 0 {
				rt.Fatalf("between: bound %d (%s)", bound, source)
			}
		}
		s.Evidence()
	})
}

// Rows of a log become exchanges and states; a row of neither kind is left alone.
func TestAdd(t *testing.T) {
	t.Parallel()
	const null = format.Null
	b := &format.ClockRow{
		Instant: []int64{5, 6, 7, 8, 9},
		Peer:    format.Strings{Values: []string{"ff", "zz"}, Codes: []int32{0, -1, 1, -1, 0}},
		T1:      []int64{1, null, 1, null, 9}, T2: []int64{2, null, 2, null, 2}, T3: []int64{3, null, 3, null, 3}, T4: []int64{4, null, 4, null, 4},
		WallOffset: []int64{null, 70, null, null, null}, Gap: []int64{null, 2, null, null, null}, Status: make([]int64, 5),
		MaxError: []int64{null, 16, null, null, null}, EstError: make([]int64, 5), Freq: []int64{null, null, null, null, null},
		Tick: []int64{null, 10000, null, null, null}, Source: format.Strings{Values: []string{"tsc"}, Codes: []int32{-1, 0, -1, -1, -1}},
	}
	var p Process
	p.Add(b)
	want := Process{
		Exchanges: []Exchange{{Peer{ClockID: 255}, 1, 2, 3, 4}},
		States:    []State{{6, 70, 2, 16, null, 10000, "tsc"}},
		Rejected:  2, // one peer is no id, one answer came before its question
	}
	if d := cmp.Diff(want, p); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}
