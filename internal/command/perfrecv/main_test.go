package perfrecv_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// These tests wait for idle times most of the time: more of them than there are
// processors may do so together.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
