package e2e

import (
	"errors"
	"io"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"amqpperf/format"
)

// waitForRows is the script command rows LOG >= N: it waits until a log, finished or not, has that many rows.
func waitForRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || args[1] != ">=" {
		ts.Fatalf("usage: rows LOG >= N")
	}
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	name := ts.MkAbs(args[0])
	eventually(ts, args[2]+" rows in "+args[0], func() bool { return countRows(name) >= want })
}

// countRows returns 0 for a log that cannot be read yet.
func countRows(name string) (n int) {
	log, err := format.Open(name)
	if err != nil {
		return 0
	}
	defer func() { _ = log.Close() }() // nothing was written
	b, err := newBatch(log.Schema())
	if err != nil {
		return 0
	}
	for {
		if err := log.Read(b); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			return 0
		}
		n += b.Len()
	}
}
