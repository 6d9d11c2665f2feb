package clock

import "testing"

func FuzzParsePeer(f *testing.F) {
	for _, text := range []string{"ff", "00000000000000ff/7/-12/80", "1/2/3", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePeer(text)
		if err != nil {
			return
		}
		if again, err := ParsePeer(p.String()); err != nil || again != p {
			t.Errorf("%q is %+v, %q is %+v, %v", text, p, p.String(), again, err)
		}
	})
}

func FuzzPolicySet(f *testing.F) {
	for _, text := range []string{"none", "auto", "h=3ms±50us", "h=-3ms+-0s", "a=b=1s±1s", "=1s±1s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var p, again Policy
		if p.Set(text) != nil {
			return
		}
		if err := again.Set(p.String()); err != nil || again.String() != p.String() {
			t.Errorf("%q is %q, and that %q, %v", text, p.String(), again.String(), err)
		}
	})
}
