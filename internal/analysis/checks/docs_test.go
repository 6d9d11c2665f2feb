package checks

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocs: the table in docs/method.md says what the code does.
func TestDocs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/method.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "<!-- checks -->\n")
	got, _, closed := strings.Cut(rest, "<!-- end -->")
	if !ok || !closed {
		t.Fatal("docs/method.md has no table of checks")
	}
	var want strings.Builder
	want.WriteString("| check | what | limits | spoils | what to do |\n|---|---|---|---|---|\n")
	for _, r := range table() {
		spoils := strings.Join(r.spoils, ", ")
		switch {
		case len(r.spoils) == len(everything()):
			spoils = "everything"
		case spoils == "":
			spoils = "—"
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s | %s |\n", r.id, r.name, r.limit, spoils, r.advice)
	}
	if got != want.String() {
		t.Errorf("the table of docs/method.md must be\n%s", want.String())
	}
}
