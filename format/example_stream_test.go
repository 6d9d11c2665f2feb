package format_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"

	"amqpperf/format"
)

// A log written as Arrow streams, as a pipe carries it, and read again.
func ExampleNewStreamWriter() {
	column := func(v string) format.Strings { return format.Strings{Values: []string{v}, Codes: []int32{0}} }
	row := &format.Send{
		Identity: format.Identity{
			Run: column("demo"), Sender: []int32{1}, Producer: []int32{0}, Seq: []int64{0}, Attempt: []int32{0},
		},
		Destination: column("queue://bench"),
		Size:        []int32{1024},
		Intended:    []int64{1_700_000_000_000_000_000},
		Ready:       []int64{1_700_000_000_000_010_000},
		Sent:        []int64{1_700_000_000_000_020_000},
		Acked:       []int64{format.Null}, // never answered
		Outcome:     column(format.Unsettled),
		Wait:        column(format.WaitNone),
		Error:       format.Strings{Codes: []int32{-1}}, // NULL
		Connection:  []int32{0},
	}
	var pipe bytes.Buffer
	w := format.NewStreamWriter(&pipe, format.SendSchema(), format.Meta{format.KeyRun: "demo"})
	if err := w.Write(row); err != nil {
		log.Fatal(err)
	}
	w.SetMeta(format.Meta{format.KeyStop: "count", format.KeyComplete: "true"})
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	l, err := format.OpenStream("pipe", &pipe)
	if err != nil {
		log.Fatal(err)
	}
	b := &format.Send{}
	for {
		err := l.Read(b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for i := range b.Len() {
			outcome, _ := b.Outcome.At(i)
			fmt.Println("seq", b.Seq[i], "lag", b.Ready[i]-b.Intended[i], "ns", outcome, "answered", b.Acked[i] != format.Null)
		}
	}
	fmt.Println("complete:", l.Complete(), "stop:", l.Meta()[format.KeyStop])
	// Output:
	// seq 0 lag 10000 ns unsettled answered false
	// complete: true stop: count
}
