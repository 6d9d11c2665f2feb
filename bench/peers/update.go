package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// update replaces the sections of a Markdown file that were measured. A section of case C on broker B stands between
// the lines "<!-- bench C/B -->" and "<!-- /bench C/B -->"; one that the file has no place for is an error, after the
// others were written.
func (s *set) update(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, missing := string(text), []error(nil)
	for _, c := range allCases() {
		for _, broker := range s.brokers() {
			section := s.section(c, broker)
			if section == "" {
				continue
			}
			replaced, ok := replace(page, c.name+"/"+broker, section)
			if !ok {
				missing = append(missing, fmt.Errorf("%s has no place for %s/%s", path, c.name, broker))
				continue
			}
			page = replaced
		}
	}
	return errors.Join(append(missing, os.WriteFile(path, []byte(page), 0o666))...)
}

func (s *set) brokers() []string {
	var all []string
	seen := map[string]bool{}
	for _, r := range s.Runs {
		if !seen[r.Broker] {
			seen[r.Broker] = true
			all = append(all, r.Broker)
		}
	}
	return all
}

// replace puts a section between its markers, and reports whether they were there.
func replace(page, name, section string) (string, bool) {
	begin, end := "<!-- bench "+name+" -->\n", "<!-- /bench "+name+" -->"
	i := strings.Index(page, begin)
	if i < 0 {
		return page, false
	}
	i += len(begin)
	j := strings.Index(page[i:], end)
	if j < 0 {
		return page, false
	}
	return page[:i] + section + page[i+j:], true
}
