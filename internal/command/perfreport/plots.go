package perfreport

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"amqpperf/format"
	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/compare"
	"amqpperf/internal/cli"
)

// The pictures that exist of some runs only.
const (
	shiftPlot     = "shift"     // of a comparison
	multiplesPlot = "multiples" // of the groups of --by
	dashboardPlot = "dashboard" // named by --dashboard, and not in the set of --png
)

// plotNames are the pictures that --plot draws, and --png as NAME.png as far as
// there is something to draw.
func plotNames() []string {
	return []string{"percentiles", "latency", "heatmap", "rates", "backlog", "waits", "resources", "clock", shiftPlot, multiplesPlot}
}

// plot is one picture to be drawn.
type plot struct {
	name   string
	flag   string // that asked for it
	path   string // "-": standard output
	format string // png or svg
	set    bool   // one of the set of --png: left out when there is nothing to draw
	file   *format.File
	drawn  bool
}

// validatePlots reads --plot, --dashboard and the size.
func (o *options) validatePlots() error {
	o.plots = nil
	if o.png != "" {
		for _, name := range plotNames() {
			o.plots = append(o.plots, &plot{name: name, flag: "--png", path: filepath.Join(o.png, name+".png"), format: "png", set: true})
		}
	}
	for _, text := range o.plotArgs {
		name, path, ok := strings.Cut(text, "=")
		if !ok || path == "" || !slices.Contains(plotNames(), name) {
			return cli.Usagef("--plot %q: want NAME=FILE or NAME=-, with one of %s", text, strings.Join(plotNames(), ", "))
		}
		o.plots = append(o.plots, &plot{name: name, flag: "--plot " + name, path: path})
	}
	if o.dashboard != "" {
		o.plots = append(o.plots, &plot{name: dashboardPlot, flag: "--dashboard", path: o.dashboard})
	}
	streams := 0
	seen := map[string]string{}
	for _, f := range o.files() {
		seen[filepath.Clean(f.name)] = f.flag
	}
	for _, p := range o.plots {
		var err error
		if p.format == "" {
			if p.format, err = chart.FormatOf(p.path); err != nil {
				return cli.Usagef("%s: %w", p.flag, err)
			}
		}
		if p.path == "-" {
			streams++
		} else if other := seen[filepath.Clean(p.path)]; other != "" {
			return cli.Usagef("%s and %s are one file: %s", other, p.flag, p.path)
		}
		seen[filepath.Clean(p.path)] = p.flag
		switch {
		case p.name == multiplesPlot && !p.set && !o.grouped():
			return cli.Usagef("%s: --by says what the small pictures are of", p.flag)
		case p.name != multiplesPlot && !p.set && o.grouped():
			return cli.Usagef("%s: --by %s makes several reports: only --plot multiples=FILE draws them together", p.flag, o.by)
		case p.name == shiftPlot && !p.set && !o.comparing():
			return cli.Usagef("%s: --baseline or --compare says what the change is from", p.flag)
		case streams > 1:
			return cli.Usagef("%s=-: one picture at a time goes to standard output", p.flag)
		}
	}
	return o.validateSize()
}

// validateSize reads --plot-size.
func (o *options) validateSize() error {
	o.size = chart.Options{DPI: o.dpi}
	if o.sizeText != "" {
		w, h, ok := strings.Cut(o.sizeText, "x")
		var err1, err2 error
		o.size.Width, err1 = strconv.Atoi(w)
		o.size.Height, err2 = strconv.Atoi(h)
		if !ok || err1 != nil || err2 != nil || o.size.Width <= 0 || o.size.Height <= 0 {
			return cli.Usagef("--plot-size %q: want WIDTHxHEIGHT in pixels, as in 1600x900", o.sizeText)
		}
	}
	if o.dpi < 0 {
		return cli.Usagef("--plot-dpi %d: want 36 to 1200", o.dpi)
	}
	if err := o.size.Check(); err != nil {
		return cli.Usagef("--plot-size, --plot-dpi: %w", err)
	}
	return nil
}

// streamed reports whether a picture takes standard output.
func (o *options) streamed() bool {
	return slices.ContainsFunc(o.plots, func(p *plot) bool { return p.path == "-" })
}

// drawing draws one picture; nil: there is nothing to draw.
type drawing func(w io.Writer, format string, size chart.Options) error

// draw draws those pictures that there is a drawing for.
func (out *outputs) draw(find func(name string) drawing) error {
	for _, p := range out.o.plots {
		d := find(p.name)
		if d == nil || p.drawn {
			continue
		}
		w := out.stdout
		if p.path != "-" {
			w = p.file
		}
		if err := d(w, p.format, out.o.size); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		p.drawn = true
	}
	return nil
}

// undrawn is the error of pictures that were asked for by name and could not be
// drawn. Those of the set that there was nothing for leave no file.
func (out *outputs) undrawn() error {
	var errs []error
	for _, p := range out.o.plots {
		switch {
		case p.drawn:
		case p.set && p.file != nil:
			errs = append(errs, p.file.Abort())
			p.file = nil
		default:
			errs = append(errs, fmt.Errorf("%s: the logs have nothing to draw it from", p.flag))
		}
	}
	return errors.Join(errs...)
}

// drawRun draws the pictures of one run, base beside it; compared may be nil.
func (j *job) drawRun(m, base *made, compared *compare.Result) error {
	return j.out.draw(func(name string) drawing { return drawingOf(name, m, base, compared) })
}

func drawingOf(name string, m, base *made, compared *compare.Result) drawing {
	curve := base
	if base != nil && base.data == nil { // a log of another tool has a curve and no more
		base = nil
	}
	switch name {
	case "percentiles":
		return with(chart.DrawPercentiles, percentiles(m, curve))
	case "latency":
		return with(chart.DrawLatency, latency(m, base))
	case "heatmap":
		return with(chart.DrawHeatMap, heatMap(m))
	case "rates":
		return with(chart.DrawRates, rates(m, base))
	case "backlog":
		return with(chart.DrawBacklog, backlog(m, base))
	case "waits":
		if m.data.Series.Parts == nil {
			return nil
		}
		return with(chart.DrawWaits, waits(m))
	case "resources":
		if used := used(m); len(used.Users) > 0 {
			return with(chart.DrawResources, used)
		}
	case "clock":
		if c := clocks(m); len(c.Pairs) > 0 || c.Bound != nil {
			return with(chart.DrawClocks, c)
		}
	case shiftPlot:
		if compared != nil {
			if s := shift(m, compared); len(s.Within) > 0 || len(s.Between) > 0 {
				return with(chart.DrawShift, s)
			}
		}
	case dashboardPlot:
		return with(chart.DrawDashboard, dashboard(m, curve))
	}
	return nil
}

// with makes a drawing of a function of chart and its data.
func with[T any](draw func(io.Writer, string, chart.Options, T) error, data T) drawing {
	return func(w io.Writer, format string, size chart.Options) error { return draw(w, format, size, data) }
}
