package brokertest

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"amqpperf/format"
)

// untried is the verdict where there is nothing to try: no script of ours has started the broker, or it cannot be told to do that.
const untried = "not tried"

// overTLS sends to the port that the script has opened for TLS.
func overTLS(p *prober) (verdict, text string) {
	if !isOurs() || !able("tls") {
		return untried, ""
	}
	_, user := p.tlsURL()
	return p.overURL(user)
}

func byCertificate(p *prober) (verdict, text string) {
	if !isOurs() || !able("certificates") {
		return untried, ""
	}
	anonymous, _ := p.tlsURL()
	return p.overURL(anonymous, certificateFlags(externalUser())...)
}

func (p *prober) overURL(url string, options ...string) (verdict, text string) {
	p.url = url
	defer func() { p.url = "" }()
	options = append(options, "--tls-ca", filepath.Join(bin, "ca.pem"))
	return p.roundTrip(options, options, 20)
}

// afterKill kills the broker when it has taken durable messages.
func afterKill(p *prober) (verdict, text string) {
	if !isOurs() {
		return untried, ""
	}
	if _, refusal := p.send(p.queue, 20, "--durable"); refusal != "" {
		return "refused", refusal
	}
	p.broker("kill")
	p.broker("restart")
	log, refusal := p.receive(p.queue, "--durable")
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got != 20 {
		return "no", fmt.Sprintf("%d of 20 messages were there after it", got)
	}
	return "yes", ""
}

// subscriptionAfterKill kills it when a subscription has collected messages.
func subscriptionAfterKill(p *prober) (verdict, text string) {
	if !isOurs() {
		return untried, ""
	}
	subscribe := []string{"--container-id", "perf-kill", "--durable-subscription", "sub"}
	if _, refusal := p.receive(p.topic, append(subscribe[:len(subscribe):len(subscribe)], "--keep-subscription", "--wait", "1s")...); refusal != "" {
		return "refused", refusal
	}
	if _, refusal := p.send(p.topic, 20, "--durable"); refusal != "" {
		return "refused", refusal
	}
	p.broker("kill")
	p.broker("restart")
	log, refusal := p.receive(p.topic, append(subscribe, "-n", "20")...)
	if refusal != "" {
		return "refused", refusal
	}
	if got := p.received(log); got != 20 {
		return "no", fmt.Sprintf("%d of 20 messages were there after it", got)
	}
	return "yes", ""
}

// deletedUnderSender deletes the queue of a sender: is it told?
func deletedUnderSender(p *prober) (verdict, text string) {
	if !isOurs() || !able("delete a queue") && !able("manage queues") {
		return untried, ""
	}
	log := p.log("send")
	send := p.start("perf-send", "-q", "-o", log, "-r", "100", "-d", "10m", p.queue)
	p.eventually(send, "messages to flow", func() bool { return p.rows(log) > 50 })
	p.deleteQueue(p.queue)
	n := len(p.sent(log))
	for more := true; more; {
		select {
		case err := <-send.ended:
			send.ended <- err
			return "yes", lastLine(send.stderr.String())
		default:
			more = len(p.sent(log)) < n+200
		}
	}
	send.signal(syscall.SIGINT)
	send.wait()
	outcomes := map[string]int{}
	for _, r := range p.sent(log)[n:] {
		outcomes[r.outcome]++
	}
	if outcomes[format.Accepted] > 100 {
		return "no", "it goes on accepting messages for a queue that is no more; perf-merge counts them as lost"
	}
	return "yes", fmt.Sprintf("outcomes after it: %v", outcomes)
}

// deletedUnderReceiver deletes the queue of a receiver.
func deletedUnderReceiver(p *prober) (verdict, text string) {
	if !isOurs() || !able("delete a queue") && !able("manage queues") {
		return untried, ""
	}
	log := p.log("recv")
	ready := p.path(log + ".ready")
	recv := p.start("perf-recv", "-q", "-o", log, "--ready-file", ready, "-d", "20s", p.queue)
	if !p.attachedOrEnded(recv, ready) {
		return "refused", lastLine(recv.stderr.String())
	}
	p.deleteQueue(p.queue)
	recv.wait()
	return "yes", lastLine(recv.stderr.String())
}

// memoryAlarm tells the broker that its memory is short while one sender sends and another one begins.
func memoryAlarm(p *prober) (verdict, text string) {
	if !isOurs() || !able("memory alarm") {
		return untried, ""
	}
	options := []string{"-q", "-r", "100", "-d", "10m", "--drain", "2m", "--max-pending", "50", "--timeout", "20s"}
	log, late := p.log("send"), p.log("send")
	send := p.start("perf-send", append([]string{"-o", log, p.queue}, options...)...)
	p.eventually(send, "messages to flow", func() bool { return p.rows(log) > 50 })
	p.broker("alarm-on")
	p.Cleanup(func() { _, _ = brokerScript("", nil, "alarm-off") }) // also when this fails
	other := p.start("perf-send", append([]string{"-o", late, p.queue}, options...)...)
	time.Sleep(4 * time.Second) // that is the fault
	p.broker("alarm-off")
	off := time.Now().UnixNano()
	p.eventually(send, "messages to flow again", func() bool { rows := p.sent(log); return len(rows) > 0 && rows[len(rows)-1].acked > off })
	p.eventually(other, "messages of the other", func() bool { rows := p.sent(late); return len(rows) > 0 && rows[len(rows)-1].acked > off })
	held := map[string]int{}
	all := 0
	for name, c := range map[string]*process{log: send, late: other} {
		c.signal(syscall.SIGINT)
		c.want(3)
		for _, r := range p.sent(name) {
			all++
			if r.outcome != format.Accepted {
				p.Errorf("message %d under a memory alarm: %s %s", r.key[2], r.outcome, r.reason)
			}
			if r.acked-r.intended > int64(2*time.Second) {
				held[name]++
			}
		}
	}
	recv, refusal := p.receive(p.queue, "-n", fmt.Sprint(all))
	if refusal != "" || p.missing(log, recv)+p.missing(late, recv) > 0 {
		p.Errorf("after a memory alarm %d and %d messages are missing: %s", p.missing(log, recv), p.missing(late, recv), refusal)
	}
	switch {
	case held[log] == 0 && held[late] == 0:
		return "no", "it goes on accepting the messages of senders that were there and that begin"
	case held[log] == 0 || held[late] == 0:
		return "no", fmt.Sprintf("%d messages of a sender that was there waited, %d of one that began", held[log], held[late])
	}
	return "yes", ""
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
