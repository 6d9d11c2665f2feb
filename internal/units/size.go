package units

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// Size is a number of bytes.
type Size int64

// ParseSize reads "1024", "1KiB", "64k" (powers of 1000), "1.5MiB".
func ParseSize(s string) (Size, error) {
	number, factor := s, int64(1)
	for _, u := range []struct {
		suffix string
		factor int64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}} {
		if rest, ok := strings.CutSuffix(s, u.suffix); ok {
			number, factor = rest, u.factor
			break
		}
	}
	value, err := parseNumber(number)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w (examples: 1024, 64k, 1KiB, 1.5MiB)", s, err)
	}
	value.Mul(value, new(big.Rat).SetInt64(factor))
	if !value.IsInt() || !value.Num().IsInt64() || value.Num().Int64() > math.MaxInt32 {
		return 0, fmt.Errorf("size %q: must be a whole number of bytes, at most %d", s, math.MaxInt32)
	}
	return Size(value.Num().Int64()), nil
}

// String returns the shortest exact form.
func (s Size) String() string {
	switch {
	case s == 0:
		return "0"
	case s%(1<<30) == 0:
		return fmt.Sprintf("%dGiB", s>>30)
	case s%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", s>>20)
	case s%(1<<10) == 0:
		return fmt.Sprintf("%dKiB", s>>10)
	}
	return fmt.Sprint(int64(s))
}

// Set implements pflag.Value.
func (s *Size) Set(v string) (err error) { *s, err = ParseSize(v); return err }

// Type implements pflag.Value.
func (s *Size) Type() string { return "size" }
