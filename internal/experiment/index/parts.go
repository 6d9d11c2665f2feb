package index

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"amqpperf/internal/experiment/rundir"
)

// pictures shows those of the comparisons, or else of the first run that has some.
func (p Page) pictures(b *strings.Builder, lines []line) {
	var all []string
	for _, name := range p.Drawn {
		all = append(all, p.find(filepath.Join("compared", name))...)
	}
	if len(all) > 0 {
		fmt.Fprint(b, "A picture shows the first run of a side, and dashed the first of the baseline.\n\n")
	}
	if len(all) == 0 {
		for _, l := range lines {
			if !l.outcome.Run.Counts() {
				continue
			}
			if all = p.find(filepath.Join(l.outcome.Folder, "png")); len(all) > 0 {
				fmt.Fprintf(b, "Pictures of run %d; each run has its own in its folder.\n\n", l.outcome.Run.N)
				break
			}
		}
	}
	for _, file := range all {
		fmt.Fprintf(b, "![%s](%s)\n\n", strings.TrimSuffix(filepath.Base(file), ".png"), link(file))
	}
}

// find lists the pictures in a folder of the run directory.
func (p Page) find(folder string) []string {
	entries, err := os.ReadDir(filepath.Join(p.Dir.Path, folder))
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".png") {
			all = append(all, filepath.Join(folder, e.Name()))
		}
	}
	return all
}

// link is a path that a Markdown reader takes as one.
func link(path string) string {
	return strings.NewReplacer(" ", "%20", "(", "%28", ")", "%29").Replace(filepath.ToSlash(path))
}

// runs lists every run, best first as in a table of benchmark runs of old, with each client's rate.
func (p Page) runs(b *strings.Builder, lines []line) {
	fmt.Fprint(b, "## Runs\n\nIn the order in which they were made. S1, S2 … are producers, R1, R2 … consumers; their rates are over their own acknowledged or received messages after the warm-up.\n\n")
	fmt.Fprint(b, "| run | | repetition | messages/s of each client | lost | status |\n|--:|---|--:|---|--:|---|\n")
	for _, l := range lines {
		o := l.outcome
		lost, clients := "", ""
		if l.report != nil {
			lost = fmt.Sprint(l.report.Counts.Lost)
			clients = l.report.clients()
		}
		turn := "warm-up"
		if o.Run.Counts() {
			turn = fmt.Sprint(o.Run.Repetition)
		}
		status := string(o.Status)
		if o.Why != "" && o.Why != status {
			status += ": " + o.Why
		}
		fmt.Fprintf(b, "| [%d](%s) | %s | %s | %s | %s | %s |\n", o.Run.N, link(o.Folder), escape(p.Plan.Title(o.Run)), turn, escape(clients), lost, escape(status))
	}
	fmt.Fprintln(b)
}

// manyClients is above how many their rates are summed up.
const manyClients = 8

// clients is S1 :: S2 :: R1; of many, how many there are, and the slowest and fastest of each kind.
func (r *report) clients() string {
	if len(r.Rates.Clients) <= manyClients {
		var parts []string
		for _, c := range r.Rates.Clients {
			parts = append(parts, c.Name+" "+rate(c.PerS))
		}
		return strings.Join(parts, " :: ")
	}
	var parts []string
	for _, kind := range []string{"S", "R"} {
		var all []float64
		for _, c := range r.Rates.Clients {
			if strings.HasPrefix(c.Name, kind) && c.PerS != nil {
				all = append(all, *c.PerS)
			}
		}
		if len(all) > 0 {
			low, high := slices.Min(all), slices.Max(all)
			parts = append(parts, fmt.Sprintf("%d %s %s–%s", len(all), kind, rate(&low), rate(&high)))
		}
	}
	return strings.Join(parts, " :: ")
}

// commands are those of the first run, as typed, and what broker answered.
func (p Page) commands(b *strings.Builder, lines []line) {
	var brokers []string
	for _, l := range lines {
		if l.report == nil || l.report.Config.Product == "" {
			continue
		}
		if t := l.report.Config.Product + " " + l.report.Config.Version; !slices.Contains(brokers, t) {
			brokers = append(brokers, t)
		}
	}
	if len(brokers) > 0 {
		fmt.Fprintf(b, "Broker, by its open frame: %s.\n\n", escape(strings.Join(brokers, "; ")))
	}
	for _, l := range lines {
		text, err := os.ReadFile(filepath.Join(p.Dir.Path, l.outcome.Folder, "commands.txt"))
		if err != nil || l.outcome.Status == rundir.Interrupted {
			continue
		}
		fmt.Fprintf(b, "<details><summary>Commands of run %d</summary>\n\n```\n%s```\n\n</details>\n", l.outcome.Run.N, text)
		return
	}
}
