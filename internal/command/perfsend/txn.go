package perfsend

import (
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
)

// txFlags are the flags about transactions.
type txFlags struct {
	size     int
	rollback connect.Share
}

func (f *txFlags) validate(o *options, given func(string) bool) error {
	switch {
	case given("tx") && f.size < 1:
		return cli.Usagef("--tx %d: at least 1", f.size)
	case f.size == 0 && given("tx-rollback"):
		return cli.Usagef("--tx-rollback is about --tx: give both")
	case f.size == 0:
		return nil
	case o.conn.Client == link.ClientLibrary:
		return cli.Usagef("--tx and --client library contradict each other: go-amqp has no transactions")
	case o.sections.presettled:
		return cli.Usagef("--tx and --presettled contradict each other: nothing would be left to commit")
	case o.maxPending > 0 && o.maxPending < f.size:
		return cli.Usagef("--max-pending %d is less than --tx %d: a transaction would never be full", o.maxPending, f.size)
	}
	return nil
}

// Quantities of sample/1: how long a transaction took to end, one row each, at the
// instant of the broker's answer.
const (
	sampleCommit   = "tx.commit_ns"
	sampleRollback = "tx.rollback_ns"
)

// transacted takes a transaction of producer k, from the connection's reader.
func (r *run) transacted(k int, p *produce.Producer, tx amqp.Tx) {
	p.Ended(tx)
	if tx.Error != "" {
		r.events.Write(recorder.Event{
			At: tx.At, Kind: string(amqp.EventError), Connection: format.Null32, Link: r.address(k),
			Text: fmt.Sprintf("a transaction of %d messages of producer %d failed: %s", tx.Count, k, tx.Error),
		})
		return
	}
	what := sampleCommit
	if tx.Rolledback {
		what = sampleRollback
	}
	if rec := r.recorder.Load(); rec != nil {
		rec.Sample(tx.At, what, tx.At-tx.Discharged)
	}
}
