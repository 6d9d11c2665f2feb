package connect

import (
	"fmt"
	"strconv"
)

// Share is a flag that holds a share of a whole, above 0 and at most 1; 0 if it
// was not given.
type Share float64

// Set implements pflag.Value.
func (s *Share) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && v <= 1) {
		return fmt.Errorf("share %q: must be above 0 and at most 1, such as 0.1", text)
	}
	*s = Share(v)
	return nil
}

// String returns the share as a number, "" if none was given.
func (s *Share) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*s), 'g', -1, 64)
}

// Type implements pflag.Value.
func (s *Share) Type() string { return "share" }
