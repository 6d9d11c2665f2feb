package timestamp_test

import (
	"bytes"
	"math"
	"testing"

	"amqpperf/timestamp"
)

// A Writer writes what Append writes, whatever run it wrote before.
func TestWriter(t *testing.T) {
	t.Parallel()
	const uuid = "0b8f54e4-5f6d-4a3c-9c55-0d1a2b3c4d5e"
	var w timestamp.Writer
	for i, run := range []string{uuid, uuid, "a run", "another", uuid, "0B8F54E4-5f6d-4a3c-9c55-0d1a2b3c4d5e", "", uuid} {
		s := timestamp.Stamp{
			Run: run, Sender: 1, Producer: int32(i), Attempt: 2, Seq: math.MaxInt64 - int64(i), Intended: -5, Sent: 7,
			ClockID: math.MaxUint64, Offset: math.MinInt64 + int64(i), Gap: 100,
		}
		before := []byte("before")
		want, got := s.Append(before), w.Append(before, &s)
		if !bytes.Equal(got, want) {
			t.Errorf("run %d, %q: % x, want % x", i, run, got, want)
		}
	}
}

func TestWriterAllocatesNothing(t *testing.T) {
	var w timestamp.Writer
	s := timestamp.Stamp{Run: "0b8f54e4-5f6d-4a3c-9c55-0d1a2b3c4d5e"}
	buffer := make([]byte, 0, timestamp.MaxSize)
	if n := testing.AllocsPerRun(100, func() { w.Append(buffer, &s) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkStampAppend(b *testing.B) {
	s := timestamp.Stamp{Run: "0b8f54e4-5f6d-4a3c-9c55-0d1a2b3c4d5e"}
	buffer := make([]byte, 0, timestamp.MaxSize)
	for b.Loop() {
		s.Append(buffer)
	}
}

func BenchmarkWriterAppend(b *testing.B) {
	var w timestamp.Writer
	s := timestamp.Stamp{Run: "0b8f54e4-5f6d-4a3c-9c55-0d1a2b3c4d5e"}
	buffer := make([]byte, 0, timestamp.MaxSize)
	for b.Loop() {
		w.Append(buffer, &s)
	}
}
