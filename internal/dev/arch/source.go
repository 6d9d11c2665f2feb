package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits of size, in lines.
const (
	maxMain = 15  // of a main.go: it calls a command and exits
	maxFile = 400 // of any other file that is no test
)

// clockReaders lists where time.Now, Since and Until may be called, and why; everywhere else they would be a second
// clock beside package timestamp, and rows of two clocks cannot be subtracted. A key is a package or one file of it.
func clockReaders() map[string]string {
	return map[string]string{
		"timestamp":              "makes every stamp that is recorded",
		"format/spool_write.go":  "flush intervals",
		"internal/cli":           "progress lines and default names of files",
		"internal/amqp/link":     "deadlines of connections",
		"internal/amqp/broker":   "deadlines of its servers and heartbeats",
		"internal/load/pace":     "timers",
		"internal/load/recorder": "flush timers",
		"internal/load/watch":    "intervals between samples",
		"internal/load/probe":    "timeouts of probes",
		"internal/load/produce":  "drain deadline",
		"internal/load/consume":  "idle and wait deadlines",
		"internal/command/**":    "durations on the command line and live lines",
		"internal/dev/**":        "limits of waiting in tests",
	}
}

// readsClock are the functions of package time that read the clock, and Sleep, which ties code to it.
func readsClock(name string) bool {
	return slices.Contains([]string{"Now", "Since", "Until", "Sleep"}, name)
}

// checkSource parses the files of p that are no tests and returns a line for each rule that one breaks.
func checkSource(p Package) (faults []string, err error) {
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		where := p.Short() + "/" + name
		faults = append(faults, checkSize(where, bytes.Count(text, []byte("\n")), ast.IsGenerated(file))...)
		faults = append(faults, checkInit(where, file)...)
		faults = append(faults, checkClock(p.Short(), where, set, file)...)
	}
	return faults, nil
}

func checkSize(where string, lines int, generated bool) []string {
	limit := maxFile
	if strings.HasPrefix(where, "cmd/") && filepath.Base(where) == "main.go" {
		limit = maxMain
	}
	if lines > limit && !generated {
		return []string{fmt.Sprintf("%s has %d lines, more than %d", where, lines, limit)}
	}
	return nil
}

func checkInit(where string, file *ast.File) (faults []string) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			faults = append(faults, where+" has an init function")
		}
	}
	return faults
}

func checkClock(short, where string, set *token.FileSet, file *ast.File) (faults []string) {
	for pattern := range clockReaders() {
		if match(pattern, short) || pattern == where {
			return nil
		}
	}
	local := importedAs(file, "time")
	if local == "" {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == local && readsClock(s.Sel.Name) {
			faults = append(faults, fmt.Sprintf("%s:%d: time.%s outside the places of clockReaders", where, set.Position(s.Pos()).Line, s.Sel.Name))
		}
		return true
	})
	return faults
}

// importedAs returns the name under which a file imports a package, "" if it does not.
func importedAs(file *ast.File, path string) string {
	for _, i := range file.Imports {
		if got, err := strconv.Unquote(i.Path.Value); err != nil || got != path {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return filepath.Base(path)
	}
	return ""
}

// vagueName reports whether an element of a short path says nothing about what is in the package.
func vagueName(short string) bool {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc", "lib", "pkg", "shared", "base"}
	return slices.ContainsFunc(strings.Split(short, "/"), func(e string) bool { return slices.Contains(vague, e) })
}
