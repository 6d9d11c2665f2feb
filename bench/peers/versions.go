package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// machine describes what a reader must know to read the figures.
func machine() []string {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	memory := "unknown memory"
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib float64
		if _, err := fmt.Sscanf(string(text), "MemTotal: %f kB", &kib); err == nil {
			memory = fmt.Sprintf("%.0f GiB", kib/(1<<20))
		}
	}
	all := []string{fmt.Sprintf("%d processors (%s), %s, %s", runtime.NumCPU(), model, memory, output("uname", "-sr"))}
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		all = append(all, "load average at the start: "+strings.Join(strings.Fields(string(text))[:3], " "))
	}
	return all
}

// versions are those of the tools; the brokers say theirs when they are connected to.
func (b *bench) versions() []string {
	all := []string{
		output(b.program("perf-send"), "--version"),
		"commit " + output("git", "-C", b.root, "describe", "--always", "--dirty"),
		"Artemis client: " + b.folderOf("artemis"),
		"PerfTest: " + b.folderOf("perftest"),
		"Proton C: libqpid-proton11-dev " + output("dpkg-query", "-W", "-f", "${Version}", "libqpid-proton11-dev"),
		"RabbitMQ: " + output("dpkg-query", "-W", "-f", "${Version}", "rabbitmq-server"),
		output("sh", "-c", "java -version 2>&1 | sed -n 2p"),
	}
	for _, tool := range []string{"quiver", "omq"} {
		switch path := b.tools[tool]; {
		case path == "":
			all = append(all, tool+": not on the PATH, not compared")
		case tool == "quiver":
			all = append(all, output(path, "--version"))
		default:
			all = append(all, tool+": "+moduleVersion(path))
		}
	}
	return all
}

// folderOf names the folder of a tool, which has its version.
func (b *bench) folderOf(tool string) string {
	if b.tools[tool] == "" {
		return "not compared"
	}
	return filepath.Base(b.tools[tool])
}

// moduleVersion is what a program in Go was built from; "+dirty" with changes, such as to go.mod.
func moduleVersion(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return info.Main.Path + " " + info.Main.Version
}

// output is the first line of what a program prints, or why it did not.
func output(name string, arguments ...string) string {
	out, err := exec.Command(name, arguments...).Output()
	if err != nil {
		return fmt.Sprintf("%s: %v", filepath.Base(name), err)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first
}
