package watch

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// target is a source that may be missing.
type target interface {
	source
	missing() bool
	flag() string
}

// pidTarget is one process; one that gets its id later is another, and is not taken for it.
type pidTarget struct {
	pid   int
	scope string
	p     process
	base  int64 // CPU at the first sample
	ended bool
	known bool
}

func newPIDTarget(proc string, pid int) *pidTarget {
	t := &pidTarget{pid: pid, scope: fmt.Sprintf("pid:%d.", pid), p: process{stat: file{path: statPath(proc, pid)}}}
	st, ok := t.p.read()
	t.p.start, t.ended = st.start, !ok
	return t
}

func (t *pidTarget) flag() string  { return fmt.Sprintf("--watch-pid %d", t.pid) }
func (t *pidTarget) missing() bool { return t.ended }
func (t *pidTarget) close()        { t.p.stat.close() }

func (t *pidTarget) sample(s *sampler) {
	var st procStat
	if !t.ended {
		var ok bool
		if st, ok = t.p.read(); !ok || st.start != t.p.start {
			t.ended = true
			t.close()
		}
	}
	if t.ended {
		s.put(t.scope+"processes_count", 0)
		s.put(t.scope+"cpu_ns", t.p.cpu-t.base) // all that is known
		return
	}
	if !t.known {
		t.base, t.known = st.cpu, true
	}
	t.p.cpu = st.cpu
	s.put(t.scope+"processes_count", 1)
	s.put(t.scope+"cpu_ns", t.p.cpu-t.base)
	s.put(t.scope+"rss_bytes", st.rss)
}

// rounds is in how many samples each process that does not have the name is
// looked at again: start scripts become the program they start.
const rounds = 8

// other is a process that did not have the name when it was looked at.
type other struct {
	start, cpu int64
	round      int // in which it was last there
}

// nameTarget is all processes of a name, now and later.
type nameTarget struct {
	proc, name, scope string
	round             int
	sampled           bool
	have              map[int]*process
	others            map[int]*other
	cpu, started      int64
}

func newNameTarget(proc, name string) *nameTarget {
	t := &nameTarget{proc: proc, name: name, scope: "name:" + name + ".", have: make(map[int]*process), others: make(map[int]*other)}
	t.scan()
	return t
}

func (t *nameTarget) flag() string  { return "--watch-name " + t.name }
func (t *nameTarget) missing() bool { return len(t.have) == 0 }

func (t *nameTarget) close() {
	for _, p := range t.have {
		p.stat.close()
	}
}

func (t *nameTarget) sample(s *sampler) {
	t.scan()
	var rss int64
	for pid, p := range t.have {
		st, ok := p.read()
		if !ok || st.start != p.start {
			p.stat.close()
			delete(t.have, pid)
			continue
		}
		t.cpu += st.cpu - p.cpu
		p.cpu = st.cpu
		rss += st.rss
	}
	t.sampled = true
	s.put(t.scope+"processes_count", int64(len(t.have)))
	s.put(t.scope+"started_count", t.started)
	s.put(t.scope+"cpu_ns", t.cpu)
	if len(t.have) > 0 {
		s.put(t.scope+"rss_bytes", rss)
	}
}

// scan looks for processes that have the name: at those that are new, and at a
// share of the others.
func (t *nameTarget) scan() {
	t.round++
	dir, err := os.Open(t.proc)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1) // what was read until an error is looked at
	_ = dir.Close()                  // only read
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || t.have[pid] != nil {
			continue
		}
		if o := t.others[pid]; o != nil && (pid+t.round)%rounds != 0 {
			o.round = t.round
			continue
		}
		t.look(pid)
	}
	for pid, o := range t.others {
		if o.round != t.round {
			delete(t.others, pid)
		}
	}
}

// look takes a process if it has the name.
func (t *nameTarget) look(pid int) {
	st, ok := parsePIDStat(readOnce(statPath(t.proc, pid)))
	if !ok || st.state == 'Z' || st.state == 'X' {
		return
	}
	cmdline := func() []byte { return readOnce(filepath.Join(t.proc, strconv.Itoa(pid), "cmdline")) }
	if !isNamed(st.comm, t.name, cmdline) {
		t.others[pid] = &other{start: st.start, cpu: st.cpu, round: t.round}
		return
	}
	p := &process{stat: file{path: statPath(t.proc, pid)}, start: st.start}
	switch before := t.others[pid]; {
	case before != nil && before.start == st.start:
		p.cpu = before.cpu // what it used before it became the program is not counted
		t.started++
	case t.sampled:
		t.started++ // all its CPU was used since the watch began
	default:
		p.cpu = st.cpu
	}
	delete(t.others, pid)
	t.have[pid] = p
}
