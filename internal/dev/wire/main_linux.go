// Command wire runs a program on another host that is none: in a network namespace
// behind a link with a delay, so that it can be reached at 198.18.77.2 from here. It
// needs root and /dev/net/tun; there can be one at a time. When it is told to end it
// tells the program, and when the program ends the link goes.
//
//	wire -delay 5ms -send-buffer 65536 perf-broker --listen 198.18.77.2:5672
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"amqpperf/internal/dev/netns"
)

func main() {
	delay := flag.Duration("delay", 0, "of a packet, each direction")
	jitter := flag.Duration("jitter", 0, "what a packet may take longer")
	buffer := flag.Int("send-buffer", 0, "bytes that a TCP socket of the program keeps at most until they are acknowledged (net.ipv4.tcp_wmem); 0 = the kernel's choice")
	flag.Parse()
	if err := run(netns.Way{Delay: *delay, Jitter: *jitter}, *buffer, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "wire:", err)
		os.Exit(1)
	}
}

func run(w netns.Way, buffer int, words []string) (err error) {
	if len(words) == 0 || w.Delay < 0 || w.Jitter < 0 || w.Delay > time.Minute {
		return errors.New("usage: wire [-delay TIME] [-jitter TIME] [-send-buffer BYTES] PROGRAM ARGS")
	}
	far, err := netns.New()
	if err != nil {
		return err
	}
	link, err := netns.Connect(netns.Here(), far, w, w)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, link.Close()) }()
	program := exec.Command(words[0], words[1:]...)
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	err = far.Do(func() error {
		if buffer > 0 {
			text := fmt.Appendf(nil, "4096 %d %d", min(16384, buffer), buffer)
			if err := os.WriteFile("/proc/sys/net/ipv4/tcp_wmem", text, 0); err != nil {
				return err
			}
		}
		return program.Start()
	})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- program.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = program.Process.Signal(s) // it may have ended
		case err := <-ended:
			return err
		}
	}
}
