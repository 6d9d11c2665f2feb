package arch

import (
	"fmt"
	"slices"
	"strings"
)

// A pattern is a short import path; "…/**" matches the path before it and all below, and "…/*" exactly one level below.
func match(pattern, path string) bool {
	if base, ok := strings.CutSuffix(pattern, "/**"); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		rest, ok := strings.CutPrefix(path, base+"/")
		return ok && !strings.Contains(rest, "/")
	}
	return pattern == path
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

// arrow says what the packages that match from may import of this module, beside themselves.
type arrow struct {
	from string
	to   []string
}

// arrows is the dependency graph, first match wins; a package that no row matches is an error. All may import what
// everyone may (everyone below). The arrows point down: command, then load and analysis, then amqp.
func arrows() []arrow {
	return []arrow{
		{"timestamp", []string{}},
		{"format", []string{"timestamp"}},
		{"internal/units", []string{}},
		{"internal/cli", []string{}},
		// The seam between load and amqp: plain types.
		{"internal/amqp", []string{}},
		{"internal/amqp/wire", []string{}},
		{"internal/amqp/endpoint", []string{"internal/amqp/wire"}},
		{"internal/amqp/link", []string{"internal/amqp", "internal/amqp/wire", "internal/amqp/endpoint"}},
		// Sections of messages, for the command that wires them to a link.
		{"internal/amqp/message", []string{"internal/amqp", "internal/amqp/wire"}},
		{"internal/amqp/broker", []string{"internal/amqp/wire", "internal/amqp/endpoint"}},
		// Arithmetic that knows no message, no clock and no connection.
		{"internal/load/schedule", []string{}},
		{"internal/load/**", []string{"internal/load/**", "internal/amqp"}},
		{"internal/analysis/**", []string{"internal/analysis/**"}},
		// It starts the other programs as processes, and so needs nothing of what they are made of.
		{"internal/experiment/**", []string{"internal/experiment/**"}},
		// What the commands that load a broker share.
		{"internal/command/connect", []string{"internal/cli", "internal/load/watch", "internal/load/live", "internal/load/probe", "internal/load/recorder", "internal/amqp", "internal/amqp/link"}},
		{"internal/command/*", []string{"internal/cli", "internal/command/connect", "internal/load/**", "internal/analysis/**", "internal/amqp/**", "internal/experiment/**"}},
		{"cmd/*", []string{"internal/command/*", "internal/cli"}},
		{"internal/dev/**", []string{"**"}},
	}
}

func everyone() []string { return []string{"format", "timestamp", "internal/units"} }

// bottom lists what may not even import what everyone may, since those would be circles or are meant to be usable alone.
func bottom() []string {
	return []string{"timestamp", "format", "internal/units", "internal/amqp/wire", "internal/load/schedule"}
}

// library names the packages that may import a third-party module (by the prefix of its packages).
type library struct {
	prefix    string
	importers []string
}

// libraries is the list of third-party code that the programs may use, each in one place, so that it can be replaced,
// and so that its faults are met in one place. A library that is not listed is an error. Tests may import more
// (see testLibraries).
func libraries() []library {
	return []library{
		{"github.com/Azure/go-amqp", []string{"internal/amqp/link"}},
		{"github.com/parquet-go/parquet-go", []string{"format"}},
		{"github.com/apache/arrow/go", []string{"format"}},
		{"github.com/klauspost/compress", []string{"format"}},
		{"github.com/pierrec/lz4", []string{"format"}}, // bodies of other writers' Arrow messages
		{"github.com/HdrHistogram/hdrhistogram-go", []string{"internal/analysis/hdr"}},
		{"gonum.org/v1/plot", []string{"internal/analysis/chart"}},
		{"golang.org/x/image", []string{"internal/analysis/chart"}},
		{"gonum.org/v1/gonum", []string{"internal/analysis/stats"}},
		{"golang.org/x/perf", []string{"internal/analysis/stats"}},
		{"github.com/shirou/gopsutil", []string{"internal/load/watch"}},
		{"github.com/goccy/go-yaml", []string{"internal/experiment/scenario"}},
		{"github.com/spf13/cobra", []string{"internal/cli", "internal/command/*", "internal/dev/gendocs"}},
		{"github.com/spf13/pflag", []string{"internal/cli", "internal/command/*", "internal/dev/gendocs"}},
		{"github.com/vbauerster/mpb", []string{"internal/cli"}},
		{"github.com/google/uuid", []string{"internal/command/*"}},
		// Thin layers over system calls, wherever a system call is needed.
		{"golang.org/x/sys", []string{"**"}},
		{"golang.org/x/term", []string{"**"}},
		// Developer tools, no part of the programs.
		{"github.com/rogpeppe/go-internal", []string{"internal/dev/**"}},
		{"golang.org/x/tools", []string{"internal/dev/**"}},
	}
}

// testLibraries may be imported by the tests of any package, beside all of libraries: a test that uses a library as a
// second opinion (plain go-amqp against our broker, parquet-go against our reader) is welcome.
func testLibraries() []string {
	return []string{"github.com/google/go-cmp", "pgregory.net/rapid", "github.com/rogpeppe/go-internal", "golang.org/x/tools"}
}

// absent lists libraries that must not get into a program even by way of our own packages: the loading programs are
// copied to many hosts and stay small, and nothing that can draw belongs on the hot path's heap.
func absent() map[string][]string {
	return map[string][]string{
		"cmd/perf-send":   {"gonum.org/v1/plot", "github.com/spf13/cobra/doc", "testing"},
		"cmd/perf-recv":   {"gonum.org/v1/plot", "github.com/spf13/cobra/doc", "testing"},
		"cmd/perf-broker": {"gonum.org/v1/plot", "github.com/spf13/cobra/doc", "github.com/Azure/go-amqp", "testing"},
		"cmd/perf-merge":  {"gonum.org/v1/plot", "github.com/Azure/go-amqp", "github.com/spf13/cobra/doc", "testing"},
		"cmd/perf-report": {"github.com/Azure/go-amqp", "github.com/spf13/cobra/doc", "testing"},
		"cmd/perf-run":    {"gonum.org/v1/plot", "github.com/Azure/go-amqp", "github.com/spf13/cobra/doc", "testing"},
	}
}

// checkArrows returns a line for each import within the module that arrows does not allow.
func checkArrows(p Package) (faults []string) {
	i := slices.IndexFunc(arrows(), func(a arrow) bool { return match(a.from, p.Short()) })
	if i < 0 {
		return []string{fmt.Sprintf("%s: no row in arrows: decide what it may import", p.Short())}
	}
	allowed := arrows()[i].to
	if !slices.Contains(bottom(), p.Short()) {
		allowed = append(allowed, everyone()...)
	}
	for _, path := range p.Imports {
		short := strings.TrimPrefix(path, Module+"/")
		if isOurs(path) && !matchAny(allowed, short) && !slices.Contains(allowed, "**") {
			faults = append(faults, fmt.Sprintf("%s may not import %s", p.Short(), short))
		}
	}
	return faults
}

// checkLibraries returns a line for each import of a third-party library outside its place.
func checkLibraries(p Package) (faults []string) {
	for _, path := range p.Imports {
		if isOurs(path) || isStandard(path) {
			continue
		}
		i := slices.IndexFunc(libraries(), func(l library) bool { return match(l.prefix+"/**", path) })
		if i < 0 {
			faults = append(faults, fmt.Sprintf("%s imports %s, which is not in libraries", p.Short(), path))
			continue
		}
		allowed := libraries()[i].importers
		if !slices.Contains(allowed, "**") && !matchAny(allowed, p.Short()) {
			faults = append(faults, fmt.Sprintf("%s may not import %s: only %s may", p.Short(), path, strings.Join(allowed, ", ")))
		}
	}
	return faults
}

// checkTestLibraries returns a line for each library that only a test imports and that no list names.
func checkTestLibraries(p Package) (faults []string) {
	for _, path := range slices.Concat(p.TestImports, p.XTestImports) {
		known := isOurs(path) || isStandard(path) ||
			slices.ContainsFunc(libraries(), func(l library) bool { return match(l.prefix+"/**", path) }) ||
			slices.ContainsFunc(testLibraries(), func(l string) bool { return match(l+"/**", path) })
		if !known {
			faults = append(faults, fmt.Sprintf("a test of %s imports %s, which is in no list", p.Short(), path))
		}
	}
	return faults
}

// checkAbsent returns a line for each library that got into a program that must not have it.
func checkAbsent(p Package) (faults []string) {
	for _, prefix := range absent()[p.Short()] {
		if i := slices.IndexFunc(p.Deps, func(d string) bool { return match(prefix+"/**", d) }); i >= 0 {
			faults = append(faults, fmt.Sprintf("%s depends on %s", p.Short(), p.Deps[i]))
		}
	}
	return faults
}
