package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

// Error is a fault in a gate.
type Error struct {
	Gate string
	Pos  int // byte offset of the fault
	Msg  string
}

// Error implements error: the message, with the column counted from 1 in
// characters.
func (e *Error) Error() string {
	at := min(e.Pos, len(e.Gate))
	return fmt.Sprintf("column %d: %s", utf8.RuneCountInString(e.Gate[:at])+1, e.Msg)
}

// kind is what a gate is about.
type kind int

const (
	kindQuantile kind = iota
	kindMoment        // mean, min, max, stddev of a metric
	kindNumber        // n, infinite, negative of a metric
	kindRate
	kindCount
	kindCheck
)

// Gate is one condition. It is not changed after Parse.
type Gate struct {
	src    string
	kind   kind
	group  string // metric, rates, counts or checks
	stat   string // the percentile without p, or the name
	change bool
	op     string
	value  float64 // ns, per second, a number, or a ratio − 1
	status string  // of a check
}

// String returns the gate as it was typed.
func (g *Gate) String() string { return g.src }

// Percentile returns the percentile that a report must have for the gate.
func (g *Gate) Percentile() (p stats.Percentile, ok bool) {
	if g.kind != kindQuantile {
		return p, false
	}
	p, err := stats.ParsePercentile(g.stat)
	return p, err == nil
}

// Change reports whether the gate needs a baseline.
func (g *Gate) Change() bool { return g.change }

// operators in the order in which they are tried.
func operators() []string { return []string{">=", "<=", "==", "!=", ">", "<"} }

func moments() []string { return []string{"mean", "min", "max", "stddev"} }
func numbers() []string { return []string{"n", "infinite", "negative"} }

// CountNames returns the names of counts, as in the JSON report.
func CountNames() []string {
	return []string{"intended", "attempts", "sent", "acked", "accepted", "rejected", "released", "modified", "presettled", "unsettled", "failed",
		"unsent", "received", "lost", "unknown", "duplicate", "reordered", "redelivered", "foreign", "resent", "resolved", "unlogged"}
}

// RateNames returns the names of rates.
func RateNames() []string { return []string{"offered", "sent", "acked", "received"} }

const longest = 1000

// Parse reads a gate. An error is an *Error with the position.
func Parse(src string) (*Gate, error) {
	fail := func(pos int, format string, args ...any) (*Gate, error) {
		return nil, &Error{Gate: src, Pos: pos, Msg: fmt.Sprintf(format, args...)}
	}
	if len(src) > longest {
		return fail(0, "longer than %d bytes", longest)
	}
	at := strings.IndexAny(src, "<>=!")
	if at < 0 {
		return fail(len(src), "no comparison (> >= < <= == !=): write for example response.p99 > 5ms")
	}
	i := slices.IndexFunc(operators(), func(op string) bool { return strings.HasPrefix(src[at:], op) })
	if i < 0 {
		return fail(at, "%q compares nothing: write > >= < <= == or !=", src[at:at+1])
	}
	g := &Gate{src: src, op: operators()[i]}
	begin := len(src[:at]) - len(strings.TrimLeft(src[:at], " \t"))
	if pos, err := g.ref(strings.TrimSpace(src[:at])); err != nil {
		return fail(begin+pos, "%s", err)
	}
	rest := src[at+len(g.op):]
	pos := at + len(g.op) + len(rest) - len(strings.TrimLeft(rest, " \t"))
	if err := g.right(strings.TrimSpace(rest)); err != nil {
		return fail(pos, "%s", err)
	}
	if g.kind == kindCheck && g.op != "==" && g.op != "!=" {
		return fail(at, "a check is compared with == or !=")
	}
	return g, nil
}

// ref reads the left side; the position of an error is that of the part.
func (g *Gate) ref(s string) (pos int, err error) {
	group, stat, dotted := strings.Cut(s, ".")
	g.group = group
	if rest, ok := strings.CutSuffix(stat, ".change"); ok {
		stat, g.change = rest, true
	}
	g.stat = stat
	after := min(len(group)+1, len(s))
	names := func(k kind, all []string) (int, error) {
		g.kind = k
		if !slices.Contains(all, stat) {
			return after, fmt.Errorf("%s has no %.40q: it has %s", group, stat, strings.Join(all, ", "))
		}
		return 0, nil
	}
	switch {
	case !dotted && group == "":
		return 0, fmt.Errorf("nothing is compared: write for example response.p99 > 5ms")
	case !slices.Contains(groups(), group):
		return 0, fmt.Errorf("%.40q is none of %s", group, strings.Join(groups(), ", "))
	case !dotted || stat == "":
		return len(s), fmt.Errorf("%s of what? Write for example response.p99, rates.acked, counts.lost or checks.C3", group)
	case group == "counts":
		if g.change {
			return after, fmt.Errorf("counts have no change: compare a rate")
		}
		return names(kindCount, CountNames())
	case group == "rates":
		return names(kindRate, RateNames())
	case group == "checks":
		g.kind = kindCheck
		if n, err := strconv.Atoi(strings.TrimPrefix(stat, "C")); err != nil || g.change || stat != fmt.Sprintf("C%d", n) || n < 1 {
			return after, fmt.Errorf("%.40q is no check: they are C1, C2, …", s[after:])
		}
		return 0, nil
	case strings.HasPrefix(stat, "p"):
		g.kind = kindQuantile
		p, err := stats.ParsePercentile(stat[1:])
		if err != nil {
			return after, err
		}
		g.stat = p.String()
		return 0, nil
	case slices.Contains(numbers(), stat):
		g.kind = kindNumber
		if g.change {
			return after, fmt.Errorf("%s has no change", stat)
		}
		return 0, nil
	}
	return names(kindMoment, append(moments(), append(numbers(), "p50", "p99.9", "…")...))
}

func groups() []string {
	var out []string
	for _, m := range reduce.Metrics() {
		out = append(out, m.String())
	}
	return append(out, "rates", "counts", "checks")
}

// right reads the value that the left side asks for.
func (g *Gate) right(s string) error {
	if s == "" {
		return fmt.Errorf("no value")
	}
	switch {
	case g.change:
		number, ok := strings.CutSuffix(s, "%")
		v, err := decimal(strings.TrimSpace(number))
		if !ok || err != nil {
			return fmt.Errorf("%.40q is no percentage such as 5%%", s)
		}
		g.value = v / 100
	case g.kind == kindCheck:
		if !slices.Contains([]string{"ok", "warn", "fail", "skip"}, s) {
			return fmt.Errorf("%.40q is none of ok, warn, fail, skip", s)
		}
		g.status = s
	case g.kind == kindCount || g.kind == kindNumber:
		n, err := units.ParseCount(s)
		if err != nil {
			return err
		}
		g.value = float64(n)
	case g.kind == kindRate:
		if v, err := strconv.ParseFloat(strings.TrimSuffix(s, "/s"), 64); err == nil && v == 0 {
			return nil
		}
		rate, err := units.ParseRate(s)
		if err != nil {
			return err
		}
		if rate.Max() {
			return fmt.Errorf("max is no number: write a rate such as 30k")
		}
		g.value = rate.PerSecond()
	default:
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%.40q is no duration such as 5ms", s)
		}
		g.value = float64(d)
	}
	return nil
}

// decimal reads a plain decimal number with a sign.
func decimal(s string) (float64, error) {
	if strings.Trim(s, "+-.0123456789") != "" {
		return 0, fmt.Errorf("not a number")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("not a number")
	}
	return v, nil
}

// holds reports whether the condition of the gate is true of a value.
func (g *Gate) holds(v float64) bool {
	switch g.op {
	case ">":
		return v > g.value
	case ">=":
		return v >= g.value
	case "<":
		return v < g.value
	case "<=":
		return v <= g.value
	case "==":
		return v == g.value
	}
	return v != g.value
}
