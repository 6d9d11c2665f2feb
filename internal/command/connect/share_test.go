package connect

import "testing"

func TestShare(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Share{"0.1": 0.1, "1": 1, "1e-3": 0.001} {
		var s Share
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "0", "-0.1", "1.5", "NaN", "Inf", "half"} {
		var s Share
		if err := s.Set(text); err == nil || s != 0 || s.String() != "" {
			t.Errorf("%q: taken as %v", text, s)
		}
	}
}
