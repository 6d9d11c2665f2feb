// Package text turns what users write about schedules into package schedule's
// values, and back into words. It makes no schedule and reads no file.
package text

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"amqpperf/internal/load/schedule"
	"amqpperf/internal/units"
)

// ParseShape reads segments separated by commas: "5k:30s" is a step (rate and
// length), "0:5s" a pause, "1k-50k:60s" a linear ramp. Rates and lengths are
// those of package units and of Go. Errors name the segment.
func ParseShape(s string) ([]schedule.Segment, error) {
	parts := strings.Split(s, ",")
	segments := make([]schedule.Segment, 0, len(parts))
	for i, part := range parts {
		part = strings.TrimSpace(part)
		g, err := parseSegment(part)
		if err != nil {
			return nil, fmt.Errorf("schedule, segment %d %q: %w", i+1, part, err)
		}
		segments = append(segments, g)
	}
	return segments, nil
}

func parseSegment(s string) (g schedule.Segment, err error) {
	rates, length, ok := strings.Cut(s, ":")
	if !ok {
		return g, errors.New("not RATE:LENGTH or RATE-RATE:LENGTH (examples: 5k:30s, 0:5s, 1k-50k:60s)")
	}
	from, to, ramp := strings.Cut(rates, "-")
	if g.From, err = parseRate(from); err != nil {
		return g, err
	}
	g.To = g.From
	if ramp {
		if g.To, err = parseRate(to); err != nil {
			return g, err
		}
	}
	g.Length, err = parseLength(length)
	return g, err
}

func parseLength(s string) (int64, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err != nil {
		return 0, fmt.Errorf("length %q: not a duration (examples: 30s, 500ms, 1m30s)", s)
	}
	if d <= 0 {
		return 0, fmt.Errorf("length %v: must be above 0", d)
	}
	return int64(d), nil
}

// parseRate reads a rate that may be 0.
func parseRate(s string) (schedule.Ratio, error) {
	s = strings.TrimSpace(s)
	digits, per, divided := strings.Cut(s, "/")
	zero := strings.Contains(digits, "0") && strings.Trim(digits, "0.") == "" && strings.Count(digits, ".") <= 1
	if zero && (!divided || per == "s" || per == "m" || per == "h") {
		return schedule.Ratio{Num: 0, Den: 1}, nil
	}
	r, err := units.ParseRate(s)
	if err != nil {
		return schedule.Ratio{}, err
	}
	if r.Max() {
		return schedule.Ratio{}, errors.New("rate max: a schedule needs numbers")
	}
	return schedule.Ratio{Num: r.Num, Den: r.Den}, nil
}

// ParseRepeat reads how often a shape is repeated: a number, or "forever".
func ParseRepeat(s string) (int64, error) {
	if s == "forever" {
		return schedule.Forever, nil
	}
	n, err := units.ParseCount(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("repeat %q: a number from 1, or forever", s)
	}
	return n, nil
}

// ParseBurst reads the two phases of random bursts, each as RATE:MEAN, the mean
// being that of the exponential length of the phase: "10k:2s,500:5s".
func ParseBurst(s string) (schedule.Burst, error) {
	parts := strings.Split(s, ",")
	if len(parts) != 2 {
		return schedule.Burst{}, fmt.Errorf("bursts %q: not two phases RATE:MEAN (example: 10k:2s,500:5s)", s)
	}
	var rates, leaves [2]schedule.Ratio
	for k, part := range parts {
		part = strings.TrimSpace(part)
		rate, length, ok := strings.Cut(part, ":")
		if !ok {
			return schedule.Burst{}, fmt.Errorf("bursts, phase %d %q: not RATE:MEAN (example: 10k:2s)", k+1, part)
		}
		var err error
		if rates[k], err = parseRate(rate); err != nil {
			return schedule.Burst{}, fmt.Errorf("bursts, phase %d %q: %w", k+1, part, err)
		}
		mean, err := parseLength(length)
		if err != nil {
			return schedule.Burst{}, fmt.Errorf("bursts, phase %d %q: %w", k+1, part, err)
		}
		leave := big.NewRat(int64(time.Second), mean)
		leaves[k] = schedule.Ratio{Num: leave.Num().Int64(), Den: leave.Denom().Int64()}
	}
	return schedule.Burst{Rate1: rates[0], Rate2: rates[1], Leave1: leaves[0], Leave2: leaves[1]}, nil
}

// ParseSpeed reads how much faster a replay runs: "2x", "0.5x", "1/3", "2". It
// is exact. Zero, negative numbers, NaN and infinity are refused.
func ParseSpeed(s string) (schedule.Speed, error) {
	number := strings.TrimSuffix(s, "x")
	above, below, fraction := strings.Cut(number, "/")
	ok := isDecimal(above) && (!fraction || isDecimal(below))
	value := new(big.Rat)
	if ok {
		value, ok = value.SetString(above)
	}
	if ok && fraction {
		var by *big.Rat
		if by, ok = new(big.Rat).SetString(below); ok && by.Sign() > 0 {
			value.Quo(value, by)
		} else {
			ok = false
		}
	}
	switch {
	case !ok:
		return schedule.Speed{}, fmt.Errorf("speed %q: not a number above 0 (examples: 2x, 0.5x, 1/3x)", s)
	case value.Sign() <= 0:
		return schedule.Speed{}, fmt.Errorf("speed %q: must be above 0", s)
	case value.Num().BitLen() > 29 || value.Denom().BitLen() > 29:
		return schedule.Speed{}, fmt.Errorf("speed %q: too many digits", s)
	}
	return schedule.Speed{Num: value.Num().Int64(), Den: value.Denom().Int64()}, nil
}

// isDecimal keeps out what big.Rat takes beside decimals: exponents, signs,
// underscores, other bases.
func isDecimal(s string) bool {
	return s != "" && len(s) <= 24 && strings.Trim(s, "0123456789.") == ""
}

// ParseShare reads "2/5": the second of five parts.
func ParseShare(s string) (schedule.Part, error) {
	k, of, ok := strings.Cut(s, "/")
	a, err := strconv.ParseUint(k, 10, 31)
	b, err2 := strconv.ParseUint(of, 10, 31)
	if !ok || err != nil || err2 != nil || a < 1 || a > b || b > 1_000_000 {
		return schedule.Part{}, fmt.Errorf("share %q: must be 1/N to N/N, N at most 1000000 (example: 2/5)", s)
	}
	return schedule.Part{K: int64(a), Of: int64(b)}, nil
}
