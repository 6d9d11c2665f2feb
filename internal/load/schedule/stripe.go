package schedule

// Stripe is the share of one of several producers in a schedule: producer K of
// Of gets the messages K, K+Of, K+2·Of, … So the totals of all producers are
// exactly those of the schedule, whatever does not divide evenly, and producers
// of equal rates do not fire together but stand 1/rate apart.
type Stripe struct {
	Of    Schedule
	K, By int64 // 0 ≤ K < By
}

// At implements Schedule.
func (s Stripe) At(j int64) int64 { return s.Of.At(s.Index(j)) }

// Index returns the index in the whole schedule of message j of the stripe.
func (s Stripe) Index(j int64) int64 { return s.K + j*s.By }

// N implements Schedule.
func (s Stripe) N() int64 {
	if n := s.Of.N(); n != Unbounded {
		return Share(n, s.K, s.By)
	}
	return Unbounded
}

// Share returns how many of the first n indices of the whole fall to producer k of by.
func Share(n, k, by int64) int64 {
	if n <= k {
		return 0
	}
	return (n-k-1)/by + 1
}
