package checks

import (
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report/words"
)

// byJoin are the checks that the join makes as well, which saw what the rows do
// not tell: the exchanges of the probes, and the starts and hashes of schedules.
func byJoin() []string { return []string{"C14", "C15", "C16", "C17", "C22"} }

// joined makes a check's verdict that of the join where that is worse, or where
// the rows allow none. The join does not know whether the error of the one clock
// of a host matters (C14): there it has nothing to add.
func (c *Check) joined(d *reduce.Data) {
	if c.ID == "C14" && !crossHost(d) {
		return
	}
	for _, v := range d.Verdicts {
		if v.ID != c.ID || !worse(Status(v.Status), c.Status) {
			continue
		}
		text := "the join of the whole run says: " + words.Plain(v.Text)
		if c.Status != Skip {
			text = c.Text + "; " + text
		}
		c.Status, c.Text = Status(v.Status), text
	}
}

// worse reports whether a verdict of others is one, and worse than b.
func worse(a, b Status) bool {
	rank := map[Status]int{OK: 1, Warn: 2, Fail: 3}
	return rank[a] > rank[b]
}
