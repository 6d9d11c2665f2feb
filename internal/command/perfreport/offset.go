package perfreport

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// offset is a time since the first intended instant, as a flag: a duration such
// as 10s, or a number of seconds.
type offset struct {
	d   time.Duration
	set bool
}

// Set implements pflag.Value.
func (o *offset) Set(s string) error {
	d, err := parseOffset(s)
	if err != nil {
		return err
	}
	*o = offset{d: d, set: true}
	return nil
}

func parseOffset(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		if d, err = seconds(s); err != nil {
			return 0, fmt.Errorf("%q: want a duration such as 10s, or seconds", s)
		}
	}
	if d < 0 {
		return 0, fmt.Errorf("%q: must not be negative", s)
	}
	return d, nil
}

// seconds reads a plain decimal number of seconds, exact to the nanosecond.
func seconds(s string) (time.Duration, error) {
	v, ok := new(big.Rat).SetString(s)
	if !ok || s == "" || len(s) > 24 || strings.Trim(s, "0123456789.") != "" {
		return 0, fmt.Errorf("not a number")
	}
	v.Mul(v, big.NewRat(int64(time.Second), 1))
	n := new(big.Int).Quo(v.Num(), v.Denom())
	if !n.IsInt64() {
		return 0, fmt.Errorf("too large")
	}
	return time.Duration(n.Int64()), nil
}

// String implements pflag.Value.
func (o *offset) String() string {
	if !o.set {
		return ""
	}
	return o.d.String()
}

// Type implements pflag.Value.
func (o *offset) Type() string { return "time" }

// warmup is an offset, or what is found to be warm-up.
type warmup struct {
	offset
	auto bool
}

// Set implements pflag.Value.
func (w *warmup) Set(s string) error {
	if s == "auto" {
		*w = warmup{auto: true}
		return nil
	}
	w.auto = false
	if err := w.offset.Set(s); err != nil {
		return fmt.Errorf("%w, or auto", err)
	}
	return nil
}

// String implements pflag.Value.
func (w *warmup) String() string {
	if w.auto {
		return "auto"
	}
	return w.offset.String()
}
