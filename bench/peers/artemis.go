package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// artemis runs Artemis's own `perf client`: producer and consumer in one JVM.
func (b *bench) artemis(ctx context.Context, k *broker, l load, protocol string, r *run) error {
	dir, err := b.folder("artemis")
	if err != nil {
		return err
	}
	command := b.artemisCommand(k, l, protocol, filepath.Join(dir, "perf.json"))
	r.Commands = []string{b.typed(command, dir)}
	begun := make(chan time.Duration, 1)
	var once sync.Once
	p, err := start(ctx, dir, "artemis", func(_ time.Time, line string) {
		if strings.HasPrefix(line, "--- sent:") {
			once.Do(func() { begun <- time.Second }) // when the first line is printed, the load has lasted a second
		}
	}, command...)
	if err != nil {
		return err
	}
	stallErr := l.freezeAfter(ctx, begun, p, r)
	if err := errors.Join(p.wait(), stallErr); err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/artemis.err"))
	}
	text, err := os.ReadFile(filepath.Join(dir, "perf.json"))
	if err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/artemis.out"))
	}
	from, to, err := readArtemis(text, r)
	if err != nil {
		return err
	}
	r.Values["cpu_us"] = micros(p.cpu()) / r.Values["sent_total"]
	r.Values["warm_cpu_us"] = micros(p.cpuBetween(from, to)) / (r.Values["sent_per_s"] * to.Sub(from).Seconds())
	r.Values["rss"] = p.rss
	r.Texts["status"] = fmt.Sprintf("%s, exit %d", r.Texts["result"], p.cmd.ProcessState.ExitCode())
	return nil
}

// freezeAfter does the stall of l, if there is one, in the middle of the load: begun says, once, how long it has lasted.
func (l load) freezeAfter(ctx context.Context, begun <-chan time.Duration, p *process, r *run) error {
	if l.stall == nil {
		return nil
	}
	var since time.Duration
	select {
	case <-ctx.Done():
		return ctx.Err()
	case since = <-begun:
	case <-time.After(30 * time.Second):
		return errors.New("the tool printed no rate within 30 s")
	}
	stopped, err := l.stall.freeze(ctx, p, max(0, l.middle()-since))
	r.Values["stalled_s"] = stopped.Seconds()
	return err
}

func (b *bench) artemisCommand(k *broker, l load, protocol, out string) []string {
	target := "tcp://" + k.url.Host
	if protocol == "CORE" {
		// Without a confirmation window the client calls a message complete when it has written it.
		target += "?confirmationWindowSize=1048576"
	}
	c := []string{filepath.Join(b.tools["artemis"], "bin", "artemis"), "perf", "client", "--url", target, "--protocol", protocol}
	if password, ok := k.url.User.Password(); ok {
		c = append(c, "--user", k.url.User.Username(), "--password", password)
	}
	c = append(c, "--warmup", whole(l.warmup), "--duration", whole(l.warmup+l.seconds), "--message-size", "1024", "--show-latency", "--json", out)
	if l.rate > 0 {
		c = append(c, "--rate", number(l.rate))
	}
	if l.window > 0 {
		c = append(c, "--max-pending", strconv.Itoa(l.window))
	}
	if l.pairs > 1 {
		n := strconv.Itoa(l.pairs)
		c = append(c, "--producers", n, "--consumers", n, "--consumer-connections", n)
	}
	return append(c, "queue://"+b.queue())
}

func whole(seconds float64) string { return strconv.Itoa(int(seconds + 0.5)) }

// artemisJSON is an element of the file of --json; latencies are in microseconds.
type artemisJSON struct {
	Type     string  `json:"sampleType"`
	Warmup   bool    `json:"warmup"`
	Time     int64   `json:"time"` // ms
	Sent     float64 `json:"sent"` // messages/s
	Received float64 `json:"received"`

	Result        string  `json:"result"`
	TotalSent     float64 `json:"totalSent"`
	TotalReceived float64 `json:"totalReceived"`
	Delay         latency `json:"totalDelaySendTime"`
	Send          latency `json:"totalSendTime"`
	Transfer      latency `json:"totalTransferTime"`
}

type latency map[string]any

// readArtemis takes the mean of the intervals after the warm-up as the rate, and returns the time those intervals span.
func readArtemis(text []byte, r *run) (from, to time.Time, err error) {
	var all []artemisJSON
	if err := json.Unmarshal(text, &all); err != nil {
		return from, to, fmt.Errorf("perf client: %w", err)
	}
	var sent, received, n float64
	var before int64
	for _, a := range all {
		switch {
		case a.Type == "summary":
			r.Texts["result"] = a.Result
			r.Values["sent_total"], r.Values["recv_total"] = a.TotalSent, a.TotalReceived
			a.Delay.put("lag", r)
			a.Send.put("service", r)
			a.Transfer.put("transit", r)
			continue
		case !a.Warmup:
			if n == 0 {
				from = time.UnixMilli(max(before, a.Time-1000))
			}
			sent, received, n = sent+a.Sent, received+a.Received, n+1
			to = time.UnixMilli(a.Time)
		}
		before = a.Time
	}
	if n == 0 || r.Values["sent_total"] == 0 {
		return from, to, errors.New("perf client: no interval after the warm-up, or no message sent")
	}
	r.Values["sent_per_s"], r.Values["recv_per_s"] = sent/n, received/n
	return from, to, nil
}

func (l latency) put(name string, r *run) {
	for _, q := range []string{"50", "99", "99.9", "max"} {
		if v, ok := l[q].(float64); ok {
			r.Values[name+"."+q] = v
		}
	}
}
