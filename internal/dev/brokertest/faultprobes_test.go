package brokertest

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"

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
	if !isOurs() || !able("delete a queue") {
		return untried, ""
	}
	log := p.log("send")
	send := p.start("perf-send", "-q", "-o", log, "-r", "100", "-d", "10m", p.queue)
	p.eventually(send, "messages to flow", func() bool { return p.rows(log) > 50 })
	p.broker("delete-queue", strings.TrimPrefix(p.queue, "queue://"))
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
	if !isOurs() || !able("delete a queue") {
		return untried, ""
	}
	log := p.log("recv")
	ready := p.path(log + ".ready")
	recv := p.start("perf-recv", "-q", "-o", log, "--ready-file", ready, "-d", "20s", p.queue)
	if !p.attachedOrEnded(recv, ready) {
		return "refused", lastLine(recv.stderr.String())
	}
	p.broker("delete-queue", strings.TrimPrefix(p.queue, "queue://"))
	recv.wait()
	return "yes", lastLine(recv.stderr.String())
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
