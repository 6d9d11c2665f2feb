package chart

import (
	"image/color"
	"io"
)

// Resources is the input of the picture of what tool and broker used, below the
// rates of the same time.
type Resources struct {
	Caption
	Rates RateLines
	Users []User
	Spans []Span
}

// User is a process or host whose use was sampled. Empty lines were not.
type User struct {
	Name string  // perf-send, perf-recv, broker, …
	CPU  []Point // percent, 100 is one core
	RSS  []Point // bytes
}

// DrawResources draws rates, CPU and resident memory below one another, on one
// axis of time.
//
// Errors are those of DrawPercentiles.
func DrawResources(w io.Writer, format string, o Options, data Resources) error {
	f, err := resourcesFigure(o, data)
	if err != nil {
		return err
	}
	return f.write(w, format, o)
}

// userPen tells the n-th user apart by colour, width and dash, and from the rates.
func userPen(n int) pen {
	pens := []pen{
		{color: purple(), width: 2.2}, {color: color.NRGBA{0x80, 0x5a, 0x2b, 0xff}, width: 1.6}, {color: black(), width: 1.4, dash: []float64{6, 2}},
		{color: sky(), width: 1.4}, {color: vermilion(), width: 1.2, dash: []float64{2, 2}}, {color: grey(0x70), width: 1.2},
	}
	return pens[n%len(pens)]
}

func resourcesFigure(o Options, data Resources) (*figure, error) {
	rates := ratesPanel(Rates{Lines: data.Rates})
	rates.yLabel = "msg/s"
	rates.series = rates.series[1:] // intended is drawn wide: here it would hide the others
	cpu, rss := panel{yLabel: "CPU (% of a core)"}, panel{yLabel: "RSS (MiB)"}
	used := false
	for i, u := range data.Users {
		cpu.series = append(cpu.series, series{name: u.Name, points: u.CPU, pen: userPen(i)})
		rss.series = append(rss.series, series{name: u.Name, points: scaled(u.RSS, 1.0/(1<<20)), pen: userPen(i)})
		used = used || len(u.CPU) > 0 || len(u.RSS) > 0
	}
	if !used {
		return emptyFigure(o, "CPU and memory beside the rates", data.Caption)
	}
	return timeFigure(o, "CPU and memory beside the rates", data.Caption, data.Spans, "", rates, cpu, rss)
}

func emptyFigure(o Options, title string, caption Caption) (*figure, error) {
	_, _, dpi, err := o.size()
	if err != nil {
		return nil, err
	}
	f := newFigure(title, caption, dpi)
	f.empty = true
	return f, nil
}

func scaled(points []Point, by float64) []Point {
	out := make([]Point, len(points))
	for i, p := range points {
		out[i] = Point{p.Seconds, p.Value * by}
	}
	return out
}
