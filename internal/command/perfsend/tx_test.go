package perfsend_test

import (
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
)

// Messages are acknowledged by the commit: all of a transaction at one instant.
// What was rolled back is released, and did not arrive. Commit times are samples.
func TestTransactions(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	if code := s.run("-u " + url + " -n 103 --tx 10 --tx-rollback 0.5 --max-pending 40 -o " + s.log + " queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	if r.b.Len() != 103 || r.count(format.Accepted)+r.count(format.Released) != 103 {
		t.Fatalf("%d rows, %d accepted, %d released", r.b.Len(), r.count(format.Accepted), r.count(format.Released))
	}
	kept := r.count(format.Accepted)
	if kept != 50 && kept != 53 && kept != 60 && kept != 63 {
		t.Errorf("%d accepted of transactions of ten, half of which were rolled back", kept)
	}
	for i := range r.b.Len() - 1 {
		same := i/10 == (i+1)/10
		if same && (r.b.Acked[i] != r.b.Acked[i+1] || r.outcome(i) != r.outcome(i+1)) || r.b.Acked[i] < r.b.Sent[i-i%10] {
			t.Errorf("messages %d and %d: acked at %d and %d, %s and %s", i, i+1, r.b.Acked[i], r.b.Acked[i+1], r.outcome(i), r.outcome(i+1))
		}
	}
	samples := s.samples(t)
	if n, m := len(samples["tx.commit_ns"]), len(samples["tx.rollback_ns"]); n+m != 11 || n == 0 || m == 0 {
		t.Errorf("%d commits and %d rollbacks in the samples", n, m)
	}
	for _, ns := range append(samples["tx.commit_ns"], samples["tx.rollback_ns"]...) {
		if ns <= 0 {
			t.Errorf("a transaction ended after %d ns", ns)
		}
	}
	if !strings.Contains(s.stderr.String(), "commit     mean") || !strings.Contains(s.stderr.String(), "(11 transactions, 5 rolled back)") && !strings.Contains(s.stderr.String(), "(11 transactions, 6 rolled back)") {
		t.Errorf("SUMMARY: %s", &s.stderr)
	}
	seen := map[int64]bool{}
	for _, m := range receive(t, url, "a", kept) {
		seen[stampOf(t, m).Seq] = true
	}
	for i := range r.b.Len() {
		if seen[r.b.Seq[i]] != (r.outcome(i) == format.Accepted) {
			t.Errorf("message %d: %s, arrived %t", r.b.Seq[i], r.outcome(i), seen[r.b.Seq[i]])
		}
	}
}
