package perfrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"amqpperf/internal/cli"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/rundir"
)

// display says what happens: on a terminal a line that changes, else a line for
// each run; and all of it in perf-run.log.
type display struct {
	env      *cli.Env
	quiet    bool
	terminal bool
	plan     *plan.Plan

	mu      sync.Mutex
	log     *os.File
	trouble error
	title   string
	stage   string
	since   time.Time
	stop    chan struct{}
	stopped chan struct{}
}

func newDisplay(env *cli.Env, quiet bool) *display {
	return &display{env: env, quiet: quiet, terminal: !quiet && cli.IsTerminal(env.Stderr)}
}

// open begins the log, and the line that changes.
func (d *display) open(dir string) (err error) {
	d.log, err = os.OpenFile(filepath.Join(dir, "perf-run.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil || !d.terminal {
		return err
	}
	d.stop, d.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(d.stopped)
		t := time.NewTicker(time.Second)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				d.mu.Lock()
				d.draw()
				d.mu.Unlock()
			case <-d.stop:
				return
			}
		}
	}()
	return nil
}

func (d *display) close() error {
	if d.stop != nil {
		close(d.stop)
		<-d.stopped
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
	if d.log == nil {
		return nil
	}
	return errors.Join(d.trouble, d.log.Close())
}

// note writes into the log; what goes wrong with it is told at the end.
func (d *display) note(text string) {
	_, err := fmt.Fprintf(d.log, "%s %s\n", time.Now().UTC().Format("15:04:05.000"), text)
	d.trouble = errors.Join(d.trouble, err)
}

// clear empties the line that changes; draw writes it.
func (d *display) clear() {
	if d.terminal {
		fmt.Fprint(d.env.Stderr, "\r\x1b[K")
	}
}

func (d *display) draw() {
	if d.terminal && d.title != "" {
		fmt.Fprintf(d.env.Stderr, "\r\x1b[K%s: %s, %d s", d.title, d.stage, int(time.Since(d.since).Seconds()))
	}
}

// line writes a line that stays.
func (d *display) line(always bool, format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if d.log != nil {
		d.note(text)
	}
	if d.quiet && !always {
		return
	}
	d.clear()
	fmt.Fprintln(d.env.Stderr, text)
	d.draw()
}

func (d *display) name(r plan.Run, total int) string {
	text := fmt.Sprintf("run %d", r.N)
	if total > 0 {
		text += fmt.Sprintf(" of %d", total)
	}
	if title := d.plan.Title(r); title != "" {
		text += ", " + title
	}
	return text + ", " + r.Turn()
}

func (d *display) begin(r plan.Run, total int) {
	d.mu.Lock()
	d.title, d.stage, d.since = d.name(r, total), "begin", time.Now()
	d.draw()
	d.mu.Unlock()
	if d.log != nil {
		d.note(d.title + ": begins")
	}
}

// step says what a run is busy with.
func (d *display) step(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stage = what
	d.draw()
}

func (d *display) end(r plan.Run, total int, o rundir.Outcome) {
	d.mu.Lock()
	d.title = ""
	took := time.Since(d.since).Round(100 * time.Millisecond)
	d.mu.Unlock()
	why := ""
	if o.Why != "" && o.Why != string(o.Status) {
		why = ": " + o.Why
	}
	d.line(false, "%s: %s after %v%s", d.name(r, total), o.Status, took, why)
}

// result is printed also with --quiet.
func (d *display) result(format string, args ...any) { d.line(true, format, args...) }
