// Package doctest executes the commands of the documentation, so that they keep working as they are written.
//
// A comment on the line before a code block, fenced or indented, says what is done with it; readers of the page do
// not see it:
//
//	<!-- run -->                              executed against perf-broker ($AMQP_URL), in make check
//	<!-- run 30s -> 500ms; 5k -> 500 -->      the same with replacements, so that it is short
//	<!-- run broker 40s -> 2s -->             executed by `go test` with PERF_TEST_DOCS=1 only: it starts real brokers
//	<!-- no run: why -->                      not executed, and why
//
// The blocks of a page are executed in its order, in one folder, each by bash with -euo pipefail; what a block leaves in the
// background must end by itself. In a page that has one such comment, and in those that must have them, every block
// with a command of ours has one.
package doctest

import (
	"fmt"
	"regexp"
	"strings"
)

// Mode is what is done with a block.
type Mode int

// The modes.
const (
	Unmarked Mode = iota
	Hermetic
	Broker
	NoRun
)

// Block is a code block of a page.
type Block struct {
	Line   int // of its first command, from 1
	Text   string
	Mode   Mode
	Script string // the text after the replacements
	Ours   bool   // it has a command of ours
}

// marker is the comment, command a line that begins with a command of ours.
func marker() *regexp.Regexp { return regexp.MustCompile(`^<!-- (run|no run)\b(.*)-->$`) }

func command() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\s*(?:[A-Z_]+=\S+ )*(?:bin/|scripts/)?(?:perf-[a-z]+|make|scripts/[a-z-]+)\b`)
}

// Blocks returns the code blocks of a page of Markdown. A comment that cannot be read, or that stands before no block, is an error.
func Blocks(page string) ([]Block, error) {
	lines := strings.Split(page, "\n")
	var all []Block
	pending, pendingLine := "", 0
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case marker().MatchString(l):
			pending, pendingLine = l, i+1
			continue
		case strings.HasPrefix(l, "```"):
			end := i + 1
			for end < len(lines) && !strings.HasPrefix(lines[end], "```") {
				end++
			}
			b, err := block(pending, i+2, lines[i+1:min(end, len(lines))])
			if err != nil {
				return nil, err
			}
			all, pending, i = append(all, b), "", end
		case strings.HasPrefix(l, "    ") && strings.TrimSpace(l) != "" && (i == 0 || strings.TrimSpace(lines[i-1]) == "" || pending != ""):
			end := i
			for end < len(lines) && (strings.HasPrefix(lines[end], "    ") || strings.TrimSpace(lines[end]) == "") {
				end++
			}
			text := make([]string, 0, end-i)
			for _, t := range lines[i:end] {
				text = append(text, strings.TrimPrefix(t, "    "))
			}
			b, err := block(pending, i+1, text)
			if err != nil {
				return nil, err
			}
			all, pending, i = append(all, b), "", end-1
		case strings.TrimSpace(l) != "" && pending != "":
			return nil, fmt.Errorf("line %d: the comment stands before no code block", pendingLine)
		}
	}
	return all, nil
}

// block reads its comment.
func block(comment string, line int, lines []string) (Block, error) {
	b := Block{Line: line, Text: strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"}
	b.Script = b.Text
	b.Ours = command().MatchString(b.Text)
	if comment == "" {
		return b, nil
	}
	m := marker().FindStringSubmatch(comment)
	rest := strings.TrimSpace(m[2])
	if m[1] == "no run" {
		if why, ok := strings.CutPrefix(rest, ":"); !ok || strings.TrimSpace(why) == "" {
			return b, fmt.Errorf("line %d: <!-- no run: WHY -->", line-1)
		}
		b.Mode = NoRun
		return b, nil
	}
	b.Mode = Hermetic
	if r, ok := strings.CutPrefix(rest, "broker"); ok {
		b.Mode, rest = Broker, strings.TrimSpace(r)
	}
	for pair := range strings.SplitSeq(rest, ";") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		from, to, ok := strings.Cut(pair, "->")
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if !ok || from == "" {
			return b, fmt.Errorf("line %d: %q is no replacement FROM -> TO", line-1, pair)
		}
		if !strings.Contains(b.Script, from) {
			return b, fmt.Errorf("line %d: nothing to replace: %q is not in the block", line-1, from)
		}
		b.Script = strings.ReplaceAll(b.Script, from, to)
	}
	return b, nil
}

// Check returns an error for each block with a command of ours that has no comment.
func Check(blocks []Block) (faults []error) {
	for _, b := range blocks {
		if b.Ours && b.Mode == Unmarked {
			faults = append(faults, fmt.Errorf("line %d: no comment says whether this block is executed: <!-- run -->, <!-- run broker --> or <!-- no run: WHY -->", b.Line))
		}
	}
	return faults
}

// Marked reports whether a page has such comments.
func Marked(blocks []Block) bool {
	for _, b := range blocks {
		if b.Mode != Unmarked {
			return true
		}
	}
	return false
}
