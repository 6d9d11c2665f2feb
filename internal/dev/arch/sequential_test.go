package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSequential: the packages that the Makefile tests without the race detector start no goroutine.
func TestSequential(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^SEQUENTIAL := ((?:.*\\\n)*.*)$`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile has no SEQUENTIAL")
	}
	for _, p := range strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " ")) {
		files, err := filepath.Glob(filepath.Join(root, p, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: no Go files (%v)", p, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, at := range goStatements(t, name) {
				t.Errorf("%s: starts a goroutine: its tests need the race detector", at)
			}
		}
	}
}

// goStatements returns where a file starts goroutines.
func goStatements(t *testing.T, name string) (at []token.Position) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok {
			at = append(at, set.Position(g.Pos()))
		}
		return true
	})
	return at
}
