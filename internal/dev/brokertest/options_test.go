package brokertest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrecv"
	"amqpperf/internal/command/perfsend"
	"amqpperf/internal/dev/golden"
)

// ran is which tests have used the broker, and whether they passed.
type ran struct {
	mu     sync.Mutex
	passed map[string]bool
}

// outcome notes how a test ends, by the name of its function.
func (r *ran) outcome(t *testing.T) {
	name, _, _ := strings.Cut(t.Name(), "/")
	t.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		before, known := r.passed[name]
		r.passed[name] = !t.Failed() && (before || !known)
	})
}

// provenFile is where the tests that passed on a broker stand.
func provenFile(broker string) string { return filepath.Join("testdata", "proven", broker+".json") }

// proven returns the tests that passed on a broker.
func proven(broker string) (names []string, err error) {
	text, err := os.ReadFile(provenFile(broker))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &names)
	}
	return names, err
}

// keep adds the tests that have passed to those of the broker, and removes those that have not.
func (r *ran) keep(broker string) error {
	names, err := proven(broker)
	if err != nil {
		return err
	}
	all := map[string]bool{}
	for _, n := range names {
		all[n] = true
	}
	maps.Copy(all, r.passed)
	maps.DeleteFunc(all, func(_ string, ok bool) bool { return !ok })
	text, err := json.MarshalIndent(slices.Sorted(maps.Keys(all)), "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(provenFile(broker)), 0o777)
	}
	if err == nil {
		err = os.WriteFile(provenFile(broker), append(text, '\n'), 0o666)
	}
	return err
}

// flagsOf are the names of the programs' flags, from the text that --help prints.
func flagsOf(t *testing.T) map[string][]string {
	t.Helper()
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )? *--([a-z0-9-]+)`)
	all := map[string][]string{}
	for program, code := range map[string]func(*cli.Env) int{
		"perf-send": func(env *cli.Env) int { return cli.Run(env, perfsend.New, []string{"--help"}) },
		"perf-recv": func(env *cli.Env) int { return cli.Run(env, perfrecv.New, []string{"--help"}) },
	} {
		var out bytes.Buffer
		if c := code(&cli.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}); c != 0 {
			t.Fatalf("%s --help: exit status %d: %s", program, c, &out)
		}
		for _, m := range flag.FindAllStringSubmatch(out.String(), -1) {
			all[program] = append(all[program], m[1])
		}
	}
	return all
}

// TestOptions: every option of perf-send and perf-recv is proved on a real broker, or there is a reason why not.
func TestOptions(t *testing.T) {
	t.Parallel()
	flags := flagsOf(t)
	used := map[string]int{}
	for _, p := range proofs() {
		for _, o := range p.options {
			used[o]++
		}
		if len(p.tests)+len(p.probes) == 0 {
			t.Errorf("%v: nothing proves them", p.options)
		}
		if p.alone == "" {
			checkProof(t, p)
		} else {
			checkAlone(t, p)
		}
	}
	known := map[string]bool{}
	for program, names := range flags {
		if len(names) < 50 {
			t.Errorf("%s has %d flags only", program, len(names))
		}
		for _, name := range names {
			own := program + " " + name
			known[name], known[own] = true, true
			if n := used[name] + used[own]; n != 1 {
				t.Errorf("%s --%s stands %d times in the table of proofs: name the test that proves it on a real broker, or why there is none", program, name, n)
			}
		}
	}
	for o := range used {
		if !known[o] {
			t.Errorf("there is no option %q", o)
		}
	}
}

// checkProof wants tests and probes that there are, that use the options, and that have passed on RabbitMQ or Artemis.
func checkProof(t *testing.T, p proof) {
	t.Helper()
	code := source(t, ".", func(string) bool { return true })
	for _, name := range p.tests {
		file := source(t, ".", func(text string) bool { return strings.Contains(text, "func "+name+"(t *testing.T)") })
		if file == "" {
			t.Errorf("%v: there is no test %s", p.options, name)
		}
	}
	for _, name := range p.probes {
		if !slices.ContainsFunc(probes(), func(x probe) bool { return x.name == name }) {
			t.Errorf("%v: there is no probe %q", p.options, name)
		}
	}
	for _, o := range p.options {
		_, name, ok := strings.Cut(o, " ")
		if !ok {
			name = o
		}
		short := map[string]string{"rate": "-r", "duration": "-d", "count": "-n", "size": "-s", "output": "-o", "quiet": "-q"}[name]
		if !strings.Contains(code, `"--`+name+`"`) && (short == "" || !strings.Contains(code, `"`+short+`"`)) && name != "url" {
			t.Errorf("--%s: no test uses it", name)
		}
	}
	for _, broker := range []string{"rabbitmq", "artemis"} {
		if verdictOf(t, broker, p) == "yes" {
			return
		}
	}
	if golden.Update() {
		return // it may be about to be shown
	}
	t.Errorf("%v: neither RabbitMQ nor Artemis has shown it: run make broker-test with -update", p.options)
}

// checkAlone wants tests elsewhere that there are.
func checkAlone(t *testing.T, p proof) {
	t.Helper()
	root := filepath.Join("..", "..", "..")
	for _, ref := range p.tests {
		folder, name, ok := strings.Cut(ref, " ")
		if !ok {
			if _, err := os.Stat(filepath.Join(root, "internal", "dev", "e2e", "testdata", "script", ref)); err != nil {
				t.Errorf("%v: %v", p.options, err)
			}
			continue
		}
		if source(t, filepath.Join(root, filepath.FromSlash(folder)), func(text string) bool { return strings.Contains(text, "func "+name+"(t *testing.T)") }) == "" {
			t.Errorf("%v: %s has no test %s", p.options, folder, name)
		}
	}
}

// source returns the text of a folder's tests that have something, without the table of proofs.
func source(t *testing.T, folder string, has func(string) bool) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		if filepath.Base(f) == "proofs_test.go" {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if has(string(text)) {
			all.Write(text)
		}
	}
	return all.String()
}

// verdictOf is what a broker has shown of a proof: yes, what a probe says else, or "" if nothing was tried there.
func verdictOf(t *testing.T, broker string, p proof) string {
	t.Helper()
	names, err := proven(broker)
	if err != nil {
		t.Fatal(err)
	}
	verdict := ""
	for _, test := range p.tests {
		if slices.Contains(names, test) {
			verdict = "yes"
		}
	}
	features, err := readFeatures(broker)
	if err != nil {
		t.Fatal(err)
	}
	for _, probe := range p.probes {
		i := slices.IndexFunc(features.Features, func(f feature) bool { return f.Name == probe })
		if i >= 0 && (verdict == "" || features.Features[i].Verdict != "yes") && features.Features[i].Verdict != untried {
			verdict = features.Features[i].Verdict
		}
	}
	return verdict
}

// readFeatures reads what was found on a broker; nothing if it was never tried.
func readFeatures(broker string) (b brokerFeatures, err error) {
	text, err := os.ReadFile(filepath.Join("testdata", "features", broker+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	return b, err
}

// TestOptionTable: docs/brokers.md has the table of what proves each option on which broker.
func TestOptionTable(t *testing.T) {
	brokers := []string{"activemq", "artemis", "brokerj", "proton", "rabbitmq"}
	var b strings.Builder
	b.WriteString("\n| option | proved by | ActiveMQ | Artemis | Broker-J | Proton | RabbitMQ |\n|---|---|---|---|---|---|---|\n")
	reasons := map[string][]string{}
	for _, p := range proofs() {
		var names []string
		for _, o := range p.options {
			program, name, ok := strings.Cut(o, " ")
			if !ok {
				program, name = "", o
			}
			names = append(names, strings.TrimSpace(program+" `--"+name+"`"))
		}
		if p.alone != "" {
			where := strings.NewReplacer("internal/", "").Replace(strings.Join(p.tests, ", "))
			reasons[p.alone] = append(reasons[p.alone], fmt.Sprintf("%s (%s)", strings.Join(names, ", "), where))
			continue
		}
		by := slices.Concat(p.tests, p.probes)
		row := fmt.Sprintf("| %s | %s |", strings.Join(names, ", "), strings.Join(by, ", "))
		for _, broker := range brokers {
			row += " " + verdictOf(t, broker, p) + " |"
		}
		fmt.Fprintln(&b, row)
	}
	b.WriteString("\nWithout a broker, since:\n\n")
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		fmt.Fprintf(&b, "- %s: %s\n", why, strings.Join(reasons[why], "; "))
	}
	b.WriteString("\n")
	section(t, "options", b.String())
}
