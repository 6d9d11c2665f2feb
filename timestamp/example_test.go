package timestamp_test

import (
	"errors"
	"fmt"

	"amqpperf/timestamp"
)

// A sender stamps a message, a receiver reads the stamp.
func Example() {
	stamp := timestamp.Stamp{
		Run: "nightly-7", Sender: 4711, Producer: 0, Seq: 42,
		Intended: 1796000000000000000, Sent: 1796000000000020000,
	}
	body := stamp.Append(nil)
	body = append(body, make([]byte, 1024-len(body))...) // the rest of the message

	got, err := timestamp.Parse(body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("message %d of %s, sent %d ns late\n", got.Seq, got.Run, got.Sent-got.Intended)

	_, err = timestamp.Parse([]byte("a message of somebody else"))
	fmt.Println(errors.Is(err, timestamp.ErrNoStamp))
	// Output:
	// message 42 of nightly-7, sent 20000 ns late
	// true
}

// A receiver that parses many stamps keeps a Parser.
func ExampleParser() {
	var p timestamp.Parser
	for seq := range int64(3) {
		body := timestamp.Stamp{Run: "nightly-7", Seq: seq}.Append(nil)
		s, err := p.Parse(body)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(s.Run, s.Seq)
	}
	// Output:
	// nightly-7 0
	// nightly-7 1
	// nightly-7 2
}

// Instants of one process come from one clock; its anchor goes into the log.
func ExampleClock() {
	clock := timestamp.NewClock()
	first := clock.Now()
	second := clock.Now()
	fmt.Println(second >= first)

	a := clock.Anchor()
	fmt.Println(clock.MonotonicOf(a.Wall) == a.Monotonic)
	// Output:
	// true
	// true
}
