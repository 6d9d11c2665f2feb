package brokertest

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"amqpperf/internal/dev/jsonpath"
)

// lookup returns the text at a path.
func lookup(document []byte, path string) (string, error) {
	v, err := jsonpath.Lookup(document, path)
	if err != nil {
		return "", err
	}
	text, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s is %v, no text", path, v)
	}
	return text, nil
}

// step runs a program and returns its exit status and the last line that it printed on standard error.
func (p *prober) step(name string, args ...string) (status int, last string) {
	c := p.start(name, args...)
	status = c.wait()
	lines := strings.Split(strings.TrimSpace(c.stderr.String()), "\n")
	for len(lines) > 1 && strings.HasPrefix(lines[len(lines)-1], "Try '") {
		lines = lines[:len(lines)-1]
	}
	return status, lines[len(lines)-1]
}

// log is a new name for a log.
func (p *prober) log(kind string) string {
	p.n++
	name := fmt.Sprintf("%s-%s-%d.parquet", kind, p.queue[strings.LastIndex(p.queue, "-")+1:], p.n)
	return name
}

// send sends n messages with more options; what is refused is told.
func (p *prober) send(address string, n int, args ...string) (log, refusal string) {
	log = p.log("send")
	status, last := p.step("perf-send", append(append([]string{"-q", "-o", log, "-n", fmt.Sprint(n), "--drain", "5s"}, args...), address)...)
	if status != 0 {
		return log, last
	}
	return log, ""
}

// receive takes what is there: so many as -n says, or until nothing comes for three seconds.
func (p *prober) receive(address string, args ...string) (log, refusal string) {
	log = p.log("recv")
	status, last := p.step("perf-recv", append(append([]string{"-q", "-o", log, "--idle", "3s", "--wait", "5s"}, args...), address)...)
	// That nothing or too little came is an answer too.
	if status != 0 && status != 3 && !strings.Contains(last, "no message came") {
		return log, last
	}
	return log, ""
}

// received counts the rows of a log, 0 if there is none.
func (p *prober) received(log string) int {
	if _, err := os.Stat(p.path(log)); err != nil {
		return 0
	}
	return p.rows(log)
}

// roundTrip sends twenty messages and wants to receive so many of them.
func (p *prober) roundTrip(send, recv []string, want int) (verdict, text string) {
	// The receiver makes the queue first where its options decide what queue it is.
	_, refusal := p.send(p.queue, 20, send...)
	if refusal != "" {
		return "refused", refusal
	}
	if want == 20 { // else it must be seen that no more come
		recv = append(recv, "-n", "20")
	}
	log, refusal := p.receive(p.queue, recv...)
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got != want {
		return "no", fmt.Sprintf("%d of 20 messages were received, %d were to be", got, want)
	}
	return "yes", ""
}

// attached is how an address is written on this broker.
func (p *prober) attached(address string) (verdict, text string) {
	address = strings.Replace(address, "name", strings.TrimPrefix(p.queue, "queue://"), 1)
	log, refusal := p.send(address, 1)
	if refusal != "" {
		return "refused", refusal
	}
	text, err := lookup(p.report(log).text, "/0/config/attached/0")
	if err != nil {
		p.Fatalf("report: %v", err)
	}
	return "yes", text
}

// product is the broker's name and version in its open frame.
func (b *bench) product() string {
	p := &prober{bench: b, queue: b.address + "-product"}
	log, refusal := p.send(p.queue, 1)
	if refusal != "" {
		b.Fatal(refusal)
	}
	text := b.report(log).text
	name, err := lookup(text, "/0/config/peer_product")
	if err != nil {
		return cmp.Or(os.Getenv("PERF_TEST_BROKER"), "unknown") // one that does not say what it is
	}
	version, err := lookup(text, "/0/config/peer_version")
	if err != nil {
		version = "" // one that says none
	}
	return strings.TrimSpace(name + " " + version)
}

// wrongPassword asks for a user that there is not.
func wrongPassword(p *prober) (verdict, text string) {
	file := p.path("password")
	if err := os.WriteFile(file, []byte("wrong\n"), 0o600); err != nil {
		p.Fatal(err)
	}
	_, refusal := p.send(p.queue, 1, "--user", "nobody", "--password-file", file)
	if refusal != "" {
		return "refused", refusal
	}
	return "no", "anybody may send"
}

// browsing leaves what it has read.
func browsing(p *prober) (verdict, text string) {
	if _, refusal := p.send(p.queue, 20); refusal != "" {
		return "refused", refusal
	}
	seen, refusal := p.receive(p.queue, "--browse")
	if refusal != "" {
		return "refused", refusal
	}
	left, refusal := p.receive(p.queue)
	if refusal != "" {
		return "refused", refusal
	}
	if p.received(seen) != 20 || p.received(left) != 20 {
		return "no", fmt.Sprintf("%d of 20 messages were seen, %d were left", p.received(seen), p.received(left))
	}
	return "yes", ""
}

// releasing gives messages back, of which none may be lost.
func releasing(p *prober) (verdict, text string) {
	if _, refusal := p.send(p.queue, 20); refusal != "" {
		return "refused", refusal
	}
	if _, refusal := p.receive(p.queue, "-n", "20", "--outcome", "release"); refusal != "" {
		return "refused", refusal
	}
	log, refusal := p.receive(p.queue)
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got != 20 {
		return "no", fmt.Sprintf("%d of 20 messages came again", got)
	}
	return "yes", ""
}

// modifying gives messages back as failed: they come again, with that counted.
func modifying(p *prober) (verdict, text string) {
	if _, refusal := p.send(p.queue, 20); refusal != "" {
		return "refused", refusal
	}
	if _, refusal := p.receive(p.queue, "-n", "20", "--outcome", "modify"); refusal != "" {
		return "refused", refusal
	}
	log, refusal := p.receive(p.queue)
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got != 20 {
		return "no", fmt.Sprintf("%d of 20 messages came again", got)
	}
	for _, d := range p.deliveries(log) {
		if d.count == 0 {
			return "yes", "the failed delivery is not counted in the header of all of them"
		}
	}
	return "yes", ""
}

// undeliverable gives messages back to a broker that is to bring them to another consumer only.
func undeliverable(p *prober) (verdict, text string) {
	if _, refusal := p.send(p.queue, 20); refusal != "" {
		return "refused", refusal
	}
	first, refusal := p.receive(p.queue, "-n", "1000", "-d", "20s", "--outcome", "modify", "--undeliverable-here")
	if refusal != "" {
		return "refused", refusal
	}
	other, refusal := p.receive(p.queue)
	if refusal != "" {
		return "refused", refusal
	}
	switch again, left := p.received(first)-20, p.received(other); {
	case again > 0:
		return "no", fmt.Sprintf("the same consumer gets them again, then another one %d of 20", left)
	case left != 20:
		return "no", fmt.Sprintf("another consumer gets %d of 20 messages", left)
	}
	return "yes", ""
}

// timeToLive lets messages grow too old before the receiver gives its first credit.
func timeToLive(p *prober) (verdict, text string) {
	if _, refusal := p.send(p.queue, 20, "--ttl", "100ms"); refusal != "" {
		return "refused", refusal
	}
	log, refusal := p.receive(p.queue, "--start-delay", "2s")
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got > 0 {
		return "no", fmt.Sprintf("%d of 20 messages were received after more than 2 s with a time to live of 100 ms", got)
	}
	return "yes", ""
}

// priority sends unimportant messages first, which are small: a large, important one must come before them.
func priority(p *prober) (verdict, text string) {
	for _, m := range []struct{ priority, size string }{{"1", "100"}, {"9", "200"}} {
		if _, refusal := p.send(p.queue, 10, "--priority", m.priority, "--size", m.size, "--run", "priority"); refusal != "" {
			return "refused", refusal
		}
	}
	log, refusal := p.receive(p.queue, "--credit", "1", "-n", "20")
	if refusal != "" {
		return "refused", refusal
	}
	first, size, n := math.Inf(1), 0.0, 0
	for line := range strings.Lines(p.run("perf-merge", "-q", "-f", "jsonl", log)) {
		n++
		at, err := jsonpath.Number([]byte(line), "/received")
		if err != nil {
			p.Fatalf("merged row: %v\n%s", err, line)
		}
		if at < first {
			first = at
			if size, err = jsonpath.Number([]byte(line), "/size"); err != nil {
				p.Fatalf("merged row: %v\n%s", err, line)
			}
		}
	}
	switch {
	case n != 20:
		return "no", fmt.Sprintf("%d of 20 messages were received", n)
	case size != 200:
		return "no", "messages come in the order of their sending"
	}
	return "yes", ""
}

// groups sends one group to two consumers: one of them must get all of it.
func groups(p *prober) (verdict, text string) {
	log := p.log("recv")
	ready := p.path(log + ".ready")
	r := p.start("perf-recv", "-q", "-o", log, "-n", "20", "--idle", "3s", "--wait", "10s", "--consumers", "2", "--ready-file", ready, p.queue)
	if !p.attachedOrEnded(r, ready) {
		return "refused", "the receiver ended early"
	}
	if _, refusal := p.send(p.queue, 20, "--group", "g"); refusal != "" {
		r.wait()
		return "refused", refusal
	}
	if r.wait() != 0 {
		return "refused", "the receiver ended early"
	}
	consumers := map[string]bool{}
	for line := range strings.Lines(p.run("perf-merge", "-q", "-f", "jsonl", log)) {
		c, err := jsonpath.Number([]byte(line), "/consumer")
		if err != nil {
			p.Fatalf("merged row: %v\n%s", err, line)
		}
		consumers[fmt.Sprint(c)] = true
	}
	if len(consumers) != 1 {
		return "no", fmt.Sprintf("the messages of a group went to %d consumers", len(consumers))
	}
	return "yes", ""
}

// durableSubscription collects messages while nobody is there.
func durableSubscription(p *prober) (verdict, text string) {
	subscribe := []string{"--container-id", "perf-features", "--durable-subscription", "sub"}
	if _, refusal := p.receive(p.topic, append(subscribe[:len(subscribe):len(subscribe)], "--keep-subscription", "--wait", "1s")...); refusal != "" {
		return "refused", refusal
	}
	if _, refusal := p.send(p.topic, 20, "--durable"); refusal != "" {
		return "refused", refusal
	}
	log, refusal := p.receive(p.topic, append(subscribe, "-n", "20")...)
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got != 20 {
		return "no", fmt.Sprintf("%d of 20 messages sent while nobody was there were received", got)
	}
	return "yes", ""
}

// attachedOrEnded waits for a file of a receiver, or its end: then it returns false.
func (p *prober) attachedOrEnded(r *process, ready string) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Lstat(ready); err == nil {
			return true
		}
		select {
		case err := <-r.ended:
			r.ended <- err
			return false
		case <-tick.C:
		}
	}
}

// sharedSubscription has two consumers on one subscription: each message goes to one of them.
func sharedSubscription(p *prober) (verdict, text string) {
	log := p.log("recv")
	ready := p.path(log + ".ready")
	r := p.start("perf-recv", "-q", "-o", log, "-n", "20", "--idle", "3s", "--wait", "5s", "--consumers", "2", "--shared", "sub", "--ready-file", ready, p.topic)
	if !p.attachedOrEnded(r, ready) {
		lines := strings.Split(strings.TrimSpace(r.stderr.String()), "\n")
		return "refused", lines[len(lines)-1]
	}
	_, refusal := p.send(p.topic, 20)
	status := r.wait()
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); status != 0 || got != 20 {
		return "no", fmt.Sprintf("two consumers received %d messages of 20", got)
	}
	return "yes", ""
}
