package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// update replaces the sections of Markdown files that were measured. A section of case C on broker B stands between the
// lines "<!-- bench C/B -->" and "<!-- /bench C/B -->", in one or more of the files, and the ratios of all cases between
// "<!-- bench ahead -->" and "<!-- /bench ahead -->". A section that no file has a place for is an error, after the
// others were written.
func (s *set) update(paths ...string) error {
	pages := make([]string, len(paths))
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		pages[i] = string(text)
	}
	var faults []error
	put := func(name, section string, needed bool) {
		found := false
		for i := range pages {
			replaced, ok := replace(pages[i], name, section)
			if ok {
				pages[i], found = replaced, true
			}
		}
		if !found && needed {
			faults = append(faults, fmt.Errorf("%s: no place for %s", strings.Join(paths, ", "), name))
		}
	}
	for _, c := range allCases() {
		for _, broker := range s.brokers() {
			if section := s.section(c, broker); section != "" {
				put(c.name+"/"+broker, section, true)
			}
		}
	}
	if ahead := s.ahead(); ahead != "" {
		put("ahead", ahead, false)
	}
	for i, path := range paths {
		faults = append(faults, os.WriteFile(path, []byte(pages[i]), 0o666))
	}
	return errors.Join(faults...)
}

// ahead is the table of all ratios of a maximum rate, most favourable last: where we are not ahead is what one wants to see first.
func (s *set) ahead() string {
	type entry struct {
		ratio spread
		text  string
	}
	var all []entry
	for _, c := range allCases() {
		if c.ratio == "" {
			continue
		}
		for _, broker := range s.brokers() {
			rows := rowsOf(s.Runs, c.name, broker)
			for _, r := range rows {
				ours := base(rows, r)
				if x := ratio(ours, r, c.ratio); ours != r && x.n > 0 && !strings.HasPrefix(r.tool, ourName) {
					all = append(all, entry{x, fmt.Sprintf("| %s | %s | %s | %s |", broker, r.param, escape(r.tool), against(ours, r, c.ratio))})
				}
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.ratio.median, b.ratio.median) })
	text := "| broker | load | tool | received/s: perf-send + perf-recv is … times it |\n|---|---|---|--:|\n"
	for _, e := range all {
		text += e.text + "\n"
	}
	return text
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
