// Package arch enforces the rules of the architecture that a compiler does not: which package may import which, one
// importing package for each third-party library, where the clock may be read, and the size of things. Its tests read
// the module with `go list` and the source with go/parser; the rules themselves are the tables in rules.go, so that a
// change of the architecture is a change of a table, with its reason, in a review.
package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// Module is the path of this module.
const Module = "amqpperf"

// Package is what the rules look at of one package, as `go list -json` prints it.
type Package struct {
	ImportPath   string
	Dir          string
	Standard     bool
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string // direct imports of the files that are no tests
	TestImports  []string
	XTestImports []string
	Deps         []string // all imports, direct and indirect, of the files that are no tests
}

// Short is the import path without the module: "internal/load/pace", "." for the root.
func (p Package) Short() string {
	if p.ImportPath == Module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, Module+"/")
}

// Ours reports whether the package belongs to this module.
func (p Package) Ours() bool { return isOurs(p.ImportPath) }

func isOurs(path string) bool { return path == Module || strings.HasPrefix(path, Module+"/") }

// isStandard reports whether an import path is one of the standard library: its first element has no dot.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && !isOurs(path)
}

// Load lists the packages of the module in which directory lies, with those they depend on. It runs the go command.
func Load(directory string) ([]Package, error) {
	c := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,Standard,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps", Module+"/...")
	c.Dir = directory
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %s: %w", strings.TrimSpace(stderr.String()), err)
	}
	var packages []Package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}
