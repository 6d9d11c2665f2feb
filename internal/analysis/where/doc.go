// Package where chooses rows of a merged log: the expressions of perf-report's
// --where, and the groups of its --by. It works on columns and knows nothing of
// what is computed from the rows that remain.
//
// # Grammar
//
//	expr    = and { "||" and }
//	and     = not { "&&" not }
//	not     = "!" not | "(" expr ")" | test
//	test    = value [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value | "is" [ "not" ] "null" ]
//	value   = NAME | STRING | NUMBER | DURATION | SIZE | "true" | "false"
//
// NAME is a column of merged/1 (destination, size, outcome, wait, …; see
// docs/format.md), or one of the spans that a report is about: lag, blocked,
// service, response, transit, e2e, queued, work, handled. bound is a span too.
// STRING stands in double quotes, with the escapes \" and \\. DURATION is a
// number with ns, us, ms, s, m or h (1.5ms, 2m30s), SIZE one with B, kB, MB,
// KiB or MiB. Instants (intended, sent, …) are compared with each other, with
// ns since the Unix epoch, or with a STRING in RFC 3339.
//
// Strings, and the columns primary and reordered, know == and != only; a column
// that is true or false may stand alone. Spans are compared with durations, or
// with 0. What cannot be compared is an error that says where.
//
// # NULL
//
// A comparison with NULL is false, whatever the operator: acked > sent is false
// for a message that was never acked, and so is acked <= sent. ! turns that
// around: !(acked > sent) is true for it. "is null" and "is not null" ask. There
// is no third truth value.
//
// # What a selection means
//
// Rows are chosen one by one. A message that was sent again, or that went to
// several subscriptions, has several rows, of which some may go and some stay:
// send-side numbers come from primary rows, and all from first attempts, if
// those are among the rows that stay.
package where
