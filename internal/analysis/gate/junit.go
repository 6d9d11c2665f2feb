package gate

import (
	"encoding/xml"
	"io"
	"strings"
	"unicode"
)

// Suite is the gates and checks of one run or comparison.
type Suite struct {
	Name   string
	Gates  []Result
	Checks []Result
}

type xmlSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Suites   []xmlSuite `xml:"testsuite"`
}

type xmlSuite struct {
	Name     string    `xml:"name,attr"`
	Tests    int       `xml:"tests,attr"`
	Failures int       `xml:"failures,attr"`
	Errors   int       `xml:"errors,attr"`
	Skipped  int       `xml:"skipped,attr"`
	Cases    []xmlCase `xml:"testcase"`
}

type xmlCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Failure *xmlMessage `xml:"failure"`
	Skipped *xmlMessage `xml:"skipped"`
	Out     string      `xml:"system-out,omitempty"`
}

type xmlMessage struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes suites in the JUnit XML that CI systems read.
func JUnit(w io.Writer, suites []Suite) error {
	all := xmlSuites{Name: "perf-report"}
	for _, s := range suites {
		out := xmlSuite{Name: text(s.Name)}
		for _, part := range []struct {
			class   string
			results []Result
		}{{"gates", s.Gates}, {"checks", s.Checks}} {
			for _, r := range part.results {
				c := xmlCase{Class: text(s.Name) + "." + part.class, Name: text(r.Name), Out: text(r.Text)}
				switch {
				case r.Crossed:
					c.Failure = &xmlMessage{text(r.Text), text(r.Name + ": " + r.Text)}
					out.Failures++
				case r.Skipped:
					c.Skipped = &xmlMessage{Message: text(r.Text)}
					out.Skipped++
				}
				out.Cases = append(out.Cases, c)
			}
		}
		out.Tests = len(out.Cases)
		all.Suites = append(all.Suites, out)
		all.Tests, all.Failures, all.Skipped = all.Tests+out.Tests, all.Failures+out.Failures, all.Skipped+out.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// text takes out what cannot be seen: XML escapes the rest, but has no place at
// all for most control characters.
func text(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == ' ' {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
