package chart

import (
	"os"
	"path/filepath"
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
			f, err := fig(Options{})
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Create(filepath.Join(dir, name+"."+format))
			if err != nil {
				t.Fatal(err)
			}
			if err := f.write(file, format, Options{}); err != nil {
				t.Error(err)
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
