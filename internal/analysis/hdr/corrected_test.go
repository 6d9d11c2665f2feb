package hdr_test

import (
	"bytes"
	"testing"
	"time"

	"amqpperf/internal/analysis/hdr"
)

func one(t *testing.T, values ...int64) *hdr.Histogram {
	t.Helper()
	c, err := hdr.NewCollector(hdr.Config{End: 1}, "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		c.Series(0).Record(0, v)
	}
	var b bytes.Buffer
	if err := c.WriteLog(&b); err != nil {
		t.Fatal(err)
	}
	log, err := hdr.ReadLog(&b, "test")
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := hdr.Sum(log.Intervals)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// A value v ≥ 2T adds ⌊v/T⌋ − 1 values; the loop is that of the Java version.
func TestCorrected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values   []int64
		expected int64
		n        int64
	}{{[]int64{1000}, 100, 10}, {[]int64{1050}, 100, 10}, {[]int64{199}, 100, 1}, {[]int64{200}, 100, 2}, {[]int64{1000, 50}, 100, 11}, {nil, 100, 0}} {
		h, err := one(t, c.values...).Corrected(c.expected)
		if err != nil || h.N() != c.n {
			t.Errorf("%v with %d: %d values, want %d, %v", c.values, c.expected, h.N(), c.n, err)
		}
	}
	// K3: a constant latency of ten intervals in an open loop would be made ten
	// times as many values with a mean of 5.5 intervals.
	h, err := one(t, 1000, 1000, 1000).Corrected(100)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for b := range h.Buckets {
		sum += b.Low * b.Count
	}
	if h.N() != 30 || sum != 30*550 {
		t.Errorf("%d values with mean %v", h.N(), float64(sum)/float64(h.N()))
	}
	if _, err := one(t, int64(time.Hour)).Corrected(1); err == nil {
		t.Error("an interval of 1 ns makes 3.6e12 values")
	}
	if _, err := one(t, 5).Corrected(0); err == nil {
		t.Error("an interval of nothing")
	}
}
