package units

import (
	"fmt"
	"strconv"
)

// Count is a number of messages.
type Count int64

// Set implements pflag.Value.
func (c *Count) Set(s string) error {
	n, err := ParseCount(s)
	*c = Count(n)
	return err
}

// String implements pflag.Value.
func (c *Count) String() string { return strconv.FormatInt(int64(*c), 10) }

// Type implements pflag.Value.
func (c *Count) Type() string { return "count" }

// ParseCount reads a number of messages: "10000", "1M", "2.5k".
func ParseCount(s string) (int64, error) {
	value, err := parseNumber(s)
	if err != nil {
		return 0, fmt.Errorf("count %q: %w (examples: 10000, 30k, 1M)", s, err)
	}
	if !value.IsInt() || !value.Num().IsInt64() {
		return 0, fmt.Errorf("count %q: must be a whole number", s)
	}
	return value.Num().Int64(), nil
}

// Thousands prints an integer with commas: "1,234,567".
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
