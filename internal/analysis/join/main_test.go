package join_test

import (
	"flag"
	"os"
	"testing"
)

// Every check of the oracle writes four logs, so fewer than rapid's hundred are
// made unless asked for.
func TestMain(m *testing.M) {
	flag.Parse()
	set := os.Getenv("SOAK") != ""
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "rapid.checks" })
	if !set {
		if err := flag.Set("rapid.checks", "25"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
