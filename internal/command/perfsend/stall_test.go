package perfsend_test

import (
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
)

// A broker that is stalled for 100 ms at 1000/s makes about 100 messages slow,
// by 100, 99 … 1 ms. With one message in flight the response shows them all and
// the service shows one: that is coordinated omission. With many in flight both
// show them. In real time: the machine may add slow messages, never remove any.
func TestStall(t *testing.T) {
	t.Parallel()
	for window, least := range map[string]int{"1": 1, "1000": 20} { // 80 if this program is never held up itself
		t.Run(window, func(t *testing.T) {
			t.Parallel()
			_, url := startBroker(t, broker.Config{Stalls: []broker.Stall{{At: 300 * time.Millisecond, For: 100 * time.Millisecond}}})
			s := newSession(t)
			if code := s.run("-u " + url + " -r 1k -d 700ms -q --max-pending " + window + " -o " + s.log + " queue://a"); code != 0 {
				t.Fatalf("exit %d: %s", code, &s.stderr)
			}
			r := s.read(t)
			const slow = int64(20 * time.Millisecond)
			var response, service, blocked, byWindow int
			for i := range r.b.Len() {
				if r.b.Acked[i]-r.b.Intended[i] > slow {
					response++
				}
				if r.b.Sent[i]-r.b.Ready[i] > slow {
					blocked++
					if wait, _ := r.b.Wait.At(i); wait == format.WaitWindow {
						byWindow++
					}
				}
				if r.b.Acked[i]-r.b.Sent[i] > slow {
					service++
				}
			}
			if r.b.Len() != 700 || response < 78 || service < least {
				t.Errorf("%d rows: response above 20 ms of %d messages, service of %d; want 80 and %d at least", r.b.Len(), response, service, least)
			}
			// Whatever else holds up one message for 20 ms holds up 20.
			if window == "1" && (byWindow < 75 || 2*service > response) {
				t.Errorf("%d of %d blocked messages waited for the window; response above 20 ms of %d, service of %d", byWindow, blocked, response, service)
			}
		})
	}
}
