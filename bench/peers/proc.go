package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticks is USER_HZ, in which /proc counts CPU time on Linux: 10 ms.
const ticks = 10 * time.Millisecond

// errStat is a line of /proc that is not what proc(5) says.
var errStat = errors.New("unexpected form of a stat file")

// stat is what /proc/PID/stat says of a process.
type stat struct {
	group int
	cpu   time.Duration // user and system, without children
}

func readStat(path string) (stat, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return stat{}, err
	}
	return parseStat(string(text))
}

// parseStat skips the second field, a name in parentheses that may hold anything.
func parseStat(text string) (stat, error) {
	i := strings.LastIndexByte(text, ')')
	f := strings.Fields(text[i+1:])
	if i < 0 || len(f) < 13 {
		return stat{}, errStat
	}
	group, err1 := strconv.Atoi(f[2])
	user, err2 := strconv.ParseInt(f[11], 10, 64)
	system, err3 := strconv.ParseInt(f[12], 10, 64)
	return stat{group, time.Duration(user+system) * ticks}, errors.Join(err1, err2, err3)
}

// readUsage reads the CPU time of a process and its highest resident set in MiB.
func readUsage(pid int) (usage, float64, error) {
	dir := fmt.Sprintf("/proc/%d", pid)
	s, err := readStat(dir + "/stat")
	if err != nil {
		return usage{}, 0, err
	}
	now := time.Now()
	text, err := os.ReadFile(dir + "/status")
	if err != nil {
		return usage{}, 0, err
	}
	var kib float64
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err = strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
		}
	}
	return usage{now, s.cpu}, kib / 1024, err
}

// groupCPU is the CPU time of all processes of a group; one that ended is not in it any more.
func groupCPU(group int) time.Duration {
	var sum time.Duration
	members(group, func(s stat, _ int) { sum += s.cpu })
	return sum
}

// groupUsage adds up the processes of a group that live.
func groupUsage(group int) (usage, float64, error) {
	sum, total := usage{at: time.Now()}, 0.0
	members(group, func(_ stat, pid int) {
		if u, rss, err := readUsage(pid); err == nil { // one that ends meanwhile has no more to add
			sum.cpu, total = sum.cpu+u.cpu, total+rss
		}
	})
	return sum, total, nil
}

func members(group int, each func(stat, int)) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return
	}
	for _, path := range paths {
		s, err := readStat(path)
		if err != nil || s.group != group {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			each(s, pid)
		}
	}
}

// machineCPU is the time all processors have been busy since the machine started, interrupts included, stolen time not.
func machineCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	var busy int64
	for i, field := range strings.Fields(first) {
		// cpu user nice system idle iowait irq softirq steal …
		if n, err := strconv.ParseInt(field, 10, 64); err == nil && i != 4 && i != 5 && i < 8 {
			busy += n
		}
	}
	return time.Duration(busy) * ticks
}
