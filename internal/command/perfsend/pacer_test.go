package perfsend_test

import (
	"runtime"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/load/pace"
)

// What the pacer waits with stands in the log and in the SUMMARY.
func TestSpin(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	for flag, want := range map[string]bool{"": false, "--spin=never": false, "--spin=always": true, "--spin": runtime.GOMAXPROCS(0) >= pace.SpinProcs} {
		s := newSession(t)
		if code := s.run("-u " + url + " -r 1k -n 20 " + flag + " -o " + s.log + " queue://a"); code != 0 {
			t.Fatalf("exit %d: %s", code, &s.stderr)
		}
		var c struct {
			Timer string `json:"timer"`
		}
		r := s.read(t)
		if ok, err := r.meta.JSON(format.KeyConfig, &c); !ok || err != nil {
			t.Fatal(err)
		}
		if spins := strings.Contains(c.Timer, "busy-waiting"); spins != want || c.Timer == "" || !strings.Contains(s.stderr.String(), "paced by   "+c.Timer+"\n") {
			t.Errorf("%q: timer %q, standard error:\n%s", flag, c.Timer, &s.stderr)
		}
		if told := strings.Contains(s.stderr.String(), "does not busy-wait"); told != (flag == "--spin" && !want) {
			t.Errorf("%q: standard error:\n%s", flag, &s.stderr)
		}
		for i := range r.b.Len() {
			if r.b.Ready[i] < r.b.Intended[i] {
				t.Errorf("%q: message %d was handed over early", flag, i)
			}
		}
	}
	s := newSession(t)
	if code := s.run("-u " + url + " --spin=always -n 20 -o " + s.log + " queue://a"); code != 2 {
		t.Errorf("--spin without --rate: exit %d: %s", code, &s.stderr)
	}
}
