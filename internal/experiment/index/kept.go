package index

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	keptLines = 3   // of a text
	keptWidth = 400 // of a line
)

// kept quotes the texts that hooks have put into the folders of runs, such as lines
// of a broker's log: the first lines of each, and how many there are.
func (p Page) kept(b *strings.Builder, lines []line) {
	var all strings.Builder
	for _, l := range lines {
		files, err := filepath.Glob(filepath.Join(p.Dir.Path, l.outcome.Folder, "*.txt"))
		if err != nil {
			continue
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || filepath.Base(file) == "commands.txt" {
				continue
			}
			rows := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
			title := p.Plan.Title(l.outcome.Run)
			if title != "" {
				title = ", " + title
			}
			fmt.Fprintf(&all, "Run %d%s, %s, %d lines:\n\n```\n", l.outcome.Run.N, escape(title), escape(filepath.Base(file)), len(rows))
			for _, row := range rows[:min(len(rows), keptLines)] {
				line := strings.ToValidUTF8(string(row[:min(len(row), keptWidth)]), "")
				fmt.Fprintln(&all, strings.ReplaceAll(line, "```", "'''"))
			}
			fmt.Fprint(&all, "```\n\n")
		}
	}
	if all.Len() > 0 {
		fmt.Fprintf(b, "## Kept by hooks\n\n<!-- kept -->\n%s<!-- /kept -->\n\n", all.String())
	}
}
