package consume_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/amqp"
	"amqpperf/internal/load/consume"
)

func TestOutcomesText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want, err string }{
		{"accept", "accept", ""},
		{"reject", "reject", ""},
		{"reject=0.1", "reject=0.1", ""},
		{"reject=.25", "reject=0.25", ""},
		{"modify=1", "modify", ""},
		{"reject=0.05,release=0.000000001", "release=0.000000001,reject=0.05", ""},
		{"accept=0.5,reject=0.5", "reject=0.5", ""},
		{"", "", `"": must be one of accept, release, reject, modify`},
		{"drop", "", `"drop": must be one of`},
		{"reject=0", "", `share "0": must be above 0 and at most 1`},
		{"reject=-0.1", "", `share "-0.1"`},
		{"reject=1.5", "", `share "1.5"`},
		{"reject=1e-1", "", `share "1e-1"`},
		{"reject=0.0000000001", "", "at most 9 decimals"},
		{"reject=0.1,reject=0.1", "", `"reject" is there twice`},
		{"reject=0.6,release=0.5", "", "the shares are more than 1 together"},
		{"accept=0.2,reject=0.5", "", "the shares are less than 1 together; leave accept out"},
	} {
		var o consume.Outcomes
		err := o.Set(tt.text)
		if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.err)
		}
		if err == nil && o.String() != tt.want {
			t.Errorf("%q prints as %q, want %q", tt.text, o.String(), tt.want)
		}
	}
	for text, want := range map[string]bool{"release": true, "modify=1": true, "release=0.5,modify=0.5": true, "release=0.99": false, "reject": false} {
		var o consume.Outcomes
		if err := o.Set(text); err != nil || o.Returning(false) != want || o.AcceptsAll() {
			t.Errorf("%q: %v, returning %v", text, err, o.Returning(false))
		}
	}
	if o := (consume.Outcomes{}); o.String() != "accept" || !o.AcceptsAll() {
		t.Errorf("the zero value is %q", o.String())
	}
}

// After any number of messages each outcome is less than one away from its
// share, with two outcomes at most half of one.
func TestSpread(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shares := []int64{0, 0, 0, 0}
		left := int64(1e9)
		kinds := rapid.IntRange(1, 3).Draw(t, "kinds")
		for i := 1; i <= kinds; i++ {
			shares[i] = rapid.Int64Range(0, left).Draw(t, "share")
			left -= shares[i]
		}
		shares[0] = left
		next := consume.Spread([4]int64(shares))
		counts := [4]float64{}
		for n := 1.0; n <= 300; n++ {
			counts[next()]++
			for i, c := range counts {
				limit := 1.0
				if kinds == 1 {
					limit = 0.5
				}
				if d := c - n*float64(shares[i])/1e9; d > limit+1e-9 || d < -limit-1e-9 {
					t.Fatalf("shares %v: after %v messages outcome %d is %v away from its share", shares, n, i, d)
				}
			}
		}
	})
}

func FuzzOutcomes(f *testing.F) {
	for _, s := range []string{"reject=0.1,release=0.05", "accept", "modify=1.0", "=,="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var o, again consume.Outcomes
		if o.Set(text) != nil {
			return
		}
		if err := again.Set(o.String()); err != nil || again.String() != o.String() {
			t.Errorf("%q prints as %q, which reads as %q, %v", text, o.String(), again.String(), err)
		}
	})
}

// The names of the seam and of the log belong together.
func TestAnswers(t *testing.T) {
	t.Parallel()
	want := map[string]amqp.State{"accepted": amqp.Accepted, "released": amqp.Released, "rejected": amqp.Rejected, "modified": amqp.Modified}
	for outcome, state := range consume.Answers() {
		if want[outcome] != state {
			t.Errorf("%s is state %d", outcome, state)
		}
	}
}
