package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWritePictures writes every picture into the directory that
// PERF_CHART_DIR names, to be looked at.
func TestWritePictures(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PERF_CHART_DIR")
	if dir == "" {
		t.Skip("PERF_CHART_DIR is not set: no pictures to look at")
	}
	for name, fig := range pictures() {
		for _, format := range Formats() {
			o := pictureOptions(name)
			f, err := fig(o)
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Create(filepath.Join(dir, name+"."+format))
			if err != nil {
				t.Fatal(err)
			}
			if err := f.write(file, format, o); err != nil {
				t.Error(err)
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// pictureOptions are the defaults of a picture.
func pictureOptions(name string) Options {
	if strings.HasPrefix(name, "dashboard") {
		return Options{Height: dashboardHeight}
	}
	return Options{}
}
