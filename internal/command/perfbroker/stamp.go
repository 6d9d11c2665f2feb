package perfbroker

import (
	"strconv"

	"amqpperf/internal/amqp/broker"
	"amqpperf/timestamp"
)

// stampColumns names the cells that appendStamp adds: with them the broker's log
// is joined with those of perf-send and perf-recv.
func stampColumns() []string {
	return []string{"run", "sender", "producer", "stamp_seq", "attempt", "intended", "sent"}
}

// appendStamp appends the identity of a message of perf-send, or empty cells. A
// run is valid UTF-8 without control characters; quotes keep its commas harmless.
func appendStamp(dst []byte, r *broker.Record) []byte {
	s, err := timestamp.Parse(r.Body)
	if err != nil {
		return append(dst, ",,,,,,"...)
	}
	dst = appendCell(dst, s.Run)
	for _, v := range []int64{int64(s.Sender), int64(s.Producer), s.Seq, int64(s.Attempt), s.Intended, s.Sent} {
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, v, 10)
	}
	return dst
}

// appendCell appends a text in quotes, doubling those inside (RFC 4180).
func appendCell(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		if s[i] == '"' {
			dst = append(dst, '"')
		}
		dst = append(dst, s[i])
	}
	return append(dst, '"')
}
