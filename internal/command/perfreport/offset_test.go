package perfreport

import (
	"testing"
	"time"
)

func TestOffset(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "10": 10 * time.Second, "0": 0, "0s": 0, "1.5": 1500 * time.Millisecond,
		"0.000000001": 1, "1m30s": 90 * time.Second,
	} {
		if got, err := parseOffset(text); err != nil || got != want {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "-1s", "1/2", "1e3", "x", ".", "99999999999999999999", "auto", "+"} {
		if got, err := parseOffset(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzOffset(f *testing.F) {
	for _, text := range []string{"10s", "1.5", "-1", ".", "1h2m3.4s", "0.0000000009"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parseOffset(text)
		if err != nil {
			return
		}
		if d < 0 {
			t.Fatalf("%q is %v", text, d)
		}
		if again, err := parseOffset(d.String()); err != nil || again != d {
			t.Fatalf("%q is %v, which is %v (%v)", text, d, again, err)
		}
	})
}
