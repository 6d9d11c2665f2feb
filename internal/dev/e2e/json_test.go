package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"amqpperf/internal/dev/jsonpath"
)

func itoa(n int) string { return strconv.Itoa(n) }

// compareJSON is the script command json FILE PATH OP VALUE; FILE may be stdout.
func compareJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: json FILE PATH OP VALUE")
	}
	v, err := jsonpath.Lookup([]byte(ts.ReadFile(args[0])), args[1])
	ts.Check(err)
	ok, err := compare(v, args[2], args[3])
	ts.Check(err)
	if !ok {
		ts.Fatalf("%s: %s is %v, want %s %s", args[0], args[1], v, args[2], args[3])
	}
}

func compare(v any, op, want string) (bool, error) {
	text := fmt.Sprint(v)
	if v == nil {
		text = "null"
	}
	switch op {
	case "==":
		return text == want, nil
	case "!=":
		return text != want, nil
	}
	n, ok := v.(json.Number)
	if !ok {
		return false, fmt.Errorf("%v is no number", v)
	}
	a, err := n.Float64()
	if err != nil {
		return false, err
	}
	b, err := strconv.ParseFloat(want, 64)
	if err != nil {
		return false, err
	}
	switch op {
	case "<":
		return a < b, nil
	case "<=":
		return a <= b, nil
	case ">":
		return a > b, nil
	case ">=":
		return a >= b, nil
	}
	return false, fmt.Errorf("no such comparison: %s", op)
}
