package perfreport_test

import (
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/cli"
)

// sampled writes a run with samples of two tools and a broker, and a clock that
// was compared with another one.
func sampled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sampled.parquet")
	w, err := format.CreateParquet(path, format.MergedSchema(), format.ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"tool.cpu_ns", "tool.rss_bytes", "name:broker.cpu_ns"}
	var s format.Sample
	s.What.Values = names
	var c format.ClockRow
	c.Peer.Values = []string{"abc"}
	for range 2 {
		for k := range int64(6) {
			at := synth.Start + k*1000*ms
			for code, v := range []int64{k * 200 * ms, 30 << 20, k * 1800 * ms} {
				s.Instant, s.Value, s.What.Codes = append(s.Instant, at), append(s.Value, v), append(s.What.Codes, int32(code))
			}
		}
	}
	for k := range int64(20) {
		at := synth.Start + k*200*ms
		c.Instant, c.T1, c.T2 = append(c.Instant, at), append(c.T1, at), append(c.T2, at+3*ms)
		c.T3, c.T4 = append(c.T3, at+3*ms), append(c.T4, at+ms)
		c.Peer.Codes, c.Source.Codes = append(c.Peer.Codes, 0), append(c.Source.Codes, -1)
		for _, v := range []*[]int64{&c.WallOffset, &c.Gap, &c.Status, &c.MaxError, &c.EstError, &c.Freq, &c.Tick} {
			*v = append(*v, format.Null)
		}
	}
	for _, table := range []format.Batch{&s, &c} {
		if err := w.Table(table); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, w, stall())
	return path
}

func pngOf(t *testing.T, data string) image.Config {
	t.Helper()
	c, err := png.DecodeConfig(strings.NewReader(data))
	if err != nil {
		t.Error(err)
	}
	return c
}

// --png writes the pictures that there is something for, and no other file.
func TestPictureSet(t *testing.T) {
	t.Parallel()
	log, dir := sampled(t), t.TempDir()
	small := []string{"-q", "--plot-size", "400x320", "--plot-dpi", "72"}
	if r := perfReport(t, "", append(small, "--png", filepath.Join(dir, "a"), "--baseline", log, log)...); r.code != cli.ExitOK {
		t.Fatalf("%d %s", r.code, r.stderr)
	}
	if r := perfReport(t, "", append(small, "--png", filepath.Join(dir, "b"), parquet(t, "plain.parquet", stall()))...); r.code != cli.ExitOK {
		t.Fatalf("%d %s", r.code, r.stderr)
	}
	for sub, want := range map[string]string{
		"a": "backlog clock heatmap latency percentiles rates resources shift waits",
		"b": "backlog clock heatmap latency percentiles rates waits",
	} {
		var names []string
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, strings.TrimSuffix(e.Name(), ".png"))
			if c := pngOf(t, read(t, filepath.Join(dir, sub, e.Name()))); c.Width != 400 || c.Height != 320 {
				t.Errorf("%s: %d×%d", e.Name(), c.Width, c.Height)
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: %s, want %s", sub, got, want)
		}
	}
}

func TestOnePlot(t *testing.T) {
	t.Parallel()
	log, dir := parquet(t, "run.parquet", stall()), t.TempDir()
	svg, dash := filepath.Join(dir, "heat.svg"), filepath.Join(dir, "dash.png")
	r := perfReport(t, "", "-q", "--plot", "heatmap="+svg, "--plot", "rates=-", "--plot-size", "800x450", "--plot-dpi", "72", log)
	if c := pngOf(t, r.stdout); r.code != cli.ExitOK || c.Width != 800 || c.Height != 450 {
		t.Errorf("%d, %v, %s", r.code, c, r.stderr)
	}
	d := xml.NewDecoder(strings.NewReader(read(t, svg)))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	r = perfReport(t, "", "-q", "--dashboard", dash, log)
	if c := pngOf(t, read(t, dash)); r.code != cli.ExitOK || c.Width != 1600 || c.Height != 1500 {
		t.Errorf("%d, %v, %s", r.code, c, r.stderr)
	}
	if !strings.HasPrefix(r.stdout, "### stall\n") || !strings.Contains(r.stdout, "| response |") || strings.Contains(r.stdout, "**Stalls**") || strings.Count(r.stdout, "\n") > 40 {
		t.Errorf("not the summary:\n%s", r.stdout)
	}
	r = perfReport(t, "", "-q", "--by", "destination", "--plot", "multiples=-", log)
	if c := pngOf(t, r.stdout); r.code != cli.ExitOK || c.Width != 1600 {
		t.Errorf("%d, %v, %s", r.code, c, r.stderr)
	}
}

// Small pictures say how far the groups are apart, and have the stamps of all of them.
func TestMultiplesCaption(t *testing.T) {
	t.Parallel()
	l := stall()
	for i := range l.Rows {
		if r := &l.Rows[i]; i%2 == 1 {
			r.Destination, r.Acked = "queue://other", r.Acked+3*ms
		}
	}
	svg := filepath.Join(t.TempDir(), "m.svg")
	if r := perfReport(t, "", "-q", "--by", "destination", "--plot", "multiples="+svg, parquet(t, "run.parquet", l)); r.code != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	text := read(t, svg)
	if !regexp.MustCompile(`response p50 from [0-9.]+[mu]s \(queue://[a-z]+\) to [0-9.]+ms \(queue://other\)`).MatchString(text) {
		t.Errorf("no finding in %s", regexp.MustCompile(`>[^<>]+</text>`).FindAllString(text, 20))
	}
}

func TestPlotUsage(t *testing.T) {
	t.Parallel()
	log := parquet(t, "run.parquet", stall())
	for args, want := range map[string]string{
		"--plot colours=x.png":                     "one of percentiles, latency",
		"--plot rates":                             "want NAME=FILE",
		"--plot rates=x.gif":                       "want one of png, svg",
		"--plot shift=x.png":                       "--baseline or --compare",
		"--plot multiples=x.png":                   "--by says",
		"--by destination --plot rates=x.png":      "only --plot multiples=FILE",
		"--by destination --dashboard x.png":       "only --plot multiples=FILE",
		"--plot rates=- --plot heatmap=-":          "one picture at a time",
		"--png x --plot-size 1600":                 "WIDTHxHEIGHT",
		"--png x --plot-size 10x10":                "320 to 10000",
		"--png x --plot-dpi 5":                     "36 to 1200",
		"--plot rates=x.png --plot heatmap=x.png ": "are one file",
		"--plot rates=x.png -o x.png ":             "are one file",
	} {
		r := perfReport(t, "", append(strings.Fields(args), log)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %d %s", args, r.code, r.stderr)
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "r.png")
	r := perfReport(t, "", "--plot", "resources="+file, log)
	if r.code != cli.ExitFailure || !strings.Contains(r.stderr, "nothing to draw it from") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a picture of nothing was left behind")
	}
}
