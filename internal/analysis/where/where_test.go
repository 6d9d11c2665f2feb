package where_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/where"
)

const ms = synth.Millisecond

// some are rows with all that can be told apart.
func some() *synth.Log {
	at := func(i int64) int64 { return synth.Start + i*ms }
	rows := []synth.Row{
		synth.Message(0, at(0), 1*ms).Arrive(at(3)),
		synth.Message(1, at(1), 5*ms),
		synth.Message(2, at(2), 0).Unanswered("unsettled"),
		synth.Message(3, at(3), 9*ms).Lose(),
	}
	for i := range rows {
		rows[i].Run, rows[i].Destination, rows[i].Size = "run", "q1", int32(500*i)
	}
	rows[1].Destination, rows[1].Wait = `q"2\`, "credit"
	rows[0].Reordered = true
	return &synth.Log{Rows: rows}
}

func chosen(t *testing.T, expr string) []int64 {
	t.Helper()
	p, err := where.Parse(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	var b format.Merged
	if err := some().Reader(100).Next(&b); err != nil {
		t.Fatal(err)
	}
	p.Keep(&b)
	for _, c := range b.Columns() {
		n := -1
		switch c := c.(type) {
		case *[]int32:
			n = len(*c)
		case *[]int64:
			n = len(*c)
		case *[]bool:
			n = len(*c)
		case *format.Strings:
			n = len(c.Codes)
		}
		if n != b.Len() {
			t.Fatalf("%s: a column has %d rows, another %d", expr, n, b.Len())
		}
	}
	return slices.Clone(b.Seq)
}

func TestChoose(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string][]int64{
		`destination == "q1"`:                        {0, 2, 3},
		`destination != "q1"`:                        {1},
		`destination == "q1" && size > 999`:          {2, 3},
		`size >= 1kB`:                                {2, 3},
		`size < 1KiB && size != 0`:                   {1, 2},
		`destination == "q\"2\\"`:                    {1},
		`"q1" == destination`:                        {0, 2, 3},
		`1000 < size`:                                {3},
		`seq == 0 || seq == 3 && size == 0`:          {0},
		`(seq == 0 || seq == 3) && size == 0`:        {0},
		`(seq == 0 || seq == 3) && !(size == 0)`:     {3},
		`!!primary`:                                  {0, 1, 2, 3},
		`!primary`:                                   nil,
		`reordered`:                                  {0},
		`reordered == false`:                         {1, 2, 3},
		`reordered != primary`:                       {1, 2, 3},
		`service > 1ms`:                              {1, 3},
		`service >= 1ms`:                             {0, 1, 3},
		`response < 6ms`:                             {0, 1},
		`e2e <= 3ms`:                                 {0},
		`!(e2e <= 3ms)`:                              {1, 2, 3},
		`e2e > 3ms`:                                  nil,
		`acked is null`:                              {2},
		`acked is not null`:                          {0, 1, 3},
		`response IS NULL`:                           {2},
		`received is null && recv_outcome == "lost"`: {3},
		`consumer is null`:                           {1, 2, 3},
		`recv_outcome is null`:                       {1, 2},
		`outcome == "accepted" && outcome != wait`:   {0, 1, 3},
		`primary is null`:                            nil,
		`acked > sent`:                               {0, 1, 3},
		`acked == acked`:                             {0, 1, 3},
		`intended >= "2026-09-21T14:13:20.002Z"`:     {2, 3},
		`intended < 1790000000001000000`:             {0},
		`size > seq`:                                 {1, 2, 3},
		`lag == 0`:                                   {0, 1, 2, 3},
		`blocked >= 0 && blocked < 1us`:              {0, 1, 2, 3},
		`wait == "credit"`:                           {1},
		`seq <= -9223372036854775808 || consumer >= -9223372036854775808`: {0},
		`seq < -9223372036854775808 || seq > 9223372036854775807`:         nil,
		`seq >= -9223372036854775808 && seq != 2`:                         {0, 1, 3},
		`consumer != 7`: {0},
		`run == "run" && attempt == 0 && copy == 0`:  {0, 1, 2, 3},
		`service > transit`:                          nil,
		`service == -1ms || size == -5 || size > -5`: {0, 1, 2, 3},
		"\tseq==1\n||\r seq==2 ":                     {1, 2},
		`Destination == "q1" && DESTINATION != "q2"`: {0, 2, 3},
	} {
		got := chosen(t, expr)
		if !slices.Equal(got, want) {
			t.Errorf("%s: rows %v, want %v", expr, got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]string{
		``:                             "column 1: the expression is empty",
		`   `:                          "column 1: the expression is empty",
		`size`:                         "column 5: the end where a comparison",
		`size >`:                       "column 7: the end where a column or a value",
		`size = 5`:                     "column 6: = compares nothing: write ==",
		`size == 5 & seq == 1`:         "column 11: write && or ||",
		`destination == 'q1'`:          "column 16: strings stand in double quotes",
		`destination == q1`:            `column 16: there is no column "q1"`,
		`destinatoin == "q1"`:          "do you mean destination?",
		`destination > "q1"`:           "column 13: destination is a string: compare it with == or !=",
		`destination == 5`:             "column 16: destination is a string",
		`response > 5`:                 "column 12: response is a span: compare it with a duration",
		`response > 5parsecs`:          "column 12: 5parsecs is no number, duration",
		`size > 5ms`:                   "column 8: size is a number of bytes",
		`seq > 1KiB`:                   "column 7: seq is a number: compare it with a whole number",
		`sent > 5s`:                    "column 8: sent is an instant",
		`sent > "yesterday"`:           "column 8: sent is an instant",
		`sent > response`:              "column 6: sent is an instant and response is a span",
		`primary == 1`:                 "column 12: primary is true or false",
		`primary < reordered`:          "column 9: primary is true or false",
		`5 == 5`:                       "column 1: neither 5 nor 5 is a column",
		`5 is null`:                    "column 1: 5 is a value",
		`size == null`:                 "column 9: nothing compares with NULL",
		`size is nul`:                  "column 9: nul where null is expected",
		`(size == 5`:                   "column 11: the end where ) is expected, for the ( at column 1",
		`size == 5)`:                   "column 10: ) where && or || or the end",
		`size == 5 seq == 1`:           "column 11: seq where && or ||",
		`destination == "q`:            "column 16: the string has no end",
		`destination == "\q"`:          "column 17: a backslash is followed by",
		`size == 99999999999999999999`: "column 9: 99999999999999999999 is too large",
		`dest § 5`:                     "column 1: there is no column",
		`size § 5`:                     "column 6: '§' is not part of an expression",
		`"§§" == destination && §`:     "column 24: '§' is not",
		strings.Repeat("(", 300):       "levels of ! and parentheses",
		strings.Repeat("!", 300):       "levels of ! and parentheses",
		strings.Repeat("x", 70000):     "longer than",
	} {
		_, err := where.Parse(expr)
		var at *where.Error
		if err == nil || !errors.As(err, &at) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", expr, err, want)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	p, err := where.Parse(`e2e > 5ms && destination == "x" || size > seq`)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Columns(); !slices.Equal(got, []string{"destination", "intended", "received", "seq", "size"}) {
		t.Errorf("reads %v", got)
	}
	known := map[string]bool{}
	for _, c := range format.MergedSchema().Columns {
		known[c.Name] = true
		if !slices.Contains(where.Names(), c.Name) {
			t.Errorf("column %s has no name in the language", c.Name)
		}
	}
	for _, n := range where.Names() {
		p, err := where.Parse(n + " is null")
		if err != nil {
			t.Errorf("%s: %v", n, err)
			continue
		}
		for _, c := range p.Columns() {
			if !known[c] {
				t.Errorf("%s reads %s, which is no column", n, c)
			}
		}
	}
}

// What parses can be evaluated, chooses rows that were there, and its negation
// chooses the others.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`destination == "q1" && size > 1000`, `!(e2e > 5ms) || acked is not null`, `primary`, `sent >= "2026-09-21T14:13:20.002Z"`,
		`size < 1.5KiB`, `"\"\\" != wait`, `((seq==1))`, `lag == 0 && -5 < seq`, `is is null`, `'`, `1 == `, `subscription is null`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := where.Parse(s)
		if err != nil {
			var at *where.Error
			if !errors.As(err, &at) || at.Pos < 0 || at.Pos > len(s) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		n, err := where.Parse("!(" + s + ")")
		if err != nil {
			if strings.Contains(err.Error(), "levels") {
				return
			}
			t.Fatalf("%q parses and its negation does not: %v", s, err)
		}
		var b format.Merged
		if err := some().Reader(100).Next(&b); err != nil {
			t.Fatal(err)
		}
		yes, no := p.Mask(&b), n.Mask(&b)
		for i := range yes {
			if yes[i] == no[i] {
				t.Fatalf("%q and its negation agree on row %d", s, i)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	p, err := where.Parse(`destination == "q1" && (size > 1000 || response > 5ms) && acked is not null`)
	if err != nil {
		t.Fatal(err)
	}
	var b format.Merged
	if err := some().Reader(100).Next(&b); err != nil {
		t.Fatal(err)
	}
	p.Mask(&b)
	if n := testing.AllocsPerRun(100, func() { p.Mask(&b) }); n > 0 {
		t.Errorf("%v allocations for a batch", n)
	}
}

func BenchmarkMask(b *testing.B) {
	p, err := where.Parse(`destination == "q1" && size > 1000 || response > 5ms`)
	if err != nil {
		b.Fatal(err)
	}
	l := synth.Queue{N: format.BatchRows, Interval: 1e6, Service: ms / 10}.Run()
	var batch format.Merged
	if err := l.Reader(format.BatchRows).Next(&batch); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(batch.Len()))
	for b.Loop() {
		p.Mask(&batch)
	}
}
