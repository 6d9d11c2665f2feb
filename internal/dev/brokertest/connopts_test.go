package brokertest

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"amqpperf/internal/amqp/wire"
)

// TestConnections: so many connections as --connections says, each with a container id of its own, with the limits and names that
// were asked for; the broker takes them and messages flow.
func TestConnections(t *testing.T) { bothClients(t, testConnections) }

func testConnections(b *bench) {
	in := tapped(b)
	options := []string{"--container-id", "perf-c", "--max-frame-size", "4096", "--idle-timeout", "7s"}
	b.run("perf-send", append([]string{"-q", "-o", "send.parquet", "-n", "60", "-s", "20000", "--producers", "6", "--connections", "3", b.address}, options...)...)
	b.fetch(60, append([]string{"--consumers", "4", "--connections", "2"}, options...)...)
	opens := seenOf[*wire.Open](in, true)
	if len(opens) != 5 || len(seenOf[*wire.Open](in, false)) != 5 {
		b.Fatalf("%d connections were opened and %d answered, want 3 and 2", len(opens), len(seenOf[*wire.Open](in, false)))
	}
	ids := map[string]bool{}
	for _, o := range opens {
		ids[o.ContainerID] = true
		// A program lets the broker know half of what it waits for, or all of it.
		if !strings.HasPrefix(o.ContainerID, "perf-c") || o.MaxFrameSize.Or(0) != 4096 || o.IdleTimeout.Or(0) == 0 || o.IdleTimeout.Or(0) > 7000 {
			b.Errorf("open %+v", o)
		}
	}
	if len(ids) != 5 {
		b.Errorf("container ids: %v", ids)
	}
	if size := in.largest(false); size > 4096 || size < 2000 {
		b.Errorf("the broker's largest frame has %d bytes, 4096 were allowed, and messages of 20,000 went", size)
	}
}

// TestLargeFrames: without a limit of ours, the broker writes larger frames: the limit of TestConnections is what made them small.
func TestLargeFrames(t *testing.T) {
	b := newBench(t, "own")
	in := tapped(b)
	b.park(5, "-s", "20000")
	b.fetch(5)
	if size := in.largest(false); size <= 4096 {
		b.Errorf("the broker's largest frame has %d bytes", size)
	}
}

// TestHostname: the name in the open frame is the one that was asked for. RabbitMQ takes it for a virtual host.
func TestHostname(t *testing.T) {
	b := newBench(t, "own")
	in := tapped(b)
	name := "broker.example"
	if os.Getenv("PERF_TEST_BROKER") == "rabbitmq" {
		name = "vhost:/"
	}
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-n", "1", "--hostname", name, b.address)
	if known := os.Getenv("PERF_TEST_BROKER") != "brokerj"; known {
		send.want(0)
		b.fetch(1, "--hostname", name)
	} else if send.want(1); !strings.Contains(send.stderr.String(), name) { // it has no virtual host of that name
		b.Errorf("perf-send says %s", send.stderr.String())
	}
	for _, o := range seenOf[*wire.Open](in, true) {
		if o.Hostname != name {
			b.Errorf("host name %q in the open frame", o.Hostname)
		}
	}
	if os.Getenv("PERF_TEST_BROKER") == "rabbitmq" {
		refused := b.start("perf-send", "-q", "-o", "refused.parquet", "-n", "1", "--hostname", "vhost:nowhere", b.address)
		refused.want(1)
		if text := refused.stderr.String(); !strings.Contains(text, "amqp:unauthorized-access") {
			b.Errorf("a virtual host that is not there: %s", text)
		}
	}
}

// TestSessions: links of a connection share a session if that is asked for.
func TestSessions(t *testing.T) { bothClients(t, testSessions) }

func testSessions(b *bench) {
	for how, want := range map[string]int{"each": 5, "shared": 1} {
		in := tapped(b)
		b.run("perf-send", "-q", "-o", how+".parquet", "-n", "50", "--producers", "5", "--connections", "1", "--sessions", how, b.address)
		if begins := seenOf[*wire.Begin](in, true); len(begins) != want {
			b.Errorf("--sessions %s: %d sessions for 5 producers, want %d", how, len(begins), want)
		}
		in = tapped(b)
		b.fetch(50, "--consumers", "5", "--connections", "1", "--sessions", how)
		if begins := seenOf[*wire.Begin](in, true); len(begins) != want {
			b.Errorf("--sessions %s: %d sessions for 5 consumers, want %d", how, len(begins), want)
		}
	}
}

// TestSessionWindow: the broker sends no more transfer frames than the window allows, and all messages arrive.
func TestSessionWindow(t *testing.T) {
	b := newBench(t, "own")
	const window = 5
	in := tapped(b)
	b.park(100, "--session-window", fmt.Sprint(window))
	if begin := seenOf[*wire.Begin](in, true); len(begin) != 1 || begin[0].IncomingWindow != window {
		b.Errorf("begin of a sender: %+v", begin)
	}
	in = tapped(b)
	b.fetch(100, "--session-window", fmt.Sprint(window))
	begin := seenOf[*wire.Begin](in, true)
	if len(begin) != 1 || begin[0].IncomingWindow != window {
		b.Fatalf("begin %+v", begin)
	}
	var next, allowed uint32
	transfers := 0
	for _, f := range in.seen() {
		switch p := f.body.(type) {
		case *wire.Begin:
			if !f.outgoing {
				next = p.NextOutgoingID
				allowed = next + window
			}
		case *wire.Flow:
			if f.outgoing {
				allowed = p.NextIncomingID.Or(next) + p.IncomingWindow
			}
		case *wire.Transfer:
			transfers++
			if next++; int32(next-allowed) > 0 { // numbers go round
				b.Fatalf("transfer frame %d is %d beyond the window", transfers, int32(next-allowed))
			}
		}
	}
	if transfers < 100 {
		b.Errorf("%d transfer frames", transfers)
	}
}

// TestAddressStyle: an address is written as it was asked for, whatever the broker then makes of it.
func TestAddressStyle(t *testing.T) {
	b := newBench(t, "own")
	name := strings.TrimPrefix(b.address, "queue://")
	for style, want := range map[string]string{"activemq": "queue://" + name, "rabbitmq3": "/queue/" + name, "artemis": name} {
		in := tapped(b)
		b.start("perf-send", "-q", "-o", style+".parquet", "-n", "1", "--address-style", style, b.address).wait() // not each broker takes each
		found := false
		for _, a := range seenOf[*wire.Attach](in, true) {
			found = found || a.Target != nil && a.Target.Address.Or("") == want
		}
		if !found {
			b.Errorf("--address-style %s: no link to %s", style, want)
		}
	}
}

// TestUser: user and password come from flags, a file or the environment, by the mechanism that was asked for.
func TestUser(t *testing.T) {
	ours(t)
	user, password, ok := userOfBroker()
	if !ok {
		return // anybody may do anything there
	}
	b := newBench(t, "own")
	in := tapped(b)
	in.url = "amqp://" + in.listener.Addr().String() // without a user
	b.url = in.url
	file := b.path("password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "1", "--user", user, "--password-file", file, "--sasl", "plain", b.address)
	b.fetch(1, "--user", user, "--password-file", file)
	for _, init := range seenOf[*wire.SASLInit](in, true) {
		if got, secret, _ := wire.SplitPlain(init.InitialResponse); init.Mechanism != "PLAIN" || got != user || secret != password {
			b.Errorf("mechanism %s, user %q", init.Mechanism, got)
		}
	}
	before := len(seenOf[*wire.SASLInit](in, true))
	anonymous := b.start("perf-send", "-q", "-o", "anonymous.parquet", "-n", "1", "--sasl", "anonymous", b.address)
	if anonymous.wait() != 0 && strings.Contains(anonymous.stderr.String(), "SASL") {
		return // the broker does not offer it
	}
	if all := seenOf[*wire.SASLInit](in, true); before != 2 || len(all) != 3 || all[2].Mechanism != "ANONYMOUS" {
		b.Errorf("%d logins with a password, %d in all: %s", before, len(all), anonymous.stderr.String())
	}
}

// userOfBroker is in the URL of the broker's script.
func userOfBroker() (user, password string, ok bool) {
	_, rest, _ := strings.Cut(url, "://")
	info, _, ok := strings.Cut(rest, "@")
	user, password, _ = strings.Cut(info, ":")
	return user, password, ok
}
