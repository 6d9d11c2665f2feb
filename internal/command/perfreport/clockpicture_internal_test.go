package perfreport

import (
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/timestamp"
)

// The ends of exchanges are named by the hosts whose clocks they show, in whatever
// order the logs were given.
func TestPairNames(t *testing.T) {
	t.Parallel()
	const day = 86_400e9
	host := func(schema, name string, id uint64, offset int64) reduce.Source {
		return reduce.Source{Schema: schema, Host: name, Anchor: timestamp.Anchor{Wall: offset + 5, Monotonic: 5, ClockID: id}}
	}
	d := &reduce.Data{}
	d.Logs = []reduce.Source{host("send/1", "alder", 0xa, 7*day), host("send/1", "birch", 0xb, 3*day), host("recv/1", "cedar", 0xc, 5*day)}
	d.Side.Clocks = []reduce.ClockState{
		{Process: 0, WallOffset: 3*day + 1e6}, {Process: 1, WallOffset: format.Null}, {Process: 1, WallOffset: 7*day - 1e6}, {Process: 2, WallOffset: 90 * day},
	}
	for _, c := range []struct {
		process, n, of int
		peer, want     string
	}{
		{0, 0, 1, "c", "birch to cedar"},
		{1, 0, 1, "c/12/432000000000000/100", "alder to cedar"},
		{1, 1, 2, "c/13/432000000000000/100", "alder to cedar (2)"},
		{2, 0, 2, "c", "process 3 to cedar (1)"},
		{0, 2, 3, "dd", "birch to peer 3"},
		{3, 2, 3, "no clock id", "process 4 to peer 3"},
	} {
		if got := pairName(d, c.process, c.peer, c.n, c.of); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	d.Logs = append(d.Logs, host("send/1", "doubt", 0xd, 3*day))
	if got := pairName(d, 0, "c", 0, 1); got != "process 1 to cedar" {
		t.Errorf("two hosts with one wall − monotonic: %s", got)
	}
}
