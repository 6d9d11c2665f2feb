package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// load is what one run asks of a tool. Zero values are the tool's defaults.
type load struct {
	seconds, warmup float64 // measured, and before that not measured
	rate            float64 // messages/s over all producers; 0: as fast as the window allows
	window          int     // messages without an answer, per producer; 0: the tool's default
	pairs           int     // producers and as many consumers, a connection each; 0: one
	bare            bool    // write the logs to /dev/null, so there is no report
	stall           *stall  // in the middle of the measured time
	client          string  // own, library or "" for the default of perf-send and perf-recv
}

func (l load) total() time.Duration {
	return inSeconds(l.seconds + l.warmup)
}

// middle is when, from the begin of the load, a stall begins: in the middle of the measured time.
func (l load) middle() time.Duration {
	return inSeconds(l.warmup + l.seconds/2)
}

// ours runs perf-recv and perf-send, both recording every row, then perf-report.
func (b *bench) ours(ctx context.Context, k *broker, l load, r *run) error {
	dir, err := b.folder("ours")
	if err != nil {
		return err
	}
	defer b.discard(dir, r)
	queue := "queue://" + b.queue()
	recv, send := b.ourCommands(k, l, dir, queue)
	r.Commands = []string{b.typed(recv, dir), b.typed(send, dir)}
	receiver, err := start(ctx, dir, "recv", nil, recv...)
	if err != nil {
		return err
	}
	if err := appears(ctx, filepath.Join(dir, "ready")); err != nil {
		return errors.Join(err, receiver.interrupt(), errors.New(tail(dir+"/recv.err")))
	}
	sender, err := start(ctx, dir, "send", nil, send...)
	if err != nil {
		return errors.Join(err, receiver.interrupt())
	}
	stopped, stallErr := time.Duration(0), error(nil)
	if l.stall != nil {
		// The sender needs some milliseconds before it begins; the middle of a run need not be exact.
		stopped, stallErr = l.stall.freeze(ctx, sender, l.middle())
		r.Values["stalled_s"] = stopped.Seconds()
	}
	err = errors.Join(stallErr, sender.wait())
	if err != nil && ctx.Err() == nil {
		// Without a sender the receiver may wait for ever.
		return errors.Join(err, errors.New(tail(dir+"/send.err")), receiver.interrupt())
	}
	if err := errors.Join(err, receiver.wait()); err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/recv.err"))
	}
	if err := summaries(dir, r); err != nil {
		return err
	}
	messages := r.Values["sent_total"]
	r.Values["cpu_us"] = micros(sender.cpu()+receiver.cpu()) / messages
	r.Values["send_cpu_us"] = micros(sender.cpu()) / messages
	r.Values["recv_cpu_us"] = micros(receiver.cpu()) / messages
	r.Values["rss"], r.Values["send_rss"], r.Values["recv_rss"] = sender.rss+receiver.rss, sender.rss, receiver.rss
	rate := r.Values["summary_sent_per_s"]
	if !l.bare {
		if err := b.report(ctx, dir, r); err != nil {
			return err
		}
		rate = r.Values["sent_per_s"]
	}
	from := sender.began.Add(inSeconds(l.warmup))
	to := from.Add(inSeconds(l.seconds))
	r.Values["warm_cpu_us"] = micros(sender.cpuBetween(from, to)+receiver.cpuBetween(from, to)) / (rate * l.seconds)
	return nil
}

func (b *bench) ourCommands(k *broker, l load, dir, queue string) (recv, send []string) {
	both := []string{"-u", k.url.String()}
	if l.client != "" {
		both = append(both, "--client", l.client)
	}
	logs := func(name string) string {
		if l.bare {
			return os.DevNull
		}
		return filepath.Join(dir, name)
	}
	recv = append([]string{b.program("perf-recv"), "-o", logs("recv.parquet"), "--idle", "2s", "--wait", "30s", "--ready-file", filepath.Join(dir, "ready")}, both...)
	send = append([]string{b.program("perf-send"), "-o", logs("send.parquet"), "-s", "1024", "-d", l.total().String(), "--warmup", seconds(l.warmup)}, both...)
	if l.rate > 0 {
		send = append(send, "-r", number(l.rate))
	}
	if l.window > 0 {
		send = append(send, "--max-pending", strconv.Itoa(l.window))
	}
	if l.pairs > 1 {
		recv = append(recv, "--consumers", strconv.Itoa(l.pairs))
		send = append(send, "--producers", strconv.Itoa(l.pairs))
	}
	return append(recv, queue), append(send, queue)
}

var (
	summarySent = regexp.MustCompile(`(?m)^ +sent +([0-9,]+) +([0-9.,]+)/s`)
	summaryRecv = regexp.MustCompile(`(?m)^ +received +([0-9,]+) +([0-9.,]+)/s`)
)

// summaries reads totals and rates from what the commands print at their end.
func summaries(dir string, r *run) error {
	for _, s := range []struct {
		file  string
		form  *regexp.Regexp
		total string
		rate  string
	}{{"send.err", summarySent, "sent_total", "summary_sent_per_s"}, {"recv.err", summaryRecv, "recv_total", "summary_recv_per_s"}} {
		text, err := os.ReadFile(filepath.Join(dir, s.file))
		if err != nil {
			return err
		}
		m := s.form.FindSubmatch(text)
		if m == nil {
			return fmt.Errorf("no SUMMARY in %s: %s", s.file, tail(filepath.Join(dir, s.file)))
		}
		total, err1 := strconv.ParseFloat(strings.ReplaceAll(string(m[1]), ",", ""), 64)
		rate, err2 := strconv.ParseFloat(strings.ReplaceAll(string(m[2]), ",", ""), 64)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("%s: %w", s.file, err)
		}
		r.Values[s.total], r.Values[s.rate] = total, rate
	}
	return nil
}

// report lets perf-report compute everything else from the rows.
func (b *bench) report(ctx context.Context, dir string, r *run) error {
	out := filepath.Join(dir, "report.json")
	command := []string{b.program("perf-report"), "-q", "-f", "json", "-o", out, filepath.Join(dir, "send.parquet"), filepath.Join(dir, "recv.parquet")}
	r.Commands = append(r.Commands, b.typed(command, dir))
	p, err := start(ctx, dir, "report", nil, command...)
	if err != nil {
		return err
	}
	if err := p.wait(); err != nil {
		return fmt.Errorf("%w: %s", err, tail(dir+"/report.err"))
	}
	r.Values["report_cpu_us"] = micros(p.cpu()) // of the whole run, not of a message
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	return readReport(text, r)
}

// reportJSON is the part of report/1 that is used here.
type reportJSON struct {
	Schema string           `json:"schema"`
	Counts map[string]int64 `json:"counts"`
	Config map[string]any   `json:"config"`
	Rates  struct {
		Offered  *float64 `json:"offered_per_s"`
		Sent     *float64 `json:"sent_per_s"`
		Acked    *float64 `json:"acked_per_s"`
		Received *float64 `json:"received_per_s"`
	} `json:"rates"`
	Metrics map[string]struct {
		Max       *float64 `json:"max_ns"`
		Infinite  int64    `json:"infinite"`
		Quantiles map[string]struct {
			Observed *float64 `json:"observed_ns"`
		} `json:"quantiles"`
	} `json:"metrics"`
	Checks []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"checks"`
	Stalls []struct {
		Length    float64 `json:"length_ns"`
		Messages  int64   `json:"messages"`
		CarriedBy string  `json:"carried_by"`
	} `json:"stalls"`
}

// readReport takes over rates, counts and, in microseconds, the quantiles of the rows ("service.99", "lag.max" …), also
// those that perf-report itself puts in parentheses because a run of seconds is too short for them.
func readReport(text []byte, r *run) error {
	var j reportJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if j.Schema != "report/1" {
		return fmt.Errorf("report: schema %q", j.Schema)
	}
	put := func(key string, v *float64, scale float64) {
		if v != nil {
			r.Values[key] = *v * scale
		}
	}
	put("offered_per_s", j.Rates.Offered, 1)
	put("sent_per_s", j.Rates.Sent, 1)
	put("acked_per_s", j.Rates.Acked, 1)
	put("recv_per_s", j.Rates.Received, 1)
	for key, n := range j.Counts {
		r.Values["n."+key] = float64(n)
	}
	for name, m := range j.Metrics {
		put(name+".max", m.Max, 1e-3)
		r.Values[name+".infinite"] = float64(m.Infinite)
		for q, v := range m.Quantiles {
			put(name+"."+q, v.Observed, 1e-3)
		}
	}
	for _, c := range j.Checks {
		r.Texts[c.ID] = c.Status
	}
	var stalls []string
	for _, s := range j.Stalls {
		stalls = append(stalls, fmt.Sprintf("%.0f ms, %d messages, carried by %s", s.Length/1e6, s.Messages, s.CarriedBy))
	}
	r.Texts["stalls"] = strings.Join(stalls, " and ")
	r.Texts["peer"] = strings.TrimSpace(fmt.Sprintf("%v %v", j.Config["peer_product"], j.Config["peer_version"]))
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func inSeconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func seconds(s float64) string { return number(s) + "s" }

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
