package consume

import (
	"math/rand/v2"
	"unsafe"

	"amqpperf/internal/amqp"
)

// Draw returns the next time of work in ns.
func Draw(w *Work, r *rand.Rand) int64 { return w.draw(r) }

// Spread returns the choice of outcomes, as indices of accept, release, reject,
// modify with these shares in billionths.
func Spread(shares [4]int64) func() int {
	s := &spread{shares: shares}
	return s.next
}

// Answers returns the outcomes in the log by their state on the link.
func Answers() map[string]amqp.State {
	m := map[string]amqp.State{}
	for _, a := range answers() {
		m[a.outcome] = a.state
	}
	return m
}

// RowInMemory is how many bytes a delivery takes that waits, or is not settled.
const RowInMemory = unsafe.Sizeof(delivery{})
