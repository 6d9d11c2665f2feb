package arch

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestModule checks the module as it is.
func TestModule(t *testing.T) {
	t.Parallel()
	packages, err := Load(".")
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	for _, p := range packages {
		if !p.Ours() {
			continue
		}
		ours++
		faults, err := checkSource(p)
		if err != nil {
			t.Error(err)
		}
		faults = append(faults, checkArrows(p)...)
		faults = append(faults, checkLibraries(p)...)
		faults = append(faults, checkTestLibraries(p)...)
		faults = append(faults, checkAbsent(p)...)
		if vagueName(p.Short()) {
			faults = append(faults, p.Short()+": the name says nothing about what is in it")
		}
		for _, f := range faults {
			t.Error(f)
		}
	}
	if ours < 2 {
		t.Errorf("only %d packages found: go list did not see the module", ours)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"format", "format", true},
		{"format", "formats", false},
		{"internal/load/**", "internal/load", true},
		{"internal/load/**", "internal/load/pace", true},
		{"internal/load/**", "internal/loader", false},
		{"cmd/*", "cmd/perf-send", true},
		{"cmd/*", "cmd", false},
		{"cmd/*", "cmd/a/b", false},
	}
	for _, tt := range tests {
		if got := match(tt.pattern, tt.path); got != tt.want {
			t.Errorf("match(%q, %q) = %v", tt.pattern, tt.path, got)
		}
	}
}

// TestFaults shows that each rule can fail.
func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		p    Package
		f    func(Package) []string
		want []string
	}{
		{"analysis imports load", Package{ImportPath: Module + "/internal/analysis/join", Imports: []string{"fmt", Module + "/format", Module + "/internal/load/pace"}}, checkArrows,
			[]string{"internal/analysis/join may not import internal/load/pace"}},
		{"produce imports link", Package{ImportPath: Module + "/internal/load/produce", Imports: []string{Module + "/internal/amqp", Module + "/internal/amqp/link"}}, checkArrows,
			[]string{"internal/load/produce may not import internal/amqp/link"}},
		{"timestamp imports anything", Package{ImportPath: Module + "/timestamp", Imports: []string{Module + "/internal/units"}}, checkArrows,
			[]string{"timestamp may not import internal/units"}},
		{"command imports command", Package{ImportPath: Module + "/internal/command/perfsend", Imports: []string{Module + "/internal/command/perfrecv"}}, checkArrows,
			[]string{"internal/command/perfsend may not import internal/command/perfrecv"}},
		{"unknown package", Package{ImportPath: Module + "/stray"}, checkArrows,
			[]string{"stray: no row in arrows: decide what it may import"}},
		{"second importer", Package{ImportPath: Module + "/internal/load/produce", Imports: []string{"github.com/Azure/go-amqp"}}, checkLibraries,
			[]string{"internal/load/produce may not import github.com/Azure/go-amqp: only internal/amqp/link may"}},
		{"timestamp with a library", Package{ImportPath: Module + "/timestamp", Imports: []string{"github.com/google/uuid"}}, checkLibraries,
			[]string{"timestamp may not import github.com/google/uuid: only internal/command/* may"}},
		{"unknown library", Package{ImportPath: Module + "/format", Imports: []string{"example.org/x", "github.com/parquet-go/parquet-go/encoding"}}, checkLibraries,
			[]string{"format imports example.org/x, which is not in libraries"}},
		{"unknown test library", Package{ImportPath: Module + "/format", TestImports: []string{"github.com/stretchr/testify/assert", "github.com/google/go-cmp/cmp"}}, checkTestLibraries,
			[]string{"a test of format imports github.com/stretchr/testify/assert, which is in no list"}},
		{"plot in perf-send", Package{ImportPath: Module + "/cmd/perf-send", Deps: []string{"fmt", "gonum.org/v1/plot/vg"}}, checkAbsent,
			[]string{"cmd/perf-send depends on gonum.org/v1/plot/vg"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, tt.f(tt.p)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestSourceFaults(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	text := "package x\n\nimport clock \"time\"\n\nfunc init() {}\n\nfunc f() any { clock.Sleep(1); return clock.Now }\n" + strings.Repeat("\n", maxFile)
	if err := os.WriteFile(filepath.Join(directory, "x.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p := Package{ImportPath: Module + "/internal/analysis/join", Dir: directory, GoFiles: []string{"x.go"}}
	want := []string{
		"internal/analysis/join/x.go has 407 lines, more than 400",
		"internal/analysis/join/x.go has an init function",
		"internal/analysis/join/x.go:7: time.Sleep outside the places of clockReaders",
		"internal/analysis/join/x.go:7: time.Now outside the places of clockReaders",
	}
	got, err := checkSource(p)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	p.ImportPath = Module + "/timestamp"
	got, err = checkSource(p)
	if d := cmp.Diff([]string{"timestamp/x.go has 407 lines, more than 400", "timestamp/x.go has an init function"}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if got := checkSize("cmd/perf-send/main.go", 16, false); len(got) != 1 {
		t.Errorf("a main.go of 16 lines: got %q", got)
	}
}

func TestImportedAs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"package x\nimport \"time\"":   "time",
		"package x\nimport t \"time\"": "t",
		"package x\nimport \"fmt\"":    "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if got := importedAs(file, "time"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
