//go:build race

package reduce_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain draws fewer logs under the race detector, which makes each several
// times dearer and finds nothing new in the hundredth.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("rapid.checks", "15"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
