package consume

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Work is how long a consumer works on a message between started and settled.
// The zero value is no work at all. It is a pflag.Value.
type Work struct {
	kind   string // "", constant, exp, lognormal
	time   time.Duration
	spread float64
}

// The distributions.
const (
	constant    = "constant"
	exponential = "exp"
	lognormal   = "lognormal"
)

// longestWork bounds what the tail of a distribution can bring.
const longestWork = time.Hour

// Set parses a duration, exp(MEAN), or lognormal(MEDIAN,SPREAD) with the
// geometric standard deviation SPREAD, above 1: two thirds of the times are
// within that factor of the median.
func (w *Work) Set(text string) error {
	kind, arguments, found := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if !found {
		kind, arguments = constant, text
	} else if !strings.HasSuffix(text, ")") || kind == constant {
		kind = ""
	}
	next := Work{kind: kind}
	var err error
	switch kind {
	case constant, exponential:
		next.time, err = time.ParseDuration(arguments)
	case lognormal:
		median, spread, ok := strings.Cut(arguments, ",")
		if next.time, err = time.ParseDuration(strings.TrimSpace(median)); err != nil || !ok {
			break
		}
		next.spread, err = strconv.ParseFloat(strings.TrimSpace(spread), 64)
		if err == nil && !(next.spread > 1 && next.spread <= 100) {
			return fmt.Errorf("%q: the spread is a factor above 1, at most 100", text)
		}
		if err != nil {
			return fmt.Errorf("%q: want lognormal(MEDIAN,SPREAD), such as lognormal(5ms,2)", text)
		}
	default:
		err = strconv.ErrSyntax
	}
	if err != nil || (kind == lognormal && next.spread == 0) {
		return fmt.Errorf("%q: want a time such as 5ms, exp(5ms) with that mean, or lognormal(5ms,2) with that median and spread", text)
	}
	if next.time <= 0 || next.time > longestWork {
		return fmt.Errorf("%q: the time must be above 0 and at most %v", text, longestWork)
	}
	*w = next
	return nil
}

// String returns the text that Set reads, "" for no work.
func (w *Work) String() string {
	switch w.kind {
	case exponential:
		return fmt.Sprintf("exp(%v)", w.time)
	case lognormal:
		return fmt.Sprintf("lognormal(%v,%v)", w.time, w.spread)
	case constant:
		return w.time.String()
	}
	return ""
}

// Type implements pflag.Value.
func (w *Work) Type() string { return "time" }

// None reports whether there is no work.
func (w *Work) None() bool { return w.kind == "" }

// Random reports whether the times come from a generator that wants a seed.
func (w *Work) Random() bool { return w.kind == exponential || w.kind == lognormal }

// draw returns the next time in ns.
func (w *Work) draw(r *rand.Rand) int64 {
	x := float64(w.time)
	switch w.kind {
	case exponential:
		x *= r.ExpFloat64()
	case lognormal:
		x *= math.Exp(r.NormFloat64() * math.Log(w.spread))
	}
	return int64(min(x, float64(longestWork)))
}
