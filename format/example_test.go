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
		fmt.Println(events.Instant[i], kind, condition)
	}
	// Output:
	// 1796000000123456789 connect
	// 1796000000123456790 detach amqp:link:stolen
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

	w, err := format.CreateParquet(path, format.SampleSchema(), format.ParquetOptions{CreatedBy: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	w.SetMeta(format.Meta{format.KeyRun: "nightly-7"})
	err = w.Write(&format.Sample{
		Instant: []int64{1796000000000000000},
		What:    format.Strings{Values: []string{"tool.rss_bytes"}, Codes: []int32{0}},
		Value:   []int64{33 << 20},
	})
	// The log is good only if Close says so.
	if err = errors.Join(err, w.Close()); err != nil {
		fmt.Println(err)
		return
	}
	_, err = format.CreateParquet(path, format.SampleSchema(), format.ParquetOptions{})
	fmt.Println(errors.Is(err, format.ErrExists))
	// Output:
	// true
}
