package brokertest

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The longest silence that either side of TestSoakIdle allows, and how long its connections live: ten times that.
const (
	silenceLimit = 4
	idleSeconds  = 10 * silenceLimit
)

// soak skips a test that takes minutes.
func soak(t *testing.T) {
	t.Helper()
	ours(t)
	if os.Getenv("SOAK") == "" {
		t.Skip("takes minutes: set SOAK=1")
	}
}

// TestSoakIdle keeps connections for ten times the idle limit, which is that of our programs and the broker's too: without a
// message, with one a second, and as fast as it goes; with both clients, with and without TLS. Nothing may end a connection, since
// nothing makes it again.
func TestSoakIdle(t *testing.T) {
	soak(t)
	const instance = "-idle"
	if _, err := brokerScript(instance, nil, "stop"); err != nil {
		t.Fatal(err)
	}
	env := append(tlsEnv(), fmt.Sprintf("HEARTBEAT=%d", silenceLimit))
	plain, err := brokerScript(instance, env, "start")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := brokerScript(instance, nil, "stop"); err != nil {
			t.Error(err)
		}
	})
	urls := map[string]string{"plain": plain}
	if tlsEnv() != nil {
		if urls["tls"], err = brokerScript(instance, nil, "tls-url"); err != nil {
			t.Fatal(err)
		}
	}
	// A broker whose JVM is cold may not get through a handshake within its own limit.
	for way, url := range urls {
		b := newBench(t, "own")
		b.url = url
		b.run("perf-send", append([]string{"-q", "-o", "warm.parquet", "-n", "1", b.address}, idleFlags(way)...)...)
	}
	// First the quiet ones, all at once; then as fast as it goes, all at once.
	t.Run("quiet", func(t *testing.T) {
		idleVariants(t, urls, "silent", "--schedule", fmt.Sprintf("2:500ms,0:%ds,2:500ms", idleSeconds))
		idleVariants(t, urls, "slow", "-r", "1", "-d", fmt.Sprintf("%ds", idleSeconds))
	})
	t.Run("busy", func(t *testing.T) {
		idleVariants(t, urls, "full", "-d", fmt.Sprintf("%ds", idleSeconds), "--max-pending", "100", "--drain", "60s")
	})
}

// idleVariants runs a load over each way to connect, in parallel with others.
func idleVariants(t *testing.T, urls map[string]string, load string, options ...string) {
	for way, url := range urls {
		for _, client := range []string{"own", "library"} {
			t.Run(load+"/"+way+"/"+client, func(t *testing.T) {
				t.Parallel()
				b := newBench(t, client)
				b.url = url
				b.livesOn(idleFlags(way), options)
			})
		}
	}
}

// idleFlags are those of a connection, plain or tls, whose silence is limited.
func idleFlags(way string) []string {
	limits := []string{"--idle-timeout", fmt.Sprintf("%ds", silenceLimit)}
	if way == "tls" {
		limits = append(limits, "--tls-ca", filepath.Join(bin, "ca.pem"))
	}
	return limits
}

// livesOn sends and receives with these options and wants all to arrive over the first connections.
func (b *bench) livesOn(limits, load []string) {
	b.Helper()
	recv := b.receiver("recv.parquet", append([]string{"--idle", fmt.Sprintf("%ds", idleSeconds+20)}, limits...)...)
	send := b.start("perf-send", append(append([]string{"-q", "-o", "send.parquet", b.address}, limits...), load...)...)
	send.wait()
	if text := send.stderr.String(); text != "" || send.wait() != 0 {
		b.Errorf("perf-send: exit status %d\n%s", send.wait(), text)
	}
	b.eventually(recv, "all that was accepted", func() bool { return b.missing("send.parquet", "recv.parquet") == 0 })
	recv.signal(syscall.SIGTERM)
	recv.want(0)
	n := b.rows("send.parquet")
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{"intended": n, "accepted": n, "received": n, "lost": 0, "duplicate": 0})
	for _, log := range []string{"send.parquet", "recv.parquet"} {
		if b.has(log, "error", "detach", "reconnect") {
			b.Errorf("%s: %v", log, b.events(log))
		}
	}
	b.Logf("%d messages", n)
}
