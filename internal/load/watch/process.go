package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// userHZ is how many ticks of /proc/PID/stat make a second: a constant of the
// kernel's interface on all systems that Go runs on, whatever the kernel's own.
const userHZ = 100

const nsPerTick = 1_000_000_000 / userHZ

// maxComm is the length of a process's name in the kernel, without the 0.
const maxComm = 15

// procStat is what is wanted of /proc/PID/stat.
type procStat struct {
	comm  string
	state byte
	cpu   int64 // ns
	start int64 // ticks since boot: with the id it identifies a process
	rss   int64 // bytes
}

// parsePIDStat parses /proc/PID/stat (proc_pid_stat(5)). The name, in
// parentheses, can contain anything, so the last parenthesis ends it.
func parsePIDStat(b []byte) (p procStat, ok bool) {
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open || len(b) < end+3 {
		return p, false
	}
	p.comm = string(b[open+1 : end])
	rest := b[end+2:] // begins with field 3
	p.state = rest[0]
	const first = 3
	var utime, stime, pages int64
	n := 0
	for f := range bytes.FieldsSeq(rest) {
		ok := true
		switch n + first {
		case 14:
			utime, ok = number(f)
		case 15:
			stime, ok = number(f)
		case 22:
			p.start, ok = number(f)
		case 24:
			pages, ok = number(f)
		}
		if !ok {
			return p, false
		}
		n++
	}
	p.cpu = (utime + stime) * nsPerTick
	p.rss = pages * int64(os.Getpagesize())
	return p, n+first > 24
}

// process is one that is watched.
type process struct {
	stat  file
	start int64
	cpu   int64 // the last reading
}

// read returns its present state, false if it has ended. A zombie has.
func (p *process) read() (procStat, bool) {
	st, ok := parsePIDStat(p.stat.read())
	if !ok || st.state == 'Z' || st.state == 'X' {
		return st, false
	}
	return st, true
}

func statPath(proc string, pid int) string {
	return filepath.Join(proc, strconv.Itoa(pid), "stat")
}

// isNamed reports whether a process with that kernel name, and that command
// line if it is needed, is one that the name means.
func isNamed(comm, name string, cmdline func() []byte) bool {
	if comm == name {
		return true
	}
	if len(name) > maxComm && comm == name[:maxComm] {
		return true
	}
	first, _, _ := bytes.Cut(cmdline(), []byte{0})
	return len(first) > 0 && filepath.Base(string(first)) == name
}
