package index

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// together takes what held runs from the reports in which they were judged with
// others, and which know more.
func (p Page) together(lines []line) error {
	for _, name := range p.Together {
		file := filepath.Join(p.Dir.Path, "compared", name+".json")
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		in := bufio.NewScanner(bytes.NewReader(text))
		in.Buffer(nil, len(text)+1)
		for in.Scan() {
			var r report
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			for _, l := range lines {
				if l.report != nil && l.report.Run == r.Run {
					l.report.Limits = r.Limits
				}
			}
		}
	}
	return nil
}
