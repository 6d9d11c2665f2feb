package reduce_test

import (
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
)

const batchRows = 1 << 16

// generated yields rows that are made as they are read, one producer after the
// other as perf-merge writes them: no file and no memory of its own.
type generated struct {
	producers, each int   // each: a multiple of batchRows
	gap             int64 // ns between messages of a producer
	p, at           int
	rng             uint64
	blank           *format.Merged
}

func (g *generated) Meta() format.Meta {
	return synth.Config(map[string]any{"rate": "100k", "max-pending": 1000}, nil, "generated")
}

func (g *generated) Rewind() error {
	g.p, g.at, g.rng = 0, 0, 1
	return nil
}

// random is xorshift64*: cheaper than what is measured.
func (g *generated) random() int64 {
	g.rng ^= g.rng >> 12
	g.rng ^= g.rng << 25
	g.rng ^= g.rng >> 27
	return int64(g.rng * 2685821657736338717 >> 40) // 0 to 16,777,215
}

func (g *generated) Next(b *format.Merged) error {
	if g.p == g.producers {
		return io.EOF
	}
	const n = batchRows
	if len(b.Seq) != n {
		copyBatch(b, g.blank)
	}
	for i := range n {
		k := int64(g.at + i)
		r := g.random()
		b.Producer[i], b.Seq[i] = int32(g.p), k
		b.Intended[i] = synth.Start + k*g.gap + int64(g.p)
		b.Ready[i] = b.Intended[i] + r&0xffff
		b.Sent[i] = b.Ready[i] + 1000
		b.Acked[i] = b.Sent[i] + 200_000 + r
		b.Received[i] = b.Acked[i] + 100_000
		b.Started[i], b.Settled[i] = b.Received[i]+500, b.Received[i]+3000
	}
	if g.at += n; g.at == g.each {
		g.p, g.at = g.p+1, 0
	}
	return nil
}

// copyBatch copies the columns, with no room to spare.
func copyBatch(dst, src *format.Merged) {
	to := dst.Columns()
	for i, from := range src.Columns() {
		switch from := from.(type) {
		case *[]int32:
			*to[i].(*[]int32) = slices.Clone(*from)
		case *[]int64:
			*to[i].(*[]int64) = slices.Clone(*from)
		case *[]bool:
			*to[i].(*[]bool) = slices.Clone(*from)
		case *format.Strings:
			*to[i].(*format.Strings) = format.Strings{Values: from.Values, Codes: slices.Clone(from.Codes)}
		}
	}
}

// blank is a batch of accepted messages.
func blank(n int) *format.Merged {
	l := &synth.Log{}
	for range n {
		l.Rows = append(l.Rows, synth.Message(0, synth.Start, 1).Arrive(synth.Start))
	}
	b := &format.Merged{}
	_ = l.Reader(n).Next(b) // it holds n rows
	return b
}

// BenchmarkReduce is both passes over generated rows (PERF_ROWS, 1 M) of eight
// producers. heap-MiB is the largest heap in use at the ends of batches, so
// that a limit on memory can be watched.
func BenchmarkReduce(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("PERF_ROWS")); err == nil {
		rows = n
	}
	const producers = 8
	each := (rows/producers + batchRows - 1) / batchRows * batchRows
	rows = each * producers
	empty := &format.Merged{}
	copyBatch(empty, blank(batchRows))
	debug.FreeOSMemory()
	for b.Loop() {
		g := &watching{generated: generated{producers: producers, each: each, gap: 80_000, blank: empty}}
		_ = g.Rewind()
		d, err := reduce.Reduce(g, reduce.Options{})
		if err != nil || d.Rows != int64(rows) {
			b.Fatalf("%d rows: %v", d.Rows, err)
		}
		b.ReportMetric(float64(g.peak)/(1<<20), "heap-MiB")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// watching looks at the heap now and then.
type watching struct {
	generated
	peak uint64
	n    int
}

func (w *watching) Next(b *format.Merged) error {
	if w.n++; w.n%16 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		w.peak = max(w.peak, m.HeapInuse)
	}
	return w.generated.Next(b)
}
