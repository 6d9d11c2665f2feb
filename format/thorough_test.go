package format

import (
	"flag"
	"os"
	"testing"
)

// TestMain sets how often properties are checked: 100 times, far more often with SOAK=1, and a few times under the race detector.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	checks := ""
	switch {
	case given:
	case soak():
		checks = "2000"
	case raced:
		checks = "10"
	}
	if checks != "" {
		if err := flag.Set("rapid.checks", checks); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func soak() bool { return os.Getenv("SOAK") != "" }

// stride is the step of a loop over all places of something, all of which are tried in one goroutine: 1, and n under the race
// detector, which has no more to see in all than in some.
func stride(n int) int {
	if raced && !soak() {
		return n
	}
	return 1
}
