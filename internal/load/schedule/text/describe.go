package text

import (
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"amqpperf/internal/load/schedule"
	"amqpperf/internal/units"
)

// Shape returns segments as ParseShape reads them.
func Shape(segments []schedule.Segment) string {
	parts := make([]string, len(segments))
	for i, g := range segments {
		rates := rate(g.From)
		if g.From != g.To {
			rates += "-" + rate(g.To)
		}
		parts[i] = rates + ":" + time.Duration(g.Length).String()
	}
	return strings.Join(parts, ",")
}

// rate prints a rate as ParseRate reads it.
func rate(r schedule.Ratio) string {
	if r.Num == 0 {
		return "0"
	}
	reduced := big.NewRat(r.Num, r.Den)
	return units.Rate{Num: reduced.Num().Int64(), Den: reduced.Denom().Int64()}.String()
}

// perSecond prints a rate for people: "5k/s", "30/m".
func perSecond(r schedule.Ratio) string {
	s := rate(r)
	if !strings.Contains(s, "/") {
		s += "/s"
	}
	return s
}

// Describe says in one line what a schedule is.
func Describe(s schedule.Spec) string {
	parts := []string{arrivals(s)}
	if s.WithinNS > 0 {
		parts = append(parts, "for "+time.Duration(s.WithinNS).String())
	}
	if s.N > 0 {
		parts = append(parts, "at most "+units.Thousands(s.N)+" messages")
	}
	if s.Random != "" {
		parts = append(parts, fmt.Sprintf("seed %d", s.Seed))
	}
	if s.Share != nil && s.Share.Of > 1 {
		parts = append(parts, fmt.Sprintf("share %d of %d", s.Share.K, s.Share.Of))
	}
	return strings.Join(parts, ", ")
}

func arrivals(s schedule.Spec) string {
	what := perSecondOf(s)
	switch s.Kind {
	case schedule.KindConstant:
		return "constant " + what
	case schedule.KindShape:
		return what
	case schedule.KindPoisson:
		return "Poisson arrivals at " + what
	case schedule.KindMMPP2:
		if b := s.Burst; b != nil {
			return fmt.Sprintf("random bursts between %s and %s, on average %.4g/s, index of dispersion %.4g",
				perSecond(b.Rate1), perSecond(b.Rate2), b.Mean(), b.Dispersion())
		}
	case schedule.KindReplay:
		text := fmt.Sprintf("replay of %s messages", units.Thousands(s.Rows))
		if v := s.Speed; v != nil && v.Num != v.Den {
			text += " at speed " + new(big.Rat).SetFrac64(v.Num, max(1, v.Den)).RatString() + "x"
		}
		if s.Loop {
			text += " in a loop"
		}
		return text
	}
	return s.Kind
}

// perSecondOf says the rate of a constant or changing rate.
func perSecondOf(s schedule.Spec) string {
	if s.Segments == nil {
		return perSecond(schedule.Ratio{Num: s.RateNum, Den: max(1, s.RateDen)})
	}
	parts := make([]string, len(s.Segments))
	for i, g := range s.Segments {
		length := time.Duration(g.Length).String()
		switch {
		case g.From != g.To:
			parts[i] = fmt.Sprintf("%s to %s over %s", perSecond(g.From), perSecond(g.To), length)
		case g.From.Num == 0:
			parts[i] = "pause for " + length
		default:
			parts[i] = perSecond(g.From) + " for " + length
		}
	}
	text := strings.Join(parts, ", then ")
	switch {
	case s.Repeat == schedule.Forever:
		text += ", again and again"
	case s.Repeat > 1:
		text += fmt.Sprintf(", %s times", units.Thousands(s.Repeat))
	}
	return text
}

// WritePreview prints a preview: the totals and a table of counts and rates.
func WritePreview(w io.Writer, p schedule.Preview) error {
	var b strings.Builder
	switch {
	case p.Count == 0:
		b.WriteString("no messages\n")
	case p.Count == schedule.Unbounded:
		b.WriteString("messages without an end\n")
	default:
		fmt.Fprintf(&b, "%s messages, the last one at %v\n", units.Thousands(p.Count), time.Duration(p.Last))
	}
	if len(p.Rows) > 0 {
		fmt.Fprintf(&b, "%12s %14s %14s\n", "from", "messages", "per second")
	}
	for _, r := range p.Rows {
		fmt.Fprintf(&b, "%12v %14s %14.6g\n", time.Duration(r.From), units.Thousands(r.Count),
			float64(r.Count)/(float64(p.Width)/float64(time.Second)))
	}
	if p.Cut {
		b.WriteString("         …\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
