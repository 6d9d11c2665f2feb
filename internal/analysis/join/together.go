package join

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/units"

	"amqpperf/format"
)

// sendConfig is what of a sender's perf.config tells whether the senders of a
// run were one experiment.
type sendConfig struct {
	Loop         string `json:"loop"`
	Rate         string `json:"rate"`
	ScheduleHash string `json:"schedule_hash"`
	Share        string `json:"share"` // 2/5
	StartNS      int64  `json:"start_ns"`
	Size         any    `json:"size"`
	MaxPending   int    `json:"max_pending"`
	Durable      bool   `json:"durable"`
	Presettled   bool   `json:"presettled"`
	Tx           int    `json:"tx"`
}

// load is what all senders of one experiment have in common.
func (c *sendConfig) load() string {
	return fmt.Sprintf("%s, size %v, max-pending %d, durable %v, presettled %v, tx %d", c.Loop, c.Size, c.MaxPending, c.Durable, c.Presettled, c.Tx)
}

// schedule names what was intended; without a hash the rate as it was typed.
func (c *sendConfig) schedule() string {
	if c.ScheduleHash != "" {
		return c.ScheduleHash
	}
	return c.Rate
}

// startedTogether is how far the starts of shares may be apart: --start-at
// leaves what the clocks are apart, starting by hand seconds.
const startedTogether = time.Second

// together is check C22, as far as the logs themselves tell it: one schedule,
// all its shares once, started together, one load.
func (j *Joiner) together() (Check, error) {
	check := Check{ID: "C22", Status: clock.Skip, Text: "the send logs do not say how they were configured"}
	var schedules, loads, shares, bad []string
	var first, last int64
	of := map[int]bool{}
	n := 0
	for _, l := range j.sends {
		var c sendConfig
		ok, err := l.in.log.Meta().JSON(format.KeyConfig, &c)
		if err != nil {
			return check, fmt.Errorf("%s: %w", l.in.log.Name(), err)
		}
		if !ok {
			continue
		}
		n++
		schedules, loads = appendNew(schedules, c.schedule()), appendNew(loads, c.load())
		if c.StartNS != 0 {
			start := c.StartNS + l.clock.shift(c.StartNS)
			if first == 0 || start < first {
				first = start
			}
			last = max(last, start)
		}
		if c.Share == "" {
			continue
		}
		if slices.Contains(shares, c.Share) {
			bad = append(bad, "two senders have share "+c.Share)
		}
		shares = append(shares, c.Share)
		if _, count, ok := strings.Cut(c.Share, "/"); ok {
			if k, err := strconv.Atoi(count); err == nil {
				of[k] = true
			}
		}
	}
	if n == 0 {
		return check, nil
	}
	if len(schedules) > 1 {
		bad = append(bad, fmt.Sprintf("the senders have %d different schedules", len(schedules)))
	}
	if len(loads) > 1 {
		bad = append(bad, fmt.Sprintf("the senders have %d different configurations: %s", len(loads), strings.Join(loads, " | ")))
	}
	bad = append(bad, sharesMissing(shares, of, n)...)
	if apart := last - first; len(shares) > 1 && apart > int64(startedTogether) {
		bad = append(bad, fmt.Sprintf("the shares started %s apart", units.Latency(apart)))
	}
	check.Status, check.Text = clock.OK, fmt.Sprintf("%d send and %d receive logs of one run", len(j.sends), len(j.recvs))
	if len(bad) > 0 {
		check.Status, check.Text = clock.Fail, strings.Join(bad, "; ")
	}
	return check, nil
}

// sharesMissing compares the shares that are there with those there should be.
func sharesMissing(shares []string, of map[int]bool, senders int) (bad []string) {
	if len(shares) == 0 {
		return nil
	}
	if len(of) > 1 {
		return []string{"the shares are of different wholes: " + strings.Join(shares, ", ")}
	}
	for k := range of {
		var missing []string
		for i := 1; i <= k && len(missing) < 10; i++ {
			if share := fmt.Sprintf("%d/%d", i, k); !slices.Contains(shares, share) {
				missing = append(missing, share)
			}
		}
		if len(missing) > 0 {
			bad = append(bad, "no log of share "+strings.Join(missing, ", "))
		}
	}
	if senders > len(shares) {
		bad = append(bad, fmt.Sprintf("%d senders have no share, %d have", senders-len(shares), len(shares)))
	}
	return bad
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
