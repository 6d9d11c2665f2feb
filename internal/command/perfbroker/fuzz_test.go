package perfbroker

import "testing"

// FuzzFlags reads a text as a stall and as a service time: what is taken is not negative and reads the same when it was printed.
func FuzzFlags(f *testing.F) {
	for _, s := range []string{"10s:100ms", "500us", "exp:500us", "0s", ":", "1s:-1s", "exp:", "9999999h:1ns", "exp:exp:1s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var list, again stalls
		if list.Set(s) == nil {
			if v := list[0]; v.At < 0 || v.For < 0 {
				t.Errorf("stall %q: %+v", s, v)
			}
			if err := again.Set(list.String()); err != nil || again[0] != list[0] {
				t.Errorf("stall %q is printed as %q, which reads %+v, %v", s, list.String(), again, err)
			}
		}
		var time, same service
		if time.Set(s) == nil {
			if time.Mean < 0 {
				t.Errorf("service time %q: %+v", s, time)
			}
			if err := same.Set(time.String()); err != nil || same != time {
				t.Errorf("service time %q is printed as %q, which reads %+v, %v", s, time.String(), same, err)
			}
		}
	})
}
