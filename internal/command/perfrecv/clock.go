package perfrecv

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
)

// A sender asks its last questions when its run is over, and that of the receiver may
// be over before: answers are given on as long as somebody asks, at most lingerFor.
const (
	lingerFor   = 5 * time.Second
	lingerEvery = 250 * time.Millisecond // five questions
)

// listenClock starts the server for clock probes, if it is asked for.
func (r *run) listenClock() error {
	if r.o.clockListen == "" {
		return nil
	}
	r.token = probe.NewToken()
	var err error
	r.probes, err = probe.Listen(r.o.clockListen, probe.ServerOptions{Token: r.token, Clock: r.clock, Receiver: r.receiverID})
	if err != nil {
		return fmt.Errorf("--clock-listen: %w", err)
	}
	if !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: clock probes at %s, the token is in %s\n", tool, r.probes.Address(), r.o.readyFile)
	}
	return nil
}

// clockEvent is what the server for clock probes has seen, as an event.
func (r *run) clockEvent() (e recorder.Event, ok bool) {
	if r.probes == nil {
		return e, false
	}
	s := r.probes.Stats()
	text := fmt.Sprintf("%d questions answered; in silence: %d with a wrong token, %d that are none of ours, %d beyond %d a second",
		s.Answered, s.WrongToken, s.Malformed, s.Limited, probe.MaxAnswers)
	return recorder.Event{At: r.clock.Now(), Kind: "clock", Connection: format.Null32, Text: text}, true
}

// closeClock ends the server for clock probes when nobody asks any more.
func (r *run) closeClock() {
	if r.probes == nil {
		return
	}
	answered := r.probes.Stats().Answered
	for began := r.clock.Now(); answered > 0 && r.clock.Now()-began < int64(lingerFor); {
		<-time.After(lingerEvery)
		now := r.probes.Stats().Answered
		if now == answered {
			break
		}
		answered = now
	}
	_ = r.probes.Close() // nothing is lost with its sockets
}

// writeReady tells others that everything is attached. With a clock server the file
// has its token and is for its owner alone.
func (r *run) writeReady() (remove func(), err error) {
	name := r.o.readyFile
	if name == "" {
		return func() {}, nil
	}
	text := r.link.URL.String() + "\n"
	mode := os.FileMode(0o666)
	if r.probes != nil {
		text += connect.ReadyClock(r.probes, r.token) + "\n"
		mode = 0o600
	}
	if err := writeFile(name, text, mode); err != nil {
		return func() {}, fmt.Errorf("--ready-file: %w", err)
	}
	return func() { _ = os.Remove(name) }, nil // it may be gone already
}

// writeFile replaces a file at once, so that who waits for it never finds half of
// it, nor a secret in a file that others may read.
func writeFile(name, text string, mode os.FileMode) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() { // a FIFO, or a device
		return os.WriteFile(name, []byte(text), mode)
	}
	partial := name + ".partial"
	_ = os.Remove(partial) // left by a run that was killed
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(partial, name)
	}
	if err != nil {
		_ = os.Remove(partial)
	}
	return err
}

// validateClock reports what is missing for clock probes.
func (o *options) validateClock(given func(string) bool) error {
	if !given("clock-listen") {
		return nil
	}
	host, port, err := net.SplitHostPort(o.clockListen)
	switch {
	case err != nil || host == "" || port == "":
		return cli.Usagef("--clock-listen %q: want HOST:PORT, both of them: which network may ask has no default", o.clockListen)
	case o.readyFile == "":
		return cli.Usagef("--clock-listen: senders need the token that is in the ready file: give --ready-file FILE")
	}
	return nil
}
