package units_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"amqpperf/internal/units"
)

func TestParseRate(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]units.Rate{
		"max": {}, "500": {500, 1}, "30k": {30_000, 1}, "2.5k": {2500, 1}, "0.5/s": {1, 2}, "30/m": {1, 2}, "1M/h": {2500, 9},
		"1G": {1e9, 1}, "0.1": {1, 10}, "7/min": {7, 60}, "1/h": {1, 3600}, "1K": {1000, 1},
	} {
		got, err := units.ParseRate(s)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v, want %+v", s, got, err, want)
		}
		again, err := units.ParseRate(got.String())
		if err != nil || again != got {
			t.Errorf("%q is printed as %q, which is read as %+v, %v", s, got, again, err)
		}
	}
	for s, want := range map[string]string{
		"": "not a number", "0": "above 0", "-1": "not a number", "1/d": "after the slash", "1e3": "not a number", "1_000": "not a number",
		"1/2": "after the slash", "2G": "at most 1G", "1.2.3": "not a number", "k": "not a number", "0x10": "not a number", "Inf": "not a number",
		"3.1415926535897932384626": "too many digits",
	} {
		if _, err := units.ParseRate(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", s, err, want)
		}
	}
}

func TestRateNumbers(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct {
		perSecond float64
		interval  time.Duration
	}{"max": {}, "4": {4, 250 * time.Millisecond}, "30/m": {0.5, 2 * time.Second}, "3": {3, 333_333_333}} {
		r, err := units.ParseRate(s)
		if err != nil || r.PerSecond() != want.perSecond || r.Interval() != want.interval || r.Max() != (s == "max") {
			t.Errorf("%q: %v/s, %v, %v", s, r.PerSecond(), r.Interval(), err)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]units.Size{
		"0": 0, "1024": 1024, "1KiB": 1024, "64k": 64_000, "1.5MiB": 3 << 19, "2kB": 2000, "1MB": 1e6, "1GiB": 1 << 30, "12B": 12, "0.5k": 500,
	} {
		got, err := units.ParseSize(s)
		if err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", s, int64(got), err, int64(want))
		}
	}
	for _, s := range []string{"", "-1", "1.5", "2GiB", "1TiB", "KiB", "1e3", "0.1B"} {
		if got, err := units.ParseSize(s); err == nil {
			t.Errorf("%q was read as %d", s, int64(got))
		}
	}
}

func TestParseCount(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int64{"0": 0, "10000": 10000, "1M": 1e6, "2.5k": 2500, "3G": 3e9} {
		if got, err := units.ParseCount(s); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-1", "1.5", "1e3", "99999999999999999999", "0.0001k"} {
		if got, err := units.ParseCount(s); err == nil {
			t.Errorf("%q was read as %d", s, got)
		}
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	for ns, want := range map[int64]string{
		0: "0ns", 850: "850ns", 999: "999ns", 1000: "1.00us", 12_345: "12.3us", 999_499: "999us", 999_500: "1.00ms", 4_560_000: "4.56ms",
		1_200_000_000: "1.20s", 61_000_000_000: "61.0s", -1500: "-1.50us", math.MaxInt64: "9223372037s",
	} {
		if got := units.Latency(ns); got != want {
			t.Errorf("%d ns is %q, want %q", ns, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := units.Thousands(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{1234 * time.Millisecond: "1.23s", 61*time.Second + 300*time.Millisecond: "1m1s"} {
		if got := units.Seconds(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// What is printed is read back as the same rate, size.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := units.Size(rapid.Int64Range(0, math.MaxInt32).Draw(t, "size"))
		if got, err := units.ParseSize(size.String()); err != nil || got != size {
			t.Fatalf("%d is printed as %q and read as %d, %v", int64(size), size, int64(got), err)
		}
		n := rapid.Int64Range(1, 1e9).Draw(t, "n")
		for _, den := range []int64{1, 60, 3600} {
			rate, err := units.ParseRate(rate(n, den))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := units.ParseRate(rate.String()); err != nil || got != rate {
				t.Fatalf("%+v is printed as %q and read as %+v, %v", rate, rate, got, err)
			}
		}
	})
}

func rate(n, den int64) string {
	return strconv.FormatInt(n, 10) + map[int64]string{1: "/s", 60: "/m", 3600: "/h"}[den]
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"max", "30k", "0.5/s", "30/m", "1M/h", "2.5", "0.000001", "1/7", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := units.ParseRate(s)
		if err != nil {
			return
		}
		if r.Max() != (s == "max") || r.Num < 0 || (!r.Max() && (r.Den < 1 || r.PerSecond() > 1e9)) {
			t.Fatalf("%q: %+v", s, r)
		}
		if again, err := units.ParseRate(r.String()); err != nil || again != r {
			t.Fatalf("%q is %+v, printed as %q, read as %+v, %v", s, r, r, again, err)
		}
	})
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"0", "1024", "1KiB", "64k", "1.5MiB", "2GiB", "kB", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := units.ParseSize(s)
		if err != nil {
			return
		}
		if again, err := units.ParseSize(n.String()); err != nil || again != n || n < 0 {
			t.Fatalf("%q is %d, printed as %q, read as %d, %v", s, int64(n), n, int64(again), err)
		}
	})
}

func FuzzParseCount(f *testing.F) {
	for _, s := range []string{"0", "10000", "1M", "2.5k", "1.5", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := units.ParseCount(s); err == nil && n < 0 {
			t.Fatalf("%q is %d", s, n)
		}
	})
}
