// Bench-peers compares perf-send and perf-recv with the tools that people use today, on the same broker and machine, in
// one go: every tool once to warm up, then interleaved repetitions; medians, ranges and ratios as Markdown. See
// ../README.md for what it needs and docs/performance.md for what it found.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-peers:", err)
		os.Exit(1)
	}
}

// options are the flags that are no fields of bench.
type options struct {
	cases, brokers, windows, pairs, clients, tools string
	update, from                                   string
}

func flags() (*bench, options) {
	b, o := &bench{stderr: os.Stderr, protonRate: map[string]float64{}}, options{}
	var names []string
	for _, c := range allCases() {
		names = append(names, c.name)
	}
	flag.StringVar(&o.cases, "cases", strings.Join(names, ","), "what to measure")
	flag.StringVar(&o.brokers, "brokers", "", "brokers to measure on (default: those of each case): perf-broker, or a script of scripts/brokers")
	flag.StringVar(&o.windows, "windows", "1,100,1000", "messages in flight, in the case max")
	flag.StringVar(&o.pairs, "pairs", "500,1000", "producers and consumers, in the case connections")
	flag.StringVar(&o.clients, "client", "", "values of perf-send's and perf-recv's --client to compare (default: do not set it)")
	flag.StringVar(&o.tools, "tools", "", "tools to measure: ours, artemis-amqp, artemis-core, perftest, proton, and quiver and omq if they are on the PATH (default all)")
	flag.IntVar(&b.reps, "reps", 5, "interleaved repetitions")
	flag.Float64Var(&b.seconds, "seconds", 10, "measured seconds of a run")
	flag.Float64Var(&b.warmup, "warmup", 5, "seconds before that, which are not measured")
	flag.Float64Var(&b.warmBroker, "warm-broker", 15, "seconds for which every tool loads a broker before it is measured")
	flag.Float64Var(&b.paceSeconds, "pace-seconds", 30, "seconds of the runs of the case pacing")
	flag.Float64Var(&b.rate, "rate", 30_000, "messages per second, in the case paced")
	flag.BoolVar(&b.keep, "keep", false, "keep the logs of perf-send and perf-recv")
	flag.StringVar(&b.root, "root", ".", "the repository")
	flag.StringVar(&b.bin, "bin", "bin", "folder with perf-send, perf-recv, perf-report and perf-broker")
	flag.StringVar(&b.out, "o", filepath.Join("bench-out", "peers-"+time.Now().Format("20060102T150405")), "new folder for everything the tools print, results.json and results.md")
	flag.StringVar(&o.update, "update", "", "Markdown files whose sections to replace, such as docs/performance.md,docs/peers.md")
	flag.StringVar(&o.from, "from", "", "measure nothing: render this results.json again")
	flag.Parse()
	return b, o
}

func command() error {
	b, o := flags()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if o.from != "" {
		text, err := os.ReadFile(o.from)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &b.results); err != nil {
			return fmt.Errorf("%s: %w", o.from, err)
		}
		return b.render(o.update)
	}
	cases, err := b.prepare(o)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = b.all(ctx, cases, list(o.brokers))
	return errors.Join(err, b.save(), b.render(o.update))
}

// prepare checks the flags and installs the tools.
func (b *bench) prepare(o options) ([]*benchCase, error) {
	cases, err := choose(list(o.cases))
	if err != nil {
		return nil, err
	}
	var err1, err2 error
	b.windows, err1 = numbers(o.windows)
	b.pairs, err2 = numbers(o.pairs)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	b.only, b.clients = list(o.tools), list(o.clients)
	if len(b.clients) == 0 {
		b.clients = []string{""}
	}
	if b.reps < 1 || b.seconds < 1 || b.warmup < 0 || b.paceSeconds < 1 {
		return nil, errors.New("-reps, -seconds and -pace-seconds are at least 1, and -warmup is not negative")
	}
	for _, path := range []*string{&b.root, &b.bin, &b.out} {
		if *path, err = filepath.Abs(*path); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(b.out), 0o777); err != nil {
		return nil, err
	}
	if err := os.Mkdir(b.out, 0o777); err != nil {
		return nil, err
	}
	if err := b.install(); err != nil {
		return nil, err
	}
	b.results.Machine, b.results.Versions = machine(), b.versions()
	b.results.Warm = map[string]float64{}
	return cases, nil
}

// install finds the tools that -tools wants, and installs those that can be.
func (b *bench) install() error {
	b.tools = map[string]string{}
	for _, tool := range []string{"artemis", "perftest", "proton"} {
		if len(b.only) > 0 && !slices.ContainsFunc(b.only, func(kind string) bool { return strings.HasPrefix(kind, tool) }) {
			continue
		}
		c := exec.Command(filepath.Join(b.root, "bench", "tools.sh"), tool)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("bench/tools.sh %s: %w", tool, err)
		}
		b.tools[tool] = strings.TrimSpace(string(out))
	}
	for _, tool := range []string{"quiver", "omq"} { // no package has them: who has built them can compare
		path, err := exec.LookPath(tool)
		if err != nil {
			fmt.Fprintf(b.stderr, "%s is not on the PATH: without it\n", tool)
			continue
		}
		b.tools[tool] = path
	}
	return nil
}

// all goes from broker to broker; one that cannot be started does not end the rest.
func (b *bench) all(ctx context.Context, cases []*benchCase, brokers []string) error {
	var order []string
	of := map[string][]*benchCase{}
	for _, c := range cases {
		names := brokers
		if len(names) == 0 {
			names = c.brokers
		}
		for _, name := range names {
			if !slices.Contains(order, name) {
				order = append(order, name)
			}
			of[name] = append(of[name], c)
		}
	}
	var errs []error
	for _, name := range order {
		if err := b.measure(ctx, name, of[name]); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return errors.Join(errs...)
}

// save keeps what was measured, also what an interruption left.
func (b *bench) save() error {
	text, err := json.MarshalIndent(b.results, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.out, "results.json"), append(text, '\n'), 0o666)
}

// render prints all sections, and writes those of a page.
func (b *bench) render(page string) error {
	var text strings.Builder
	for _, c := range allCases() {
		for _, broker := range b.results.brokers() {
			if s := b.results.section(c, broker); s != "" {
				fmt.Fprintf(&text, "## %s: %s\n\n%s\n", c.title, broker, s)
			}
		}
	}
	if _, err := os.Stdout.WriteString(text.String()); err != nil {
		return err
	}
	if page == "" || len(b.results.Runs) == 0 {
		return nil
	}
	return b.results.update(list(page)...)
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func numbers(text string) ([]int, error) {
	var all []int
	for _, word := range list(text) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of at least 1", word)
		}
		all = append(all, n)
	}
	if len(all) == 0 {
		return nil, errors.New("an empty list of numbers")
	}
	return all, nil
}
