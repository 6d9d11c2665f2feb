package chart

import (
	"image/color"
	"math"
	"strings"
	"testing"
)

// No text lies on other text or beyond the edge, and none is too small to read
// at half size, in any picture at several sizes.
func TestTextHasItsPlace(t *testing.T) {
	t.Parallel()
	sizes := map[string]Options{
		"default": {}, "small": {Width: 960, Height: 600, DPI: 110}, "high": {Width: 1200, Height: 1600},
	}
	for name, fig := range pictures() {
		for size, o := range sizes {
			if name == "latency-million" && size != "default" {
				continue // slow, and its text is that of the others
			}
			if strings.HasPrefix(name, "dashboard") { // of four, which need more height than one
				o.Height = max(o.Height, dashboardHeight)
			}
			f, err := fig(o)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recordFigure(f, o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.texts) < 2 {
				t.Errorf("%s, %s: %d texts", name, size, len(r.texts))
			}
			for i, a := range r.texts {
				if a.box.Min.X < 0 || a.box.Min.Y < 0 || a.box.Max.X > r.width || a.box.Max.Y > r.height {
					t.Errorf("%s, %s: %q is clipped: %v", name, size, a.s, a.box)
				}
				if a.size < 9 {
					t.Errorf("%s, %s: %q has %.1f points", name, size, a.s, a.size)
				}
				for _, b := range r.texts[:i] {
					if a.box.Min.X < b.box.Max.X && b.box.Min.X < a.box.Max.X && a.box.Min.Y < b.box.Max.Y && b.box.Min.Y < a.box.Max.Y {
						t.Errorf("%s, %s: %q and %q overlap: %v, %v", name, size, a.s, b.s, a.box, b.box)
					}
				}
			}
		}
	}
}

// The names of small plots beside one another are on one line, with labels at the
// axis below them and without.
func TestNamesOnOneLine(t *testing.T) {
	t.Parallel()
	run, base := samples()
	for _, n := range []int{2, 6} {
		f, err := multiplesFigure(Options{}, sampleMultiples(run, base, n))
		if err != nil {
			t.Fatal(err)
		}
		r, err := recordFigure(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tops := map[float64]int{}
		for _, text := range r.texts {
			if strings.HasPrefix(text.s, "queue://") {
				tops[math.Round(float64(text.box.Max.Y)*10)]++
			}
		}
		if len(tops) != (n+2)/3 {
			t.Errorf("the names of %d plots are at %v", n, tops)
		}
	}
}

// A stall has one colour, beside a warm-up and without, and it is not grey.
func TestStallHasOneColour(t *testing.T) {
	t.Parallel()
	alone, beside := spanColor([]string{"stall of 1s (broker)"}, 0), spanColor([]string{Warmup, "stall of 1s (broker)"}, 1)
	if alone != beside {
		t.Errorf("%v alone, %v beside the warm-up", alone, beside)
	}
	if warm := spanColor([]string{Warmup}, 0); warm == alone {
		t.Errorf("the warm-up has the colour of a stall, %v", warm)
	}
}

// Bars have their colours by what they stand for, and differ.
func TestBarColours(t *testing.T) {
	t.Parallel()
	seen := map[color.Color]string{}
	for _, name := range []string{Warmup, Hiccup, Reconnect, "stall of 1s (broker)"} {
		if other, ok := seen[edgeColor(name)]; ok {
			t.Errorf("%s and %s have one colour", name, other)
		}
		seen[edgeColor(name)] = name
	}
}

// The type is at least 9 pixels high at 800 pixels of width: at 144 DPI and
// 1600 pixels a point is one pixel there.
func TestDefaultScale(t *testing.T) {
	t.Parallel()
	w, h, dpi, err := Options{}.size()
	if err != nil || dpi != 144 || w != 800 || h != 450 {
		t.Errorf("default size %v × %v points, %d DPI, %v", w, h, dpi, err)
	}
}

func TestEmptyPictureSaysSo(t *testing.T) {
	t.Parallel()
	all := pictures()
	for _, name := range []string{"percentiles-empty", "latency-empty", "heatmap-empty", "waits-empty", "multiples-empty", "resources-empty", "clocks-empty", "shift-empty"} {
		f, err := all[name](Options{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := recordFigure(f, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !hasText(r, "no data") {
			t.Errorf("%s does not say so", name)
		}
	}
}

// What is left out is counted below the picture; stamps and names are on it.
func TestTextOfAPicture(t *testing.T) {
	t.Parallel()
	all := pictures()
	for name, want := range map[string][]string{
		"percentiles-lost":    {"FAIL C1 240 messages lost", "WARN C10", "3 values infinite or undefined", "0.2 % of the messages", "p99.9 infinite", "90 %", "99.9 %", "percentile"},
		"percentiles":         {"artemis 2.42 patched", "build=patched", "2026-03-14 09:26:53.589 UTC", "dashed: artemis 2.42 trunk", "service", "response", "50 %", "99.99 %"},
		"latency":             {"p50", "p99", "max", "warm-up", "time since start (s)", "(response)", "10 ms"},
		"rates":               {"intended", "sent", "acked", "received", "sent per second", "received per second", "dashed: artemis 2.42 trunk"},
		"rates-alone":         {"intended", "messages per second"},
		"heatmap":             {"(e2e)", "messages in a cell", "log scale", "100 ms", "stall of 120 ms"},
		"waits":               {"service", "window", "lag", "mean time of a message", "2 ms"},
		"multiples-30":        {"by destination", "queue://orders-12", "the first 12 of 30", "p50", "p99"},
		"resources":           {"CPU (% of a core)", "RSS (MiB)", "perf-send", "broker", "msg/s"},
		"clocks":              {"offset since the start", "bound of one-way times", "perf-recv on host-b"},
		"shift":               {"change of latency", "95 % within the two runs", "-20 %", "99.9 %"},
		"shift-runs":          {"over the runs"},
		"dashboard":           {"Run: artemis 2.42 patched", "Latency by percentile", "Latency over time", "Rates over time", "Backlog over time", "WARN C3"},
		"backlog":             {"in flight", "in broker", "window", "100"},
		"percentiles-letters": {"Müller & Söhne – Кафка", "größe=1 KiB", "город=Москва", "??"},
	} {
		o := pictureOptions(name)
		f, err := all[name](o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := recordFigure(f, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range want {
			if !hasText(r, s) {
				t.Errorf("%s: %q is nowhere", name, s)
			}
		}
		for _, text := range r.texts {
			if strings.ContainsAny(text.s, "\x1b\n\u202e") {
				t.Errorf("%s: control characters in %q", name, text.s)
			}
		}
	}
}

func hasText(r *record, s string) bool {
	for _, t := range r.texts {
		if strings.Contains(t.s, s) {
			return true
		}
	}
	return false
}
