package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot/cmpimg"

	"amqpperf/internal/dev/golden"
)

// Pictures equal their golden files within a tolerance that allows for the
// rounding of other processors. They are small to keep the repository so.
func TestGoldenPictures(t *testing.T) {
	t.Parallel()
	run, base := samples()
	o := Options{Width: 600, Height: 360, DPI: 64}
	draw := map[string]func(w *bytes.Buffer) error{
		"percentiles": func(w *bytes.Buffer) error { return DrawPercentiles(w, "png", o, samplePercentiles(run, base)) },
		"backlog":     func(w *bytes.Buffer) error { return DrawBacklog(w, "png", o, sampleBacklog(run, base)) },
		"heatmap":     func(w *bytes.Buffer) error { return DrawHeatMap(w, "png", o, sampleHeat(run)) },
		"waits":       func(w *bytes.Buffer) error { return DrawWaits(w, "png", o, sampleWaits(run)) },
		"multiples":   func(w *bytes.Buffer) error { return DrawMultiples(w, "png", o, sampleMultiples(run, base, 6)) },
		"shift":       func(w *bytes.Buffer) error { return DrawShift(w, "png", o, sampleShift(false)) },
		"clocks":      func(w *bytes.Buffer) error { return DrawClocks(w, "png", o, sampleClocks()) },
		"latency":     func(w *bytes.Buffer) error { return DrawLatency(w, "png", o, sampleLatency(run, base)) },
		"resources":   func(w *bytes.Buffer) error { return DrawResources(w, "png", o, sampleResources(run)) },
		"rates":       func(w *bytes.Buffer) error { return DrawRates(w, "png", o, sampleRates(run, base)) },
	}
	for name, f := range draw {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			if err := f(&got); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".png")
			if golden.Update() {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			equal, err := cmpimg.EqualApprox("png", want, got.Bytes(), 0.1)
			if err != nil {
				t.Fatal(err)
			}
			if !equal {
				kept := filepath.Join(t.ArtifactDir(), name+".png")
				t.Errorf("the picture differs from %s (kept with -artifacts: %s)", path, kept)
				if err := os.WriteFile(kept, got.Bytes(), 0o644); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	run, base := samples()
	var b bytes.Buffer
	if err := DrawRates(&b, "svg", Options{}, sampleRates(run, base)); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	if !strings.HasPrefix(svg, "<?xml") || !strings.Contains(svg, "received per second") || strings.Contains(svg, "NaN") {
		t.Errorf("not the SVG it should be: %.200s", svg)
	}
	if !strings.Contains(svg, "font-family:Liberation Sans,Arial") {
		t.Error("an SVG without a family to fall back to")
	}
	if err := DrawRates(&b, "jpeg", Options{}, sampleRates(run, base)); err == nil || !strings.Contains(err.Error(), "png, svg") {
		t.Errorf("format jpeg: %v", err)
	}
	for _, o := range []Options{{Width: 10}, {Height: 100_000}, {DPI: 1}, {Width: -5}} {
		if err := DrawPercentiles(&b, "png", o, Percentiles{}); err == nil {
			t.Errorf("%+v accepted", o)
		}
	}
	for _, format := range Formats() {
		if err := DrawPercentiles(failing{}, format, Options{}, samplePercentiles(run, base)); err == nil {
			t.Errorf("%s: a failed write is not reported", format)
		}
	}
}

// The same data gives the same bytes.
func TestPicturesAreReproducible(t *testing.T) {
	t.Parallel()
	run, base := samples()
	for _, format := range Formats() {
		var a, b bytes.Buffer
		if err := DrawPercentiles(&a, format, Options{}, samplePercentiles(run, base)); err != nil {
			t.Fatal(err)
		}
		if err := DrawPercentiles(&b, format, Options{}, samplePercentiles(run, base)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Bytes(), b.Bytes()) {
			t.Errorf("%s differs from run to run", format)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func TestFormatOf(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"a/b.png": "png", "b.SVG": "svg", "-": "png", "x.y/plain": "png", "c.jpeg": ""} {
		if got, err := FormatOf(path); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

// SVG is well-formed whatever is in the names.
func TestSVGIsWellFormed(t *testing.T) {
	t.Parallel()
	for name, fig := range pictures() {
		if name == "latency-million" {
			continue
		}
		f, err := fig(Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := f.write(&b, "svg", Options{}); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(&b)
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}
