package format_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"amqpperf/format"
)

// A log is read in batches: slices, one per column, reused from batch to batch.
func ExampleOpen() {
	log, err := format.Open("testdata/v1/send.parquet")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		if err := log.Close(); err != nil {
			fmt.Println(err)
		}
	}()
	// The other columns are not even decompressed.
	if err := log.Select("intended", "acked", "outcome"); err != nil {
		fmt.Println(err)
		return
	}
	var b format.Send
	for {
		err := log.Read(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		for i := range b.Len() {
			outcome, _ := b.Outcome.At(i)
			if b.Acked[i] == format.Null {
				fmt.Println(outcome)
				continue
			}
			fmt.Println(outcome, b.Acked[i]-b.Intended[i], "ns")
		}
	}
	// Output:
	// accepted 2000000000 ns
	// rejected 30 ns
	// released 30 ns
	// modified 30 ns
	// presettled
	// unsettled
	// failed
	// unsent
}

// Side tables are read whole.
func ExampleLog_Table() {
	log, err := format.Open("testdata/v1/send.parquet")
	if err != nil {
		fmt.Println(err)
		return
	}
	var events format.Event
	if err := errors.Join(log.Table(&events), log.Close()); err != nil {
		fmt.Println(err)
		return
	}
	for i := range events.Len() {
		kind, _ := events.Kind.At(i)
		condition, _ := events.Condition.At(i)
		fmt.Printf("%d %s %q\n", events.Instant[i], kind, condition)
	}
	// Output:
	// 1796000000123456789 connect ""
	// 1796000000123456790 detach "amqp:link:stolen"
}

// A log appears under its name when it is whole, and replaces nothing.
func ExampleCreateParquet() {
	dir, err := os.MkdirTemp("", "perf")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "send.parquet")

	w, err := format.CreateParquet(path, format.SendSchema(), format.ParquetOptions{CreatedBy: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	w.SetMeta(format.Meta{format.KeyRun: "nightly-7", format.KeyComplete: "true"})
	one := func(s string) format.Strings { return format.Strings{Values: []string{s}, Codes: []int32{0}} }
	err = w.Write(&format.Send{
		Identity: format.Identity{
			Run: one("nightly-7"), Sender: []int32{4711}, Producer: []int32{0}, Seq: []int64{0}, Attempt: []int32{0},
		},
		Destination: one("queue://bench"), Size: []int32{1024},
		Intended: []int64{1796000000000000000}, Ready: []int64{1796000000000000100},
		Sent: []int64{1796000000000000200}, Acked: []int64{format.Null},
		Outcome: one(format.Unsettled), Wait: one(format.WaitNone),
		Error: format.Strings{Codes: []int32{-1}}, Connection: []int32{0},
	})
	// The log is good only if Close says so.
	if err = errors.Join(err, w.Close()); err != nil {
		fmt.Println(err)
		return
	}
	_, err = format.CreateParquet(path, format.SendSchema(), format.ParquetOptions{})
	fmt.Println(w.Rows(), "row;", "again:", errors.Is(err, format.ErrExists))
	// Output:
	// 1 row; again: true
}
