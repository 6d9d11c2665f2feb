package perfrecv_test

import (
	"encoding/json"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
)

// Of 100 messages every tenth is rejected: one in ten is gone, nothing comes again.
func TestReject(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 100 queue://q")
	s := newSession(t, url)
	if code := s.run("-n 100 --outcome reject=0.1 queue://q"); code != 0 || !strings.Contains(s.stderr.String(), "rejected             10") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	if r.b.Len() != 100 || r.count(format.Accepted) != 90 || r.count(format.Rejected) != 10 {
		t.Errorf("%d rows, %d accepted, %d rejected", r.b.Len(), r.count(format.Accepted), r.count(format.Rejected))
	}
	for i := range r.b.Len() {
		if outcome, _ := r.b.Outcome.At(i); (outcome == format.Rejected) != (r.b.Seq[i]%10 == 5) {
			t.Errorf("message %d is %s", r.b.Seq[i], outcome)
		}
	}
}

// Half goes back and comes again, counted by the broker if the delivery failed,
// until all are accepted; the run ends.
func TestGivenBack(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	for _, outcome := range []string{format.Released, format.Modified} {
		name := strings.TrimSuffix(outcome, "d")
		if outcome == format.Modified {
			name = "modify"
		}
		send(t, url, "-n 64 queue://"+name)
		s := newSession(t, url)
		// Every second delivery goes back: the 64th that is accepted is the 127th.
		if code := s.run("-n 127 --outcome " + name + "=0.5 queue://" + name); code != 0 {
			t.Errorf("exit %d: %s", code, &s.stderr)
		}
		r := s.read(t)
		again := 0
		for i := range r.b.Len() {
			if r.b.DeliveryCount[i] > 0 {
				again++
			}
		}
		if r.count(format.Accepted) != 64 || r.count(outcome) != 63 || r.b.Len() != 127 {
			t.Errorf("%s: %d rows, %d accepted, %d given back", name, r.b.Len(), r.count(format.Accepted), r.count(outcome))
		}
		if want := r.count(outcome); outcome == format.Modified && again != want || outcome == format.Released && again != 0 {
			t.Errorf("%s: %d deliveries say that they are not the first, %d were given back", name, again, want)
		}
	}
}

// Five milliseconds of work on each message show in the rows and in the log's
// configuration, and not in received.
func TestWorkAndRate(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 20 queue://q")
	s := newSession(t, url)
	if code := s.run("-n 10 --work exp(5ms) --seed 3 --rate 1k queue://q"); code != 0 || !strings.Contains(s.stderr.String(), "work       mean") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	begun, last := 0, int64(0)
	for i := range r.b.Len() {
		if r.b.Started[i] != format.Null {
			begun++
			if r.b.Started[i] < last {
				t.Errorf("message %d was begun with before the one before it was settled", i)
			}
			last = r.b.Settled[i]
		}
	}
	var c struct {
		Work, Rate, Timer, Outcome string
		Seed                       uint64
	}
	if err := json.Unmarshal([]byte(r.meta[format.KeyConfig]), &c); err != nil || c.Work != "exp(5ms)" || c.Seed != 3 || c.Rate != "1k" || c.Timer == "" || c.Outcome != "accept" {
		t.Errorf("config %+v, %v", c, err)
	}
	if begun != 10 || r.count(format.Accepted) != 10 || r.count(format.Released) != r.b.Len()-10 {
		t.Errorf("%d begun with, %d accepted of %d", begun, r.count(format.Accepted), r.b.Len())
	}
}

// A consumer that starts late gets everything after its delay, and is attached before.
func TestStartDelay(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 5 queue://q")
	s := newSession(t, url)
	if code := s.run("-n 5 --wait 10s --start-delay 300ms queue://q"); code != 0 {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	subs, _, err := r.meta.Subscriptions()
	if err != nil || len(subs) != 1 || r.b.Len() != 5 {
		t.Fatalf("%d rows, subscriptions %+v, %v", r.b.Len(), subs, err)
	}
	for i := range r.b.Len() {
		if waited := r.b.Received[i] - subs[0].Attached; waited < 300e6 {
			t.Errorf("message %d came %d ns after the attach", i, waited)
		}
	}
}

func TestConsumerRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, text string }{
		{"--outcome drop", "must be one of accept, release, reject, modify"},
		{"--outcome release", "gives every message back"},
		{"--outcome release --undeliverable-here", "--undeliverable-here is about what is modified"},
		{"--undeliverable-here", "--undeliverable-here is about what is modified"},
		{"--outcome release=0.5,modify=0.5 --idle 1s", "gives every message back"},
		{"--work 5", "want a time such as 5ms"},
		{"--seed 5", "nothing is random without --work"},
		{"--seed 5 --work 5ms", "nothing is random without --work"},
		{"--rate 0", "rate"},
		{"--start-delay -1s", "--start-delay -1s: must not be negative"},
		{"--start-delay 2s -d 1s", "leaves nothing of -d 1s"},
		{"--start-delay 2s --wait 3s -d 5s", "is never reached within -d 5s"},
	} {
		s := newSession(t, "amqp://127.0.0.1:1")
		if code := s.run(tt.args + " queue://a"); code != cli.ExitUsage || !strings.Contains(s.stderr.String(), tt.text) {
			t.Errorf("%s: exit %d, want usage with %q: %s", tt.args, code, tt.text, &s.stderr)
		}
	}
}
