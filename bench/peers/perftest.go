package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
)

// perftest runs RabbitMQ's PerfTest, which speaks AMQP 0-9-1: not a peer on the same protocol, but what people use there.
func (b *bench) perftest(ctx context.Context, k *broker, l load, r *run) error {
	dir, err := b.folder("perftest")
	if err != nil {
		return err
	}
	command := b.perftestCommand(k, l)
	r.Commands = []string{b.typed(command, dir)}
	reader := &perftestReader{begun: make(chan time.Duration, 1)}
	p, err := start(ctx, dir, "perftest", reader.line, command...)
	if err != nil {
		return err
	}
	stallErr := l.freezeAfter(ctx, reader.begun, p, r)
	if err := errors.Join(p.wait(), stallErr); err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/perftest.err"))
	}
	if err := reader.result(l, r); err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/perftest.out"))
	}
	from, to := reader.span(l)
	r.Values["cpu_us"] = micros(p.cpu()) / r.Values["sent_total"]
	r.Values["warm_cpu_us"] = micros(p.cpuBetween(from, to)) / (r.Values["sent_per_s"] * to.Sub(from).Seconds())
	r.Values["rss"] = p.rss
	r.Texts["status"] = fmt.Sprintf("exit %d", p.cmd.ProcessState.ExitCode())
	return nil
}

func (b *bench) perftestCommand(k *broker, l load) []string {
	pairs := strconv.Itoa(max(1, l.pairs))
	c := []string{"java", "-cp", b.tools["perftest"] + string(os.PathSeparator) + "*", "com.rabbitmq.perf.PerfTest",
		"-h", k.url.String(), "-x", pairs, "-y", pairs, "-s", "1024", "-q", "1000", "-u", b.queue(), "-ad", "true",
		"-z", whole(l.warmup + l.seconds), "-i", "1"}
	if l.window > 0 {
		c = append(c, "-c", strconv.Itoa(l.window))
	}
	if l.rate > 0 {
		c = append(c, "-r", number(l.rate/float64(max(1, l.pairs)))) // its rate is per producer
	}
	return c
}

// perftestReader gathers the lines that PerfTest prints every second and at its end.
type perftestReader struct {
	begun     chan time.Duration // gets how long the load had lasted at the first line
	intervals []perftestLine
	averages  map[string]float64
	quantiles map[string][2]float64 // median and 99th, microseconds
}

type perftestLine struct {
	at                  time.Time
	second              float64
	sent, received      float64
	consumer99, ack99us float64
}

var (
	perftestTime    = regexp.MustCompile(`time ([0-9.]+) s, sent: ([0-9.]+) msg/s.* received: ([0-9.]+) msg/s`)
	perftestLatency = regexp.MustCompile(`(consumer|confirm) latency(?: min/median/75th/95th/99th|:) ([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)`)
	perftestHead    = regexp.MustCompile(`99th consumer latency: ([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)`)
	perftestAverage = regexp.MustCompile(`(sending|receiving) rate avg: ([0-9.]+) msg/s`)
)

func (t *perftestReader) line(at time.Time, text string) {
	if m := perftestTime.FindStringSubmatch(text); m != nil {
		l := perftestLine{at: at, second: float(m[1]), sent: float(m[2]), received: float(m[3])}
		if h := perftestHead.FindStringSubmatch(text); h != nil {
			l.consumer99 = float(h[5])
		}
		for _, q := range perftestLatency.FindAllStringSubmatch(text, -1) {
			if q[1] == "confirm" {
				l.ack99us = float(q[6])
			}
		}
		if t.intervals = append(t.intervals, l); len(t.intervals) == 1 {
			t.begun <- time.Duration(l.second * float64(time.Second))
		}
		return
	}
	if m := perftestAverage.FindStringSubmatch(text); m != nil {
		if t.averages == nil {
			t.averages = map[string]float64{}
		}
		t.averages[m[1]] = float(m[2])
	}
	if m := perftestLatency.FindStringSubmatch(text); m != nil {
		if t.quantiles == nil {
			t.quantiles = map[string][2]float64{}
		}
		t.quantiles[m[1]] = [2]float64{float(m[3]), float(m[6])}
	}
}

// float is for text that a regular expression has already checked.
func float(text string) float64 {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0
	}
	return f
}

// warm are the intervals after the warm-up.
func (t *perftestReader) warm(l load) []perftestLine {
	for i, x := range t.intervals {
		if x.second > l.warmup+0.5 {
			return t.intervals[i:]
		}
	}
	return nil
}

func (t *perftestReader) span(l load) (from, to time.Time) {
	w := t.warm(l)
	return w[0].at.Add(-time.Second), w[len(w)-1].at
}

func (t *perftestReader) result(l load, r *run) error {
	w := t.warm(l)
	if len(w) == 0 {
		return errors.New("PerfTest printed no rate after the warm-up")
	}
	var sent, received, consumer, ack float64
	for _, x := range w {
		sent, received = sent+x.sent, received+x.received
		consumer, ack = max(consumer, x.consumer99), max(ack, x.ack99us)
	}
	n := float64(len(w))
	r.Values["sent_per_s"], r.Values["recv_per_s"] = sent/n, received/n
	if r.Values["sent_per_s"] == 0 {
		return errors.New("PerfTest sent nothing")
	}
	last := t.intervals[len(t.intervals)-1].second
	r.Values["sent_total"] = max(1, t.averages["sending"]*last)
	for name, key := range map[string]string{"confirm": "service", "consumer": "transit"} {
		if q, ok := t.quantiles[name]; ok {
			r.Values[key+".50"], r.Values[key+".99"] = q[0], q[1]
		}
	}
	for key, v := range map[string]float64{"service.99_second": ack, "transit.99_second": consumer} {
		if v > 0 { // without confirms there are none
			r.Values[key] = v
		}
	}
	return nil
}
