package main

import (
	"slices"
	"strings"
	"time"
)

// run is one measured run of one tool: everything a table needs, and what was typed.
type run struct {
	Case     string             `json:"case"`
	Broker   string             `json:"broker"`
	Param    string             `json:"param,omitempty"` // what differs between the rows of a case, such as "100 in flight"
	Tool     string             `json:"tool"`
	Rep      int                `json:"rep"` // from 0
	At       time.Time          `json:"at"`
	Seconds  float64            `json:"seconds"` // measured, after Warmup
	Warmup   float64            `json:"warmup"`
	Commands []string           `json:"commands"`
	Values   map[string]float64 `json:"values"`
	Texts    map[string]string  `json:"texts,omitempty"`
	Error    string             `json:"error,omitempty"` // why there are no values
}

// set is what was measured in one go.
type set struct {
	Machine  []string           `json:"machine"` // a fact a line
	Versions []string           `json:"versions"`
	Warm     map[string]float64 `json:"warm"` // by broker: seconds for which each tool loaded it before
	Runs     []run              `json:"runs"`
}

// spread is the median of the repetitions and the ends of their range.
type spread struct {
	median, low, high float64
	n                 int
}

// spreadOf ignores the order of values; the median of an even number is the mean of the middle two. No values: n is 0.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	v := slices.Sorted(slices.Values(values))
	m := v[len(v)/2]
	if len(v)%2 == 0 {
		m = (v[len(v)/2-1] + m) / 2
	}
	return spread{m, v[0], v[len(v)-1], len(v)}
}

// row is the repetitions of one line of a table.
type row struct {
	broker, param, tool string
	runs                []run
}

// rowsOf groups the runs of a case on a broker, in the order in which the rows first appear.
func rowsOf(runs []run, name, broker string) []*row {
	var rows []*row
	for _, r := range runs {
		if r.Case != name || r.Broker != broker {
			continue
		}
		i := slices.IndexFunc(rows, func(x *row) bool { return x.param == r.Param && x.tool == r.Tool })
		if i < 0 {
			rows = append(rows, &row{r.Broker, r.Param, r.Tool, nil})
			i = len(rows) - 1
		}
		rows[i].runs = append(rows[i].runs, r)
	}
	return rows
}

func (r *row) spread(key string) spread {
	var values []float64
	for _, x := range r.runs {
		if v, ok := x.Values[key]; ok {
			values = append(values, v)
		}
	}
	return spreadOf(values)
}

// text joins the different texts of the repetitions.
func (r *row) text(key string) string {
	var texts []string
	for _, x := range r.runs {
		if t := x.Texts[key]; t != "" && !slices.Contains(texts, t) {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "; ")
}

// ratio is ours over theirs, repetition by repetition, so that what the machine did to both cancels out.
func ratio(ours, theirs *row, key string) spread {
	var values []float64
	for _, a := range ours.runs {
		for _, b := range theirs.runs {
			x, okA := a.Values[key]
			y, okB := b.Values[key]
			if a.Rep == b.Rep && okA && okB && y > 0 {
				values = append(values, x/y)
			}
		}
	}
	return spreadOf(values)
}
