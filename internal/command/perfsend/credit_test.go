package perfsend_test

import (
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
)

// Without a window the broker's credit alone holds messages back.
func TestCreditOnly(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{Credit: 20})
	s := newSession(t)
	if code := s.run("-u " + url + " -n 2000 --max-pending 0 -o " + s.log + " queue://a"); code != 0 || !strings.Contains(s.stderr.String(), "as fast as the broker's credit allows") {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	waited := 0
	for i := range r.b.Len() {
		switch wait, _ := r.b.Wait.At(i); wait {
		case format.WaitWindow:
			t.Errorf("message %d has waited for the window", i)
		case format.WaitCredit:
			waited++
		}
	}
	if r.count(format.Accepted) != 2000 || r.b.Len() != 2000 || waited == 0 {
		t.Errorf("%d rows, %d accepted, %d waited for credit", r.b.Len(), r.count(format.Accepted), waited)
	}
}
