package watch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"amqpperf/timestamp"
)

// Emit takes one row of sample/1: at in ns since the Unix epoch, what as in
// [Quantities], value in the unit that what ends with.
type Emit func(at int64, what string, value int64)

// Options says what to watch besides tool and host. The zero value, with a
// Clock, is a good one.
type Options struct {
	// PIDs are processes to watch (--watch-pid). They must exist at the start.
	PIDs []int
	// Names are names of processes to watch (--watch-name): the name that the
	// kernel has (`ps -o comm`; 15 bytes, longer ones may be given in full), or
	// the last element of the program's path on its command line.
	Names []string
	// Cgroups are paths of cgroups to watch (--watch-cgroup), as
	// /proc/PID/cgroup has them, or as they are below CgroupRoot.
	Cgroups []string

	Clock *timestamp.Clock // required
	// Every is the interval of samples; 0 is 1 s.
	Every time.Duration
	// HiccupEvery is how often the hiccup goroutine wakes; 0 is 10 ms, a
	// negative value means never. Each wake costs some 5–50 µs of CPU, by host:
	// nearly all that watching costs.
	HiccupEvery time.Duration

	ProcRoot   string // "" is /proc
	CgroupRoot string // "" is /sys/fs/cgroup
}

func (o *Options) setDefaults() {
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.HiccupEvery == 0 {
		o.HiccupEvery = 10 * time.Millisecond
	}
	if o.ProcRoot == "" {
		o.ProcRoot = "/proc"
	}
	if o.CgroupRoot == "" {
		o.CgroupRoot = "/sys/fs/cgroup"
	}
}

// Validate reports values that cannot be honoured, in the words of the flags.
func (o *Options) Validate() error {
	for _, pid := range o.PIDs {
		if pid <= 0 {
			return fmt.Errorf("--watch-pid %d: a process id is a positive number", pid)
		}
	}
	for _, name := range o.Names {
		if name == "" || strings.ContainsAny(name, "/\n\x00") {
			return fmt.Errorf("--watch-name %q: the name of a process, without its path", name)
		}
	}
	for _, path := range o.Cgroups {
		if path == "" || strings.ContainsAny(path, "\n\x00") || strings.Contains("/"+path+"/", "/../") {
			return fmt.Errorf("--watch-cgroup %q: a path like /system.slice/broker.service", path)
		}
	}
	if runtime.GOOS != "linux" && o.ProcRoot == "" && len(o.PIDs)+len(o.Names)+len(o.Cgroups) > 0 {
		return fmt.Errorf("--watch-pid, --watch-name and --watch-cgroup need Linux, this is %s", runtime.GOOS)
	}
	return nil
}

// source is one thing that is sampled. Its methods are called by one goroutine.
type source interface {
	sample(s *sampler)
	close()
}

// sampler is what a source gets: the instant of the sample and where to.
type sampler struct {
	at      int64 // ns since the Unix epoch
	elapsed int64 // ns since the last sample, 0 at the first
	emit    Emit
}

func (s *sampler) put(what string, value int64) { s.emit(s.at, what, value) }

// Watcher samples. Its Register methods may be called at any time by any
// goroutine; Run once.
type Watcher struct {
	opts    Options
	sources []source
	targets []target
	hiccups *hiccups // nil: switched off
	last    int64    // instant of the last sample, 0 before the first

	mu     sync.Mutex
	gauges gauges
	conns  conns
}

// New returns a Watcher. An error names the flag that is wrong.
func New(o Options) (*Watcher, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		return nil, errors.New("watch: no clock")
	}
	o.setDefaults()
	w := &Watcher{opts: o}
	w.sources = []source{newTool(o), newHost(o)}
	for _, pid := range o.PIDs {
		t := newPIDTarget(o.ProcRoot, pid)
		if t.missing() {
			return nil, fmt.Errorf("--watch-pid %d: no such process, or it may not be looked at", pid)
		}
		w.addTarget(t)
	}
	for _, name := range o.Names {
		w.addTarget(newNameTarget(o.ProcRoot, name))
	}
	for _, path := range o.Cgroups {
		w.addTarget(newCgroupTarget(o.CgroupRoot, path))
	}
	if o.HiccupEvery > 0 {
		w.hiccups = newHiccups(o.Clock, o.HiccupEvery)
	}
	return w, nil
}

func (w *Watcher) addTarget(t target) {
	w.targets = append(w.targets, t)
	w.sources = append(w.sources, t)
}

// Missing lists the targets that are not there now, as flags: they are waited
// for, but a name may also have been misspelt. Call it before Run.
func (w *Watcher) Missing() (flags []string) {
	for _, t := range w.targets {
		if t.missing() {
			flags = append(flags, t.flag())
		}
	}
	return flags
}

// Run samples at once, then every interval, and once more when ctx is done, and
// calls emit from its own goroutine. It returns when the last row is emitted;
// an error means that hiccups could not be measured, the rest was sampled.
func (w *Watcher) Run(ctx context.Context, emit Emit) error {
	defer w.close()
	var hiccups sync.WaitGroup
	var failed error
	if w.hiccups != nil {
		stop, err := w.hiccups.start(&hiccups)
		if err != nil {
			w.hiccups, failed = nil, fmt.Errorf("watch: hiccups: %w", err)
		} else {
			defer hiccups.Wait()
			defer stop()
		}
	}
	start := w.opts.Clock.Now()
	w.sample(start, emit)
	timer := time.NewTimer(w.opts.Every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			// A tenth of an interval is too short for shares in steps of 10 ms.
			if now := w.opts.Clock.Now(); now-w.last >= int64(w.opts.Every)/10 {
				w.sample(now, emit)
			}
			return failed
		}
		now := w.opts.Clock.Now()
		w.sample(now, emit)
		// On the grid of the start; a point that was slept through is left out.
		every := int64(w.opts.Every)
		now = w.opts.Clock.Now()
		timer.Reset(time.Duration(every - (now-start)%every))
	}
}

func (w *Watcher) sample(at int64, emit Emit) {
	s := &sampler{at: at, emit: emit}
	if w.last != 0 {
		s.elapsed = at - w.last
	}
	w.last = at
	for _, src := range w.sources {
		src.sample(s)
	}
	if w.hiccups != nil {
		w.hiccups.sample(s)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns.sample(s)
	w.gauges.sample(s)
}

func (w *Watcher) close() {
	for _, src := range w.sources {
		src.close()
	}
}
