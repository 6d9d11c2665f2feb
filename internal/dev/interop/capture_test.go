package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp/wire"
)

// TestCaptureDecodes: everything that perf-send, perf-recv and perf-broker say to each other is AMQP to the dissector of
// Wireshark too: no frame is malformed, and it sees the same frames as we do.
func TestCaptureDecodes(t *testing.T) {
	t.Parallel()
	tshark := environment(t, "PERF_TEST_TSHARK")
	p := newTap(t, broker(t))
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for i, flags := range [][]string{
		{"-n", "300", "-s", "200"},
		{"-n", "5", "-s", "200000"}, // each in several frames
		{"-n", "50", "--presettled", "--producers", "2", "--durable"},
	} {
		ready, queue := path(fmt.Sprint("ready", i)), fmt.Sprint("queue://capture", i)
		wait := start(t, p.url, "perf-recv", "-q", "-o", path(fmt.Sprint("recv", i)), "-n", flags[1], "--credit", "40", "--wait", "60s", "--ready-file", ready, queue)
		appears(t, ready)
		run(t, p.url, command(t, "perf-send"), append(flags, "-q", "-o", path(fmt.Sprint("send", i)), queue)...)
		wait()
	}
	pcap, said := p.capture()
	file := path("run.pcap")
	if err := os.WriteFile(file, pcap, 0o600); err != nil {
		t.Fatal(err)
	}
	// One line for each packet: the performatives of the frames that end in it, and what is wrong with them.
	out := run(t, "", tshark, "-n", "-r", file, "-d", fmt.Sprintf("tcp.port==%d,amqp", brokerPort), "-T", "fields", "-E", "separator=;",
		"-e", "frame.number", "-e", "amqp.performative", "-e", "amqp.sasl.method", "-e", "amqp.performative.arguments.more",
		"-e", "_ws.malformed", "-e", "_ws.expert.message")
	got := map[wire.Code]int{}
	for line := range strings.Lines(out) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), ";")
		if len(cells) != 6 {
			t.Fatalf("tshark printed %q", line)
		}
		// The dissector takes each transfer for a whole message: the data section of one that goes on in the next frame
		// ends too early for it.
		goesOn := strings.ContainsAny(cells[3], "1T")
		if bad := cells[4] + cells[5]; strings.Contains(strings.ToLower(bad), "malformed") && !goesOn {
			t.Errorf("packet %s: %s", cells[0], bad)
		}
		for text := range strings.SplitSeq(cells[1]+","+cells[2], ",") {
			if text == "" {
				continue
			}
			code, err := strconv.ParseUint(text, 0, 8)
			if err != nil {
				t.Fatalf("tshark printed %q: %v", line, err)
			}
			got[wire.Code(code)]++
		}
	}
	if d := cmp.Diff(performatives(t, said), got); d != "" {
		t.Errorf("frames by code (-ours +tshark's)\n%s", d)
	}
	if got[wire.CodeTransfer] < 2*(300+5*4+50) || got[wire.CodeDisposition] == 0 || got[wire.CodeFlow] == 0 {
		t.Errorf("the capture has not what it should: %v", got)
	}
}

// performatives counts the frames of all directions as we decode them.
func performatives(t *testing.T, said [][]byte) map[wire.Code]int {
	t.Helper()
	n := map[wire.Code]int{}
	for i, b := range said {
		for len(b) > 0 {
			if strings.HasPrefix(string(b), string(wire.ProtocolAMQP[:4])) {
				b = b[wire.FrameHeaderSize:]
				continue
			}
			f, size, err := wire.Cut(b, 1<<20)
			if err != nil || size == 0 {
				t.Fatalf("direction %d ends within a frame: %d bytes left, %v", i, len(b), err)
			}
			b = b[size:]
			if len(f.Body) == 0 {
				continue // a heartbeat
			}
			code, err := wire.BodyCode(f.Body)
			if err != nil {
				t.Fatal(err)
			}
			n[code]++
		}
	}
	return n
}
