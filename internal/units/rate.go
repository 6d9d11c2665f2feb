// Package units parses and prints the quantities of the command line: rates,
// sizes and durations. All types implement pflag.Value by their methods, so
// that flags parse into final values.
package units

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Rate is a number of messages per second as an exact fraction: Num messages
// every Den seconds. The zero value is "max": as fast as the window allows.
type Rate struct {
	Num, Den int64
}

// maxRate keeps an interval at one nanosecond or more.
const maxRate = 1_000_000_000

// maxSeconds bounds Den, so that Den in nanoseconds is an int64.
const maxSeconds = 9_000_000_000

// ParseRate reads "30k", "2.5k", "0.5/s", "30/m", "1M/h", or "max".
func ParseRate(s string) (Rate, error) {
	if s == "max" {
		return Rate{}, nil
	}
	number, per, divided := strings.Cut(s, "/")
	seconds := int64(1)
	if divided {
		switch per {
		case "s", "sec":
		case "m", "min":
			seconds = 60
		case "h":
			seconds = 3600
		default:
			return Rate{}, fmt.Errorf("rate %q: after the slash goes s, m or h", s)
		}
	}
	value, err := parseNumber(number)
	if err != nil {
		return Rate{}, fmt.Errorf("rate %q: %w (examples: 500, 30k, 0.5/s, 30/m, max)", s, err)
	}
	value.Quo(value, new(big.Rat).SetInt64(seconds))
	if value.Sign() <= 0 {
		return Rate{}, fmt.Errorf("rate %q: must be above 0", s)
	}
	if value.Cmp(new(big.Rat).SetInt64(maxRate)) > 0 {
		return Rate{}, fmt.Errorf("rate %q: at most 1G per second", s)
	}
	if !value.Num().IsInt64() || !value.Denom().IsInt64() || value.Denom().Int64() > maxSeconds {
		return Rate{}, fmt.Errorf("rate %q: too many digits", s)
	}
	return Rate{Num: value.Num().Int64(), Den: value.Denom().Int64()}, nil
}

// parseNumber reads a decimal number with an optional k, M or G (powers of 1000).
func parseNumber(s string) (*big.Rat, error) {
	digits, factor := s, int64(1)
	if s != "" {
		switch s[len(s)-1] {
		case 'k', 'K':
			digits, factor = s[:len(s)-1], 1_000
		case 'M':
			digits, factor = s[:len(s)-1], 1_000_000
		case 'G':
			digits, factor = s[:len(s)-1], 1_000_000_000
		}
	}
	// big.Rat would also take fractions, exponents and underscores.
	if digits == "" || len(digits) > 24 || strings.Trim(digits, "0123456789.") != "" {
		return nil, errors.New("not a number")
	}
	value, ok := new(big.Rat).SetString(digits)
	if !ok {
		return nil, errors.New("not a number")
	}
	return value.Mul(value, new(big.Rat).SetInt64(factor)), nil
}

// Max reports whether the rate is unlimited.
func (r Rate) Max() bool { return r.Num == 0 }

// PerSecond returns the rate in messages per second, 0 for max.
func (r Rate) PerSecond() float64 {
	if r.Max() {
		return 0
	}
	return float64(r.Num) / float64(r.Den)
}

// Interval returns the time between two messages, rounded down, 0 for max.
func (r Rate) Interval() time.Duration {
	if r.Max() {
		return 0
	}
	i := new(big.Int).Mul(big.NewInt(r.Den), big.NewInt(int64(time.Second)))
	return time.Duration(i.Quo(i, big.NewInt(r.Num)).Int64())
}

// String returns the shortest form that ParseRate reads back to the same rate.
func (r Rate) String() string {
	switch {
	case r.Max():
		return "max"
	case r.Den == 1:
		return shortCount(r.Num)
	case 60%r.Den == 0:
		return shortCount(r.Num*(60/r.Den)) + "/m"
	case 3600%r.Den == 0:
		return shortCount(r.Num*(3600/r.Den)) + "/h"
	}
	// Whatever ParseRate reads is a finite decimal per second or per hour.
	perSecond := new(big.Rat).SetFrac64(r.Num, r.Den)
	if digits, exact := perSecond.FloatPrec(); exact {
		return perSecond.FloatString(digits)
	}
	perHour := perSecond.Mul(perSecond, big.NewRat(3600, 1))
	digits, _ := perHour.FloatPrec()
	return perHour.FloatString(digits) + "/h"
}

func shortCount(n int64) string {
	switch {
	case n%1_000_000_000 == 0:
		return fmt.Sprintf("%dG", n/1_000_000_000)
	case n%1_000_000 == 0:
		return fmt.Sprintf("%dM", n/1_000_000)
	case n%1_000 == 0:
		return fmt.Sprintf("%dk", n/1_000)
	}
	return fmt.Sprint(n)
}

// Set implements pflag.Value.
func (r *Rate) Set(s string) (err error) { *r, err = ParseRate(s); return err }

// Type implements pflag.Value.
func (r *Rate) Type() string { return "rate" }
