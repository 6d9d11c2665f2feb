package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// bench is the configuration of one call and what its runs share. It is used by one goroutine.
type bench struct {
	root, bin, out string // the repository, the folder of our programs, the folder of the results
	tools          map[string]string
	stderr         io.Writer

	reps        int
	seconds     float64
	warmup      float64
	warmBroker  float64 // seconds of load by each tool before a broker is measured
	paceSeconds float64
	windows     []int
	pairs       []int
	rate        float64
	clients     []string // values of --client, "" for the default
	only        []string // tools, empty for all
	keep        bool     // keep the logs of our runs

	serial     int                // of folders and queues
	protonRate map[string]float64 // messages/s of the last run, by broker and kind of body
	results    set
}

// program is the path of one of our programs.
func (b *bench) program(name string) string { return filepath.Join(b.bin, name) }

// folder makes a new folder for what a process writes.
func (b *bench) folder(name string) (string, error) {
	b.serial++
	dir := filepath.Join(b.out, "runs", fmt.Sprintf("%03d-%s", b.serial, name))
	return dir, os.MkdirAll(dir, 0o777)
}

// queue is a name that no run has used, so that nobody receives what another left behind.
func (b *bench) queue() string {
	b.serial++
	return "bench-" + strconv.FormatInt(int64(os.Getpid()), 36) + "-" + strconv.Itoa(b.serial)
}

// discard removes the logs of a run that went well; they are large and their report is kept.
func (b *bench) discard(dir string, r *run) {
	if b.keep || r.Error != "" {
		return
	}
	for _, name := range []string{"send.parquet", "recv.parquet"} {
		_ = os.Remove(filepath.Join(dir, name)) // one that is not there need not be removed
	}
}

// typed is a command as one would type it: without the folders of this machine.
func (b *bench) typed(command []string, dir string) string {
	words := make([]string, len(command))
	for i, w := range command {
		for name, folder := range b.tools {
			w = strings.ReplaceAll(w, folder, name)
		}
		w = strings.ReplaceAll(w, dir+string(os.PathSeparator), "")
		w = strings.ReplaceAll(w, b.bin+string(os.PathSeparator), "")
		if strings.ContainsAny(w, "*?& ;") {
			w = "'" + w + "'"
		}
		words[i] = w
	}
	return strings.Join(words, " ")
}

// measure runs the cases on one broker: it starts it, warms it up, and interleaves the repetitions.
func (b *bench) measure(ctx context.Context, name string, cases []*benchCase) (err error) {
	k, err := b.startBroker(ctx, name)
	if err != nil {
		return err
	}
	defer func() {
		if e := k.end(); e != nil && err == nil {
			err = fmt.Errorf("stop %s: %w", name, e)
		}
	}()
	if err := b.warm(ctx, k, cases); err != nil {
		return err
	}
	for _, c := range cases {
		variants := b.wanted(c.variants(b, k))
		for rep := range b.reps {
			for i := range variants {
				v := variants[i]
				if rep%2 == 1 { // AB BA: a drift of the machine is not taken for a difference of the tools
					v = variants[len(variants)-1-i]
				}
				b.results.Runs = append(b.results.Runs, b.once(ctx, k, c.name, rep, v))
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
	}
	return nil
}

func (b *bench) wanted(variants []variant) []variant {
	if len(b.only) == 0 {
		return variants
	}
	var chosen []variant
	for _, v := range variants {
		for _, name := range b.only {
			if v.kind == name {
				chosen = append(chosen, v)
			}
		}
	}
	return chosen
}

// warm lets every tool that will be measured load the broker once, and forgets what it measured: a JVM compiles what
// runs often, and would otherwise favour whoever comes last.
func (b *bench) warm(ctx context.Context, k *broker, cases []*benchCase) error {
	if b.warmBroker <= 0 || k.name == perfBroker {
		return nil
	}
	b.results.Warm[k.name] = b.warmBroker
	seen := map[string]bool{}
	for _, c := range cases {
		for _, v := range b.wanted(c.variants(b, k)) {
			if seen[v.kind] {
				continue
			}
			seen[v.kind] = true
			v.load = load{seconds: b.warmBroker, window: 100, client: v.load.client}
			r := b.once(ctx, k, "warm-up", 0, v)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(b.stderr, "  (not counted)\n")
			if r.Error != "" {
				return fmt.Errorf("warm-up of %s by %s: %s", k.name, v.tool, r.Error)
			}
		}
	}
	return nil
}

// once is one run, with what the broker and everybody else used meanwhile.
func (b *bench) once(ctx context.Context, k *broker, name string, rep int, v variant) run {
	l := v.load
	limit := l.total() + 90*time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := run{Case: name, Broker: k.name, Param: v.param, Tool: v.tool, Rep: rep, At: time.Now().UTC(), Seconds: l.seconds, Warmup: l.warmup, Values: map[string]float64{}, Texts: map[string]string{}}
	fmt.Fprintf(b.stderr, "%s %-11s %-11s %-18s %-34s #%d ", r.At.Format(time.TimeOnly), name, k.name, v.param, v.tool, rep+1)
	busy, theirs := machineCPU(), groupCPU(k.group)
	err := v.run(ctx, l, &r)
	if err != nil {
		r.Error = err.Error()
		r.Values = map[string]float64{}
		fmt.Fprintf(b.stderr, "FAILED: %s\n", r.Error)
		return r
	}
	elapsed := time.Since(r.At)
	brokers := groupCPU(k.group) - theirs
	messages := r.Values["sent_total"]
	r.Values["broker_cpu_us"] = micros(brokers) / messages
	// What is neither the tool nor the broker: the kernel's own threads, and whoever else uses the machine.
	clients := time.Duration((r.Values["cpu_us"]*messages + r.Values["report_cpu_us"]) * float64(time.Microsecond))
	r.Values["other_cores"] = max(0, (machineCPU()-busy-brokers-clients).Seconds()/elapsed.Seconds())
	if l.rate > 0 {
		r.Values["share"] = 100 * r.Values["sent_per_s"] / l.rate
	}
	fmt.Fprintf(b.stderr, "%8.0f sent/s %8.0f received/s %7.1f us/msg\n", r.Values["sent_per_s"], r.Values["recv_per_s"], r.Values["cpu_us"])
	return r
}
