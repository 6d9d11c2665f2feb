package e2e

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a script waits for something that must happen; only a failing test waits that long.
const patience = 30 * time.Second

// eventually calls done until it is true.
func eventually(ts *testscript.TestScript, what string, done func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(limit) {
			ts.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func waitForFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appears FILE")
	}
	path := ts.MkAbs(args[0])
	eventually(ts, args[0], func() bool {
		_, err := os.Lstat(path)
		return err == nil
	})
}

func waitForLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: says FILE REGEXP")
	}
	path, re := ts.MkAbs(args[0]), regexp.MustCompile("(?m)"+args[1])
	eventually(ts, args[1]+" in "+args[0], func() bool {
		text, err := os.ReadFile(path)
		return err == nil && re.Match(text)
	})
}

// waitForEnd is the script command gone PID: it waits until a process has ended.
func waitForEnd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone PID")
	}
	pid, err := strconv.Atoi(args[0])
	ts.Check(err)
	eventually(ts, "the end of process "+args[0], func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
}

// startBroker starts perf-broker in a process of its own until the end of the script.
func startBroker(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: broker [flags]")
	}
	file, err := os.CreateTemp(ts.Getenv("WORK"), "broker-*.ready")
	ts.Check(err)
	ts.Check(file.Close())
	ready := file.Name()
	ts.Check(os.Remove(ready))

	c := exec.Command("perf-broker", append([]string{"--listen", "127.0.0.1:0", "--ready-file", ready}, args...)...)
	c.Dir = ts.Getenv("WORK")
	c.Env = append(os.Environ(), "HOME="+c.Dir)
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	ts.Check(c.Start())
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	ts.Defer(func() { stopBroker(ts, c, ended, &output) })

	eventually(ts, "perf-broker to be ready", func() bool {
		select {
		case err := <-ended:
			ended <- err
			ts.Fatalf("perf-broker ended: %v\n%s", err, output.String())
		default:
		}
		_, err := os.Lstat(ready)
		return err == nil
	})
	first, _, _ := strings.Cut(ts.ReadFile(ready), "\n")
	ts.Setenv("AMQP_URL", strings.TrimSpace(first))
	ts.Setenv("BROKER_PID", itoa(c.Process.Pid))
}

// stopBroker asks the broker to end, as a user would, and shows what it said.
func stopBroker(ts *testscript.TestScript, c *exec.Cmd, ended chan error, output *bytes.Buffer) {
	_ = c.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-ended:
	case <-time.After(patience):
		_ = c.Process.Kill()
		<-ended
		ts.Logf("perf-broker did not end at SIGTERM")
	}
	if output.Len() > 0 {
		ts.Logf("perf-broker said:\n%s", output.String())
	}
}
