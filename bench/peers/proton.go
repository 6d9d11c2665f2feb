package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// proton runs the send and receive of Proton C's examples, which can only send so many messages as fast as credit
// allows. suffix "-1k" takes those with bodies of 1 KiB (tools.sh). The rate is over the whole of both processes, from
// the start of send to the end of the later one.
func (b *bench) proton(ctx context.Context, k *broker, l load, suffix string, r *run) error {
	count := b.protonCount(k, l, suffix)
	dir, err := b.folder("proton")
	if err != nil {
		return err
	}
	queue, n := b.queue(), strconv.Itoa(count)
	command := func(name string) []string {
		return []string{filepath.Join(b.tools["proton"], name+suffix), k.url.Hostname(), k.url.Port(), queue, n}
	}
	r.Commands = []string{b.typed(command("receive"), dir) + " > /dev/null", b.typed(command("send"), dir)}
	// The shell redirects: printing costs receive what it costs everybody, but nothing here reads it.
	receiver, err := start(ctx, dir, "receive", nil, append([]string{"sh", "-c", `exec "$@" >/dev/null`, "sh"}, command("receive")...)...)
	if err != nil {
		return err
	}
	sender, err := start(ctx, dir, "send", nil, command("send")...)
	if err != nil {
		return errors.Join(err, receiver.interrupt())
	}
	if err := errors.Join(sender.wait(), receiver.wait()); err != nil {
		return fmt.Errorf("%w: %s / %s", err, tail(dir+"/send.err"), tail(dir+"/receive.err"))
	}
	end := sender.ended
	if receiver.ended.After(end) {
		end = receiver.ended
	}
	elapsed := end.Sub(sender.began)
	b.protonRate[k.name+suffix] = float64(count) / elapsed.Seconds()
	r.Values["recv_per_s"] = float64(count) / elapsed.Seconds()
	r.Values["sent_per_s"] = float64(count) / sender.ended.Sub(sender.began).Seconds()
	r.Values["sent_total"] = float64(count)
	r.Values["cpu_us"] = micros(sender.cpu()+receiver.cpu()) / float64(count)
	r.Values["rss"] = sender.rss + receiver.rss
	return nil
}

// protonCount is the number of messages that should take as long as the measured time of the others: by the rate of the
// last run, or 30,000/s for the first, which is the warm-up.
func (b *bench) protonCount(k *broker, l load, suffix string) int {
	rate := b.protonRate[k.name+suffix]
	if rate == 0 {
		rate = 30_000
	}
	return max(1000, int(rate*min(l.seconds, time.Minute.Seconds())))
}
