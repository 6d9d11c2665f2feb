package plan

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func variable() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) }

// Expand replaces ${NAME} by the environment's values; a variable that is not
// there, or empty, is an error.
func Expand(text string, lookup func(string) string) (string, error) {
	var missing string
	out := variable().ReplaceAllStringFunc(text, func(word string) string {
		name := word[2 : len(word)-1]
		value := lookup(name)
		if value == "" {
			missing = name
		}
		return value
	})
	if missing != "" {
		return "", fmt.Errorf("%s: the environment has no %s", text, missing)
	}
	return out, nil
}

// Quote is a word as a shell wants it; ${NAME} stays a variable.
func Quote(word string) string {
	if variable().MatchString(word) {
		var b strings.Builder
		b.WriteByte('"')
		at := 0
		escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`)
		for _, m := range variable().FindAllStringIndex(word, -1) {
			b.WriteString(escape.Replace(word[at:m[0]]) + word[m[0]:m[1]])
			at = m[1]
		}
		return b.String() + escape.Replace(word[at:]) + `"`
	}
	plain := word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,+@%", r))
	})
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Typed is the command as one would type it.
func (c Command) Typed() string {
	var words []string
	if c.URL != "" {
		words = append(words, "AMQP_URL="+Quote(c.URL))
	}
	words = append(words, c.Program)
	for _, a := range c.Args {
		words = append(words, Quote(a))
	}
	return strings.Join(words, " ")
}

// Print writes the commands of runs as a script for bash, which does the same as
// perf-run except for its care: no limit of time, no drain, no resumption. Where
// groups have hosts, it says what to type on which. It needs no environment: what
// is not known is a variable.
func (p *Plan) Print(w io.Writer, runs []Run) error {
	b := &strings.Builder{}
	s := p.Scenario
	fmt.Fprintf(b, "# %s: %s\n", first(s.Title, s.Name), count(len(runs), "run"))
	p.printHook(b, "before all runs", s.Hooks.BeforeAll, nil)
	for i, r := range runs {
		fmt.Fprintf(b, "\n# run %d of %d: %s\n", i+1, len(runs), strings.Join(nonEmpty(p.Title(r), r.Turn()), ", "))
		p.printHook(b, "before the run", s.Hooks.BeforeRun, &r)
		commands, err := p.Commands(r)
		if err != nil {
			return err
		}
		if p.onHosts() {
			printHosts(b, p.folder(r), commands)
		} else {
			fmt.Fprintf(b, "mkdir -p %s\n", Quote(p.folder(r)))
			printHere(b, commands)
		}
		p.printHook(b, "after the run", s.Hooks.AfterRun, &r)
		if s.CoolDown > 0 && i+1 < len(runs) {
			fmt.Fprintf(b, "sleep %g\n", s.CoolDown.Seconds())
		}
	}
	p.printHook(b, "after all runs", s.Hooks.AfterAll, nil)
	runs = slices.DeleteFunc(slices.Clone(runs), func(r Run) bool { return !r.Counts() })
	if all := slices.Concat(p.Comparisons(runs), p.Pictures(runs), p.Together(runs)); len(all) > 0 {
		fmt.Fprintf(b, "\n# runs compared\nmkdir -p %s\n", Quote(p.Dir+"/compared"))
		for _, c := range all {
			fmt.Fprintln(b, c.Typed())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(t string) bool { return t == "" })
}

// printHook writes a hook with what it finds in its environment.
func (p *Plan) printHook(b *strings.Builder, when, hook string, r *Run) {
	if hook == "" {
		return
	}
	fmt.Fprintf(b, "# %s; what the hook writes into $PERF_ENV is set for all that follows\n", when)
	fmt.Fprintf(b, "PERF_ENV=$(mktemp) && export PERF_ENV PERF_DIR=%s\n", here(p.Dir))
	if r != nil {
		for _, x := range p.HookEnv(*r) {
			value := Quote(x.Value)
			if x.Name == "PERF_RUN_DIR" {
				value = here(x.Value)
			}
			fmt.Fprintf(b, "export %s=%s\n", x.Name, value)
		}
	}
	hook = strings.TrimRight(hook, "\n")
	if dir := filepath.Dir(p.Scenario.File); p.Scenario.File != "" && dir != "." {
		hook = fmt.Sprintf("( cd %s\n%s )", Quote(dir), hook)
	}
	fmt.Fprintf(b, "%s\nset -a; . \"$PERF_ENV\"; set +a\n", hook)
}

// here makes a path absolute when it is typed.
func here(path string) string {
	if filepath.IsAbs(path) {
		return Quote(path)
	}
	return `"$PWD"/` + Quote(path)
}

// HookEnv are the variables in which hooks find what is special about a run.
func (p *Plan) HookEnv(r Run) []Setting {
	all := []Setting{{"PERF_RUN", p.RunID(r)}, {"PERF_RUN_DIR", p.folder(r)}, {"PERF_VARIANT", r.Variant}, {"PERF_REPETITION", fmt.Sprint(r.Repetition)}}
	for _, x := range r.Params {
		all = append(all, Setting{EnvName(x.Name), x.Value})
	}
	for _, v := range p.Scenario.Variants {
		if v.Label == r.Variant {
			for _, e := range v.Env {
				all = append(all, Setting{e.Name, e.Value})
			}
		}
	}
	return all
}

func printHere(b *strings.Builder, commands []Command) {
	for _, c := range commands {
		if c.Role == "recv" && c.Late == 0 {
			fmt.Fprintf(b, "%s &\n", c.Typed())
		}
	}
	for _, c := range commands {
		if c.Ready != "" && c.Late == 0 {
			fmt.Fprintf(b, "until [ -e %s ]; do sleep 0.1; done\n", Quote(c.Ready))
		}
	}
	for _, c := range commands {
		switch {
		case c.Role == "report":
			fmt.Fprintf(b, "wait\n%s\n", c.Typed())
		case c.Late > 0:
			fmt.Fprintf(b, "{ sleep %g; %s; } &\n", c.Late.Seconds(), c.Typed())
		case c.Role == "send":
			fmt.Fprintf(b, "%s &\n", c.Typed())
		}
	}
}

// printHosts says what to type where. The programs of several hosts agree on the
// run by --run and on the start by --start-at.
func printHosts(b *strings.Builder, folder string, commands []Command) {
	b.WriteString("START=$(date -u -d '+30 seconds' +%Y-%m-%dT%H:%M:%SZ) # the same on all hosts, once the receivers are attached\n")
	var hosts []string
	for _, c := range commands {
		if c.Role != "report" && !slices.Contains(hosts, c.Host) {
			hosts = append(hosts, c.Host)
		}
	}
	for _, h := range hosts {
		fmt.Fprintf(b, "# on %s\nmkdir -p %s\n", first(h, "this host"), Quote(folder))
		for _, c := range commands {
			if c.Host == h && c.Role != "report" {
				fmt.Fprintf(b, "%s &\n", c.Typed())
			}
		}
		fmt.Fprintln(b, "wait")
	}
	if len(hosts) > 1 && !slices.ContainsFunc(commands, func(c Command) bool { return slices.Contains(c.Args, "--clock-listen") }) {
		b.WriteString("# one-way times need clocks that were compared: --clock-listen HOST:PORT for perf-recv, --clock-peer and --clock-token for perf-send\n")
	}
	fmt.Fprintf(b, "# on this host, when the logs of all hosts are here\nmkdir -p %s\n", Quote(folder))
	fmt.Fprintln(b, commands[len(commands)-1].Typed())
}
