package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// omq runs RabbitMQ's omq: a publisher and a consumer in one process, over AMQP 1.0. Its queue must be one that the
// broker makes when somebody attaches to it. It is run on Artemis only: on RabbitMQ 3.10 it does not end, neither at the
// end of its time nor by a signal, and Broker-J does not know the host name with which it opens a connection.
func (b *bench) omq(ctx context.Context, k *broker, l load, r *run) error {
	dir, err := b.folder("omq")
	if err != nil {
		return err
	}
	command := b.omqCommand(k, l)
	r.Commands = []string{b.typed(command, dir)}
	reader := &omqReader{begun: make(chan time.Duration, 1)}
	// It writes its lines to standard error.
	p, err := start(ctx, dir, "omq", reader.line, append([]string{"sh", "-c", `exec "$@" 2>&1`, "sh"}, command...)...)
	if err != nil {
		return err
	}
	stallErr := l.freezeAfter(ctx, reader.begun, p, r)
	if err := errors.Join(p.wait(), stallErr); err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/omq.out"))
	}
	from, to, err := reader.result(l, r)
	if err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/omq.out"))
	}
	r.Values["cpu_us"] = micros(p.cpu()) / r.Values["sent_total"]
	r.Values["warm_cpu_us"] = micros(p.cpuBetween(from, to)) / (r.Values["sent_per_s"] * to.Sub(from).Seconds())
	r.Values["rss"] = p.rss
	r.Texts["status"] += fmt.Sprintf("; exit %d", p.cmd.ProcessState.ExitCode())
	return nil
}

func (b *bench) omqCommand(k *broker, l load) []string {
	queue := b.queue()
	c := []string{b.tools["omq"], "amqp", "--uri", k.url.String(), "-t", queue, "-T", queue, "-s", "1024", "-d=false", "-z", whole(l.warmup+l.seconds) + "s"}
	if l.window > 0 {
		c = append(c, "-c", strconv.Itoa(l.window), "--consumer-credits", "1000")
	}
	if l.rate > 0 {
		c = append(c, "-r", number(l.rate))
	}
	return c
}

// omqReader gathers the lines that omq prints every second and at its end.
type omqReader struct {
	begun      chan time.Duration // gets how long the load had lasted at the first line
	began      time.Time
	intervals  []omqLine
	sent, rcvd float64 // totals
}

// omqLine is the last second, in messages and microseconds.
type omqLine struct {
	at                     time.Time
	sent, received         float64
	confirmMax, consumeMax float64
}

var (
	omqStarted = regexp.MustCompile(`INFO publisher started`)
	omqSecond  = regexp.MustCompile(`published=([0-9]+)/s consumed=([0-9]+)/s(?: pub_min=\S+ pub_max=(\S+))?(?: e2e_min=\S+ e2e_max=(\S+))?`)
	omqTotal   = regexp.MustCompile(`TOTAL (PUBLISHED|CONSUMED) messages=([0-9]+)`)
)

func (o *omqReader) line(at time.Time, text string) {
	if omqStarted.MatchString(text) && o.began.IsZero() {
		o.began = at
	}
	if m := omqTotal.FindStringSubmatch(text); m != nil {
		if m[1] == "PUBLISHED" {
			o.sent = float(m[2])
		} else {
			o.rcvd = float(m[2])
		}
	}
	m := omqSecond.FindStringSubmatch(text)
	if m == nil || o.began.IsZero() {
		return
	}
	o.intervals = append(o.intervals, omqLine{at, float(m[1]), float(m[2]), omqMicros(m[3]), omqMicros(m[4])})
	if len(o.intervals) == 1 {
		o.begun <- at.Sub(o.began)
	}
}

// omqMicros reads a time such as 379µs or 21.2ms; 0 for none.
func omqMicros(text string) float64 {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return micros(d)
}

// result takes the mean of the lines after the warm-up; the last is of a second that the end cut short.
func (o *omqReader) result(l load, r *run) (from, to time.Time, err error) {
	var sent, received, confirm, consume, n float64
	for _, x := range o.intervals[:max(0, len(o.intervals)-1)] {
		// A line is of the second before it, so the first whole one after the warm-up comes a second later.
		if x.at.Sub(o.began) < inSeconds(l.warmup+0.9) {
			continue
		}
		if n == 0 {
			from = x.at.Add(-time.Second)
		}
		sent, received, n, to = sent+x.sent, received+x.received, n+1, x.at
		confirm, consume = max(confirm, x.confirmMax), max(consume, x.consumeMax)
	}
	if n == 0 || sent == 0 || o.sent == 0 {
		return from, to, errors.New("omq printed no rate after the warm-up, or sent nothing")
	}
	r.Values["sent_per_s"], r.Values["recv_per_s"] = sent/n, received/n
	r.Values["sent_total"], r.Values["recv_total"] = o.sent, o.rcvd
	r.Texts["status"] = fmt.Sprintf("worst pub_max %s, worst e2e_max %s, no percentile", span(confirm), span(consume))
	return from, to, nil
}
