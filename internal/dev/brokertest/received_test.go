package brokertest

import (
	"fmt"
	"math"

	"amqpperf/format"
)

// delivery is what a receive log says of one.
type delivery struct {
	key                     [4]int64 // sender, producer, seq, attempt
	consumer, count, size   int32
	destination, outcome    string
	intended                int64
	received, start, settle int64
}

// deliveries reads a receive log, finished or not, in the order of receipt of each consumer.
func (b *bench) deliveries(log string) (rows []delivery) {
	b.Helper()
	l, err := format.Open(b.path(log))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for m := (&format.Recv{}); l.Read(m) == nil; {
		for i := range m.Seq {
			d := delivery{key: keyOf(&m.Identity, i), consumer: m.Consumer[i], count: m.DeliveryCount[i], size: m.Size[i],
				intended: m.Intended[i], received: m.Received[i], start: m.Started[i], settle: m.Settled[i]}
			d.destination, _ = m.Destination.At(i)
			d.outcome, _ = m.Outcome.At(i)
			rows = append(rows, d)
		}
	}
	return rows
}

// outcomes counts those of deliveries.
func outcomes(rows []delivery) map[string]int {
	n := map[string]int{}
	for _, d := range rows {
		n[d.outcome]++
	}
	return n
}

// park sends n messages to the bench's address, and all must be accepted.
func (b *bench) park(n int, options ...string) []message {
	b.Helper()
	log := b.fresh("park")
	b.run("perf-send", append([]string{"-q", "-o", log, "-n", fmt.Sprint(n), b.address}, options...)...)
	rows := b.sent(log)
	if len(rows) != n {
		b.Fatalf("%d rows of %d messages", len(rows), n)
	}
	return rows
}

// fetch receives n messages and returns all deliveries.
func (b *bench) fetch(n int, options ...string) []delivery {
	b.Helper()
	log := b.fresh("fetch")
	b.run("perf-recv", append([]string{"-q", "-o", log, "-n", fmt.Sprint(n), "--wait", "60s", b.address}, options...)...)
	return b.deliveries(log)
}

// left takes what is in the queue until nothing more comes.
func (b *bench) left(options ...string) []delivery {
	b.Helper()
	log := b.fresh("left")
	// Nothing is an answer too: then it ends with status 1.
	b.start("perf-recv", append([]string{"-q", "-o", log, "--idle", "2s", "--wait", "2s", b.address}, options...)...).wait()
	return b.deliveries(log)
}

// fresh is a name of a log that is not there yet.
func (b *bench) fresh(kind string) string {
	b.logs++
	return fmt.Sprintf("%s%d.parquet", kind, b.logs)
}

// span is the time from the smallest to the largest value.
func span(rows []delivery, of func(delivery) int64) int64 {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, d := range rows {
		lo, hi = min(lo, of(d)), max(hi, of(d))
	}
	return hi - lo
}
