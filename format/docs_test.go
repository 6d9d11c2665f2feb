package format

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"amqpperf/internal/dev/golden"
)

const formatDoc = "../docs/format.md"

// columnTable is the Markdown table of a schema.
func columnTable(s *Schema) string {
	var b strings.Builder
	b.WriteString("| column | type | NULL | unit | meaning |\n|---|---|---|---|---|\n")
	types := map[Type]string{Int32: "int32", Int64: "int64", Bool: "bool", String: "string"}
	for _, c := range s.Columns {
		null := ""
		if c.Nullable {
			null = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, types[c.Type], null, c.Unit, strings.ReplaceAll(c.Doc, "|", "\\|"))
	}
	return b.String()
}

// TestFormatDoc keeps the column tables of docs/format.md what the schemas are.
func TestFormatDoc(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	want := doc
	schemas := []*Schema{SendSchema(), RecvSchema(), MergedSchema(), EventSchema(), SampleSchema(), ClockSchema(), MetaSchema()}
	for _, s := range schemas {
		head := []byte("<!-- columns: " + s.Name + " -->\n")
		before, rest, ok := bytes.Cut(want, head)
		_, after, ok2 := bytes.Cut(rest, []byte("<!-- end -->"))
		if !ok || !ok2 {
			t.Fatalf("%s has no place for the columns of %s", formatDoc, s.Name)
		}
		want = bytes.Join([][]byte{before, head, []byte(columnTable(s) + "<!-- end -->"), after}, nil)
	}
	if golden.Update() {
		if err := os.WriteFile(formatDoc, want, 0o644); err != nil { // a document
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(doc, want) {
		t.Errorf("%s is not what the schemas are; go test ./format -update writes it", formatDoc)
	}
}

// TestFormatDocHasEveryKey reads the metadata keys out of the source.
func TestFormatDocHasEveryKey(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile(formatDoc)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "meta.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if key, err := strconv.Unquote(lit.Value); err == nil && strings.HasPrefix(key, "perf.") {
			keys++
			if !strings.Contains(string(doc), "`"+key) {
				t.Errorf("%s does not explain the key %s", formatDoc, key)
			}
		}
		return true
	})
	if keys < 10 {
		t.Errorf("only %d keys found", keys)
	}
}
