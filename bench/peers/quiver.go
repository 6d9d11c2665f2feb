package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// quiver runs quiver's pair of arrows in C: two processes that send and receive, each under a wrapper that keeps and
// reads a line per message. It sends as fast as the broker's credit allows, whatever window or rate is asked for: RabbitMQ
// grants so much that hardly anything is received while it sends. Broker-J takes the port that it writes into its host
// name for a part of a virtual host's. So it is run on the others only.
func (b *bench) quiver(ctx context.Context, k *broker, l load, r *run) error {
	dir, err := b.folder("quiver")
	if err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	command := b.quiverCommand(k, l, out)
	r.Commands = []string{b.typed(command, dir)}
	p, err := startGroup(ctx, dir, "quiver", nil, command...)
	if err != nil {
		return err
	}
	var stallErr error
	if l.stall != nil {
		// Its wrappers need some tenths of a second before they begin; the middle of a run need not be exact.
		stopped, err := l.stall.freeze(ctx, p, l.middle())
		r.Values["stalled_s"], stallErr = stopped.Seconds(), err
	}
	if err := errors.Join(p.wait(), stallErr); err != nil {
		return fmt.Errorf("%w: %s / %s", err, tail(dir+"/quiver.err"), tail(dir+"/quiver.out"))
	}
	if err := readQuiver(out, l, r); err != nil {
		return err
	}
	r.Values["cpu_us"] = micros(p.cpu()) / r.Values["sent_total"]
	from := p.began.Add(inSeconds(l.warmup))
	to := from.Add(inSeconds(l.seconds))
	r.Values["warm_cpu_us"] = micros(p.cpuBetween(from, to)) / (r.Values["sent_per_s"] * l.seconds)
	r.Values["rss"] = p.rss
	r.Texts["status"] = fmt.Sprintf("exit %d", p.cmd.ProcessState.ExitCode())
	return nil
}

func (b *bench) quiverCommand(k *broker, l load, out string) []string {
	c := []string{b.tools["quiver"], k.url.String() + "/" + b.queue(), "--duration", whole(l.warmup+l.seconds) + "s",
		"--body-size", "1024", "--credit", "1000", "--output", out}
	if l.rate > 0 {
		c = append(c, "--rate", number(l.rate))
	}
	return c
}

// quiverSummary is the file in which an arrow says what it found; latencies are in milliseconds, from send to receive.
type quiverSummary struct {
	Results struct {
		Count     float64   `json:"message_count"`
		Quartiles []float64 `json:"latency_quartiles"` // 0, 25, 50, 75, 100
		Nines     []float64 `json:"latency_nines"`     // 90, 99, 99.9, 99.99, 99.999
	} `json:"results"`
}

// readQuiver takes rates from the line of each message, because its summary cannot leave out a warm-up, and latencies
// from the summary.
func readQuiver(dir string, l load, r *run) error {
	var sender, receiver quiverSummary
	err := errors.Join(readSummary(filepath.Join(dir, "sender-summary.json"), &sender), readSummary(filepath.Join(dir, "receiver-summary.json"), &receiver))
	if err != nil {
		return err
	}
	res := receiver.Results
	if sender.Results.Count == 0 || len(res.Quartiles) < 5 || len(res.Nines) < 3 {
		return errors.New("quiver: nothing sent or received")
	}
	r.Values["sent_total"], r.Values["recv_total"] = sender.Results.Count, res.Count
	for q, ms := range map[string]float64{"50": res.Quartiles[2], "99": res.Nines[1], "99.9": res.Nines[2], "max": res.Quartiles[4]} {
		r.Values["transit."+q] = 1000 * ms
	}
	for key, column := range map[string]struct {
		file  string
		field int
	}{"sent_per_s": {"sender-transfers.csv.zst", 0}, "recv_per_s": {"receiver-transfers.csv.zst", 1}} {
		rate, err := quiverRate(filepath.Join(dir, column.file), column.field, l)
		if err != nil {
			return err
		}
		r.Values[key] = rate
	}
	return nil
}

func readSummary(path string, s *quiverSummary) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, s); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// quiverRate decompresses a file of transfers with zstd, which quiver needs too.
func quiverRate(path string, field int, l load) (float64, error) {
	c := exec.Command("zstd", "-dcq", path)
	pipe, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	rate, err := transferRate(pipe, field, l)
	if err := errors.Join(err, c.Wait()); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return rate, nil
}

// transferRate counts the lines "SENT,RECEIVED", milliseconds, whose field lies in the measured seconds, which begin
// l.warmup after the first line.
func transferRate(in io.Reader, field int, l load) (float64, error) {
	first, n := -1.0, 0
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ",")
		if len(fields) <= field {
			return 0, fmt.Errorf("a line %q without a field %d", lines.Text(), field+1)
		}
		ms, err := strconv.ParseFloat(fields[field], 64)
		if err != nil {
			return 0, err
		}
		if first < 0 {
			first = ms
		}
		if s := (ms - first) / 1000; s >= l.warmup && s < l.warmup+l.seconds {
			n++
		}
	}
	if n == 0 {
		return 0, errors.Join(lines.Err(), errors.New("no message after the warm-up"))
	}
	return float64(n) / l.seconds, lines.Err()
}
