package schedule

import "math"

// Preview is what a schedule will do, counted and not sampled.
type Preview struct {
	Count int64 // all messages, Unbounded if there is no end
	// Last is the offset of the last message in ns: −1 if there is none, or no end.
	Last  int64
	Width int64 // of a row, a whole number of seconds in ns
	Rows  []PreviewRow
	// Cut says that messages come after the last row (only without an end).
	Cut bool
}

// PreviewRow is the messages intended in [From, To) ns.
type PreviewRow struct {
	From, To int64
	Count    int64
}

// NewPreview counts the messages of each second in at most rows rows: a second
// each, or as many as it takes to get a schedule with an end into so many rows.
// Of a schedule without an end it counts the first rows seconds.
func NewPreview(s Schedule, rows int) Preview {
	p := Preview{Count: s.N(), Last: -1, Width: second}
	if p.Count == 0 || rows < 1 {
		return p
	}
	end := int64(rows) * second
	if p.Count != Unbounded {
		p.Last = s.At(p.Count - 1)
		end = p.Last
		if seconds := p.Last/second + 1; seconds > int64(rows) {
			p.Width = ((seconds-1)/int64(rows) + 1) * second
		}
	} else {
		end--
	}
	done := int64(0)
	for from := int64(0); from <= end; from += p.Width {
		row := PreviewRow{From: from, To: math.MaxInt64}
		if from <= math.MaxInt64-p.Width {
			row.To = from + p.Width
		}
		until := row.To - 1
		if row.To == math.MaxInt64 {
			until = math.MaxInt64
		}
		due := Due(s, done, until)
		row.Count, done = due-done, due
		p.Rows = append(p.Rows, row)
		if row.To == math.MaxInt64 {
			break
		}
	}
	p.Cut = done < p.Count
	return p
}
