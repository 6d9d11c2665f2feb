package perfsend

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"amqpperf/internal/cli"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/schedule"
)

// prepared is a run as the command line says, before it touches a network.
func prepared(t *testing.T, args string) (*run, error) {
	t.Helper()
	env := &cli.Env{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Getenv: func(string) string { return "" }}
	o := newOptions()
	cmd := &cobra.Command{Use: "x"}
	o.register(cmd, env)
	if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return prepare(env, o, cmd.Flags(), cmd.Flags().Args())
}

func mustPrepare(t *testing.T, args string) *run {
	t.Helper()
	r, err := prepared(t, args)
	if err != nil {
		t.Fatalf("%s: %v", args, err)
	}
	return r
}

// intent is a message as a process intends it.
type intent struct {
	offset  int64
	address string
	size    int32
}

func (r *run) intents() (out []intent) {
	for k, s := range r.schedules {
		for seq := range s.N() {
			out = append(out, intent{s.At(seq), r.address(k), r.sizeOf(k, seq)})
		}
	}
	slices.SortFunc(out, func(a, b intent) int {
		return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.address, b.address), cmp.Compare(a.size, b.size))
	})
	return out
}

// recording is a replay in CSV: three destinations, sizes, instants that coincide.
func recording(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("offset,size,destination\n")
	for i := range 100 {
		fmt.Fprintf(&b, "%d,%d,queue://d%d\n", i/3*1_234_567, 100+i, i*i%3)
	}
	name := filepath.Join(t.TempDir(), "arrivals.csv")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Five processes with --share 1/5 … 5/5 intend exactly what one does without:
// the same instants, and of a replay the same destinations and sizes.
func TestSharesAreTheWhole(t *testing.T) {
	t.Parallel()
	file := recording(t)
	for _, load := range []struct {
		flags  string
		exact  bool // destinations and sizes, too
		target string
	}{
		{"-r 1k -d 777ms", false, "queue://a queue://b"},
		{"-r 7/s -n 123", false, "queue://a"},
		{"--schedule 100:1s,0:500ms,50-1k:1s --repeat 3", false, "queue://a"},
		{"--schedule 100:1s --repeat forever -n 333", false, "queue://a"},
		{"-r 500 --arrivals poisson --seed 7 -d 3s", false, "queue://a"},
		{"-r 500 --arrivals poisson --seed 7 -n 999", false, "queue://a"},
		{"--schedule 10-1k:2s,0:1s --arrivals poisson --seed 8", false, "queue://a"},
		{"--bursts 1k:200ms,10:1s --seed 9 -d 5s", false, "queue://a"},
		{"--replay " + file, true, ""},
		{"--replay " + file + " --speed 3x --loop -n 777", true, ""},
		{"--replay " + file + " -s 500", false, "queue://x queue://y"},
	} {
		args := load.flags + " --producers 3 --run r " + load.target
		whole := mustPrepare(t, args).intents()
		var parts []intent
		for k := 1; k <= 5; k++ {
			parts = append(parts, mustPrepare(t, fmt.Sprintf("--share %d/5 --start-at 2999-01-01T00:00:00Z %s", k, args)).intents()...)
		}
		slices.SortFunc(parts, func(a, b intent) int {
			return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.address, b.address), cmp.Compare(a.size, b.size))
		})
		if len(whole) < 90 || len(whole) != len(parts) {
			t.Errorf("%s: %d messages, %d in shares", load.flags, len(whole), len(parts))
			continue
		}
		for i := range whole {
			if whole[i].offset != parts[i].offset || load.exact && whole[i] != parts[i] {
				t.Errorf("%s: message %d is %v, in shares %v", load.flags, i, whole[i], parts[i])
				break
			}
		}
	}
}

// The pacer's runs reach exactly the producers whose schedule they are, whatever
// their length: each gets its messages in order, all of them, when they are due.
func TestSplitFollowsTheSchedules(t *testing.T) {
	t.Parallel()
	file := recording(t)
	for _, args := range []string{
		"-r 1k -n 100 --producers 3 queue://a queue://b", "--replay " + file + " --producers 2", "--replay " + file + " --loop -n 450 --producers 3",
		"--replay " + file + " --loop -n 451 --share 2/4 --run r --start-at 2999-01-01T00:00:00Z", "--replay " + file + " queue://a",
	} {
		r := mustPrepare(t, args)
		whole := r.planned.whole
		next := make([]int64, r.producers)
		for first, width := int64(0), int64(1); first < whole.N(); width = width%9 + 1 {
			n := min(width, whole.N()-first)
			left := n
			r.split(pace.Run{First: first, Count: n, Ready: first}, func(k int, run pace.Run) {
				if run.First != next[k] || run.Ready != first {
					t.Fatalf("%s: producer %d goes on with %+v, want %d", args, k, run, next[k])
				}
				next[k] += run.Count
				left -= run.Count
				for j := run.First; j < run.First+run.Count; j++ {
					if at := r.schedules[k].At(j); at < whole.At(first) || at > whole.At(first+n-1) {
						t.Fatalf("%s: producer %d has a message of %d among those of %d to %d", args, k, at, whole.At(first), whole.At(first+n-1))
					}
				}
			})
			if left != 0 {
				t.Fatalf("%s: %d messages more were handed out than were due", args, -left)
			}
			first += n
		}
		for k, s := range r.schedules {
			if next[k] != s.N() {
				t.Errorf("%s: producer %d got %d of %d", args, k, next[k], s.N())
			}
		}
	}
}

// Producers stand between each other, and rates and counts that do not divide are
// shared out with their remainders.
func TestStaggered(t *testing.T) {
	t.Parallel()
	r := mustPrepare(t, "-r 1k -n 10 --producers 3 queue://a")
	for k, want := range []int64{4, 3, 3} {
		if s := r.schedules[k]; s.N() != want || s.At(0) != int64(k)*1_000_000 || s.At(1) != int64(k+3)*1_000_000 {
			t.Errorf("producer %d: %d messages, at %d and %d", k, s.N(), s.At(0), s.At(1))
		}
	}
}

// Why a run ends by itself.
func TestStops(t *testing.T) {
	t.Parallel()
	file := recording(t)
	for args, want := range map[string]string{
		"-r 1k -n 10": stopCount, "-r 1k -d 1s": stopDuration, "-r 1k -d 1s -n 10": stopCount, "-r 1k -d 1s -n 1M": stopDuration,
		"--schedule 1k:1s": stopDuration, "--schedule 1k:1s -n 5": stopCount, "--replay " + file: stopCount, "--replay " + file + " -d 1ms": stopDuration,
		"-r 1k --arrivals poisson --seed 1 -d 1s": stopDuration, "-r 1k --arrivals poisson --seed 1 -n 5 -d 1m": stopCount, "-n 5": stopCount,
	} {
		if got := mustPrepare(t, args+" queue://a").stop; got != want {
			t.Errorf("%s: stopped by %s, want %s", args, got, want)
		}
	}
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	r := mustPrepare(t, "-n 1 --num-destinations 3 --producers 2 queue://a%d topic://b%d/%d")
	want := []string{"queue://a0", "queue://a1", "queue://a2", "topic://b0/0", "topic://b1/1", "topic://b2/2"}
	if !slices.Equal(r.addresses, want) || r.producers != 12 || r.address(7) != "queue://a1" {
		t.Errorf("%v, %d producers", r.addresses, r.producers)
	}
}

// Flags that contradict each other, or would be ignored, are errors that name both.
func TestContradictions(t *testing.T) {
	t.Parallel()
	file := recording(t)
	share := " --run r --start-at 2999-01-01T00:00:00Z"
	for args, want := range map[string]string{
		"-r 1k --rate-per-producer 1k":                      "--rate and --rate-per-producer",
		"-r 1k --schedule 1k:1s":                            "--rate and --schedule",
		"--schedule 1k:1s --bursts 1:1s,2:1s":               "--schedule and --bursts",
		"-r 1k --replay " + file:                            "--rate and --replay",
		"--bursts 1:1s,2:1s --replay " + file:               "--bursts and --replay",
		"--repeat 2 -r 1k":                                  "--repeat is about --schedule",
		"--speed 2x -r 1k":                                  "--speed is about --replay",
		"--loop -r 1k":                                      "--loop is about --replay",
		"--arrivals poisson":                                "--arrivals poisson needs",
		"--arrivals poisson -r max":                         "--arrivals poisson needs",
		"--arrivals poisson --bursts 1:1s,2:1s":             "--arrivals and --bursts",
		"--arrivals constant --replay " + file:              "--arrivals and --replay",
		"--seed 1 -r 1k":                                    "--seed: there is nothing to draw",
		"--seed 1 -r 1k --property a={seq}":                 "--seed: there is nothing to draw",
		"--share 1/2 -r 1k --start-at 2999-01-01T00:00:00Z": "--share needs --run",
		"--share 1/2 -r 1k --run r":                         "--share needs --start-at",
		"--share 1/2 -r 1k --run r --start-at +30s":         "--share and --start-at +30s",
		"--share 1/2 -n 5" + share:                          "--share is a part of a schedule",
		"--share 1/2 -r max -n 5" + share:                   "--share is a part of a schedule",
		"--share 1/2 --rate-per-producer 5" + share:         "--share and --rate-per-producer",
		"--share 1/2 -r 5 --arrivals poisson" + share:       "same --seed",
		"--share 1/2 --bursts 1:1s,2:1s" + share:            "same --seed",
		"--dry-run -n 5":                                    "--dry-run shows a schedule",
		"--num-destinations 5":                              "no %d in queue://a",
		"--num-destinations 0":                              "--num-destinations 0",
		"--resend":                                          "--resend is about --reconnect",
		"--tx-rollback 0.5":                                 "--tx-rollback is about --tx",
		"--tx 0":                                            "--tx 0: at least 1",
		"--tx 10 --presettled":                              "--tx and --presettled",
		"--tx 10 --max-pending 9":                           "--max-pending 9 is less than --tx 10",
		"--priority 256":                                    "--priority 256",
		"--ttl -1s":                                         "--ttl -1s",
		"--ttl 1us":                                         "whole ms",
		"--content-lines":                                   "--content-lines is about --content",
		"-s 5k --content " + file:                           "--size and --content",
		"--content /does/not/exist":                         "--content: open",
		"--property a=1 --property a=2":                     "given twice",
		"-s 10..1k --run r":                                 "holds a stamp of 65 bytes",
		"--schedule 1k:1s --arrivals poisson -d 9000h --repeat forever -r 5": "--rate and --schedule",
	} {
		_, err := prepared(t, args+" queue://a")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", args, err, want)
			continue
		}
		var exit *cli.ExitError
		if !errors.As(err, &exit) && !strings.Contains(err.Error(), "--content") {
			t.Errorf("%s: %v is no usage error", args, err)
		}
	}
	if _, err := prepared(t, "--tx 10 --client library queue://a"); err == nil || !strings.Contains(err.Error(), "--tx and --client library") {
		t.Errorf("transactions of go-amqp: %v", err)
	}
	if _, err := prepared(t, "--num-destinations 2 --replay "+file); err == nil || !strings.Contains(err.Error(), "--num-destinations 2: give an ADDRESS") {
		t.Errorf("numbers for addresses that are recorded: %v", err)
	}
	nowhere := filepath.Join(t.TempDir(), "nowhere.csv")
	if err := os.WriteFile(nowhere, []byte("0\n1ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := prepared(t, "--replay "+nowhere); err == nil || !strings.Contains(err.Error(), "give an ADDRESS") {
		t.Errorf("a recording without destinations: %v", err)
	}
}

// What of a recording is smaller than a stamp is raised, and that is counted; -s
// replaces recorded sizes, and properties need no room in the body.
func TestReplayedSizes(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "sizes.csv")
	if err := os.WriteFile(name, []byte("offset,size\n0,10\n1ms,500\n2ms,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string][]int32{
		"": {65, 500, 1024}, "-s 700": {700, 700, 700}, "--stamp properties": {10, 500, 1024},
	} {
		r := mustPrepare(t, "--run r "+args+" --replay "+name+" queue://a")
		got := []int32{r.sizeOf(0, 0), r.sizeOf(0, 1), r.sizeOf(0, 2)}
		if raised := args == ""; !slices.Equal(got, want) || (r.bodies.raised == 1) != raised {
			t.Errorf("%q: sizes %v, want %v; %d raised", args, got, want, r.bodies.raised)
		}
	}
}

// A dry run says what will be, and nothing is connected to.
func TestDryRun(t *testing.T) {
	t.Parallel()
	r := mustPrepare(t, "--dry-run --schedule 1k:2s,0:1s,0-2k:1s --producers 2 -s 300 queue://a")
	var b bytes.Buffer
	if err := r.dryRun(&b); err != nil {
		t.Fatal(err)
	}
	want := `1k/s for 2s, then pause for 1s, then 0/s to 2k/s over 1s
` + r.planned.spec.Hash() + `
2 producers for queue://a

        from           to  rate:length                 messages
          0s           2s  1k:2s                          2,000
          2s           3s  0:1s                               0
          3s           4s  0-2k:1s                        1,000

3,000 messages, the last one at 3.999499874s
        from       messages     per second
          0s          1,000           1000
          1s          1,000           1000
          2s              0              0
          3s          1,000           1000

      offset  producer          seq     size  destination
          0s         0            0      300  queue://a
         1ms         1            0      300  queue://a
         2ms         0            1      300  queue://a
         3ms         1            1      300  queue://a
         4ms         0            2      300  queue://a
         5ms         1            2      300  queue://a
         6ms         0            3      300  queue://a
         7ms         1            3      300  queue://a
         8ms         0            4      300  queue://a
         9ms         1            4      300  queue://a
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	if s, err := r.planned.spec.Build(nil); err != nil || s.(*schedule.Shape).N() != 3000 {
		t.Errorf("%v, %v", s, err)
	}
}
