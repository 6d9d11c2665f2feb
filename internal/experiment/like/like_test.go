package like

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"amqpperf/internal/dev/golden"
	"amqpperf/internal/experiment/scenario"
)

// theirs are the options of the tools as their own help lists them (Artemis 2.40 and
// qpid-cpp 1.40), with whether one takes a value: none may be missing in the tables.
func theirs() map[string]map[string]bool {
	common := "--url= --protocol= --user= --password= --clientID= --acceptor= --silent --verbose --show-latency --json= --hdr= --duration= --warmup= --message-count= --num-destinations= --commit-interval= --tx-size="
	producing := " --persistent --message-size= --rate= --ttl= --group= --shared-connections --producers= --threads= --max-pending= --enable-msg-id --enable-timestamp"
	consuming := " --tx --shared= --durable --consumers="
	qpid := "--broker= -b= --address= -a= --connection-options= --messages= -m= --tx= --rollback-frequency= --capacity= --failover-updates --report-total --report-every= --report-header= --reply-to=" +
		" --log-enable= --log-disable= --log-prefix= --log-to-file= --log-to-stderr= --log-to-stdout= --log-to-syslog="
	lists := map[string]string{
		"artemis-client":   common + producing + consuming + " --consumer-connections= --consumer-url= --consumer-protocol=",
		"artemis-producer": common + producing,
		"artemis-consumer": common + consuming + " --num-connections=",
		"qpid-send": qpid + " --id= -i= --send-eos= --durable= --ttl= --priority= --property= -P= --correlation-id= --user-id= --auto-user-id= --content-string= --content-size=" +
			" --content-map= -M= --content-stdin --send-rate= --sequence= --timestamp= --group-key= --group-prefix= --group-size= --group-randomize-size --group-interleave=",
		"qpid-receive": qpid + " --timeout= --forever -f --ignore-duplicates --verify-sequence --check-redelivered --ack-frequency= --print-content= --print-object-type= --print-headers=" +
			" --ready-address= --receive-rate= --ignore-reply-to",
	}
	all := map[string]map[string]bool{}
	for tool, list := range lists {
		all[tool] = map[string]bool{}
		for _, word := range strings.Fields(list) {
			name, takes := strings.CutSuffix(word, "=")
			all[tool][name] = takes
		}
	}
	return all
}

// TestEveryOption: each option of each tool has a fate, with a text, and none is invented.
func TestEveryOption(t *testing.T) {
	t.Parallel()
	for tool, want := range theirs() {
		got := map[string]bool{}
		for _, o := range Options(tool) {
			if o.Text == "" || (o.Fate == Mapped) != (o.apply != nil) {
				t.Errorf("%s %v: fate %q, text %q", tool, o.Names, o.Fate, o.Text)
			}
			for _, n := range o.Names {
				if _, twice := got[n]; twice {
					t.Errorf("%s has %s twice", tool, n)
				}
				got[n] = o.Takes
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-theirs +table):\n%s", tool, d)
		}
	}
	if names := Tools(); len(names) != len(theirs()) {
		t.Errorf("tools are %v", names)
	}
}

func flags(g scenario.Group) string {
	var words []string
	for _, f := range g.Flags {
		words = append(words, "--"+f.Name)
		if !f.Bare {
			words = append(words, f.Value)
		}
	}
	return strings.Join(words, " ")
}

// TestTranslate has whole command lines with known answers.
func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tool, args string
		url        string
		addresses  []string
		send, recv string
		notes      int
		env        map[string]string
	}{
		{
			tool: "artemis-client", args: "--protocol AMQP", url: "amqp://localhost:61616", addresses: []string{"queue://TEST"},
			send: "--max-pending 1", notes: 1, env: map[string]string{},
		},
		{
			tool: "artemis-client",
			args: "--url tcp://h:5672?confirmationWindowSize=1&jms.prefetchPolicy.all=7 --protocol=AMQP --user u --password p --clientID c --warmup 20 --duration=120 --max-pending 100 --rate 30000 --persistent --durable --num-destinations 2 --producers 3 --consumers 2 --show-latency --hdr x.hlog topic://t",
			url:  "amqp://h:5672", addresses: []string{"topic://t0", "topic://t1"},
			send: "--user u --container-id c --warmup 20s --duration 120s --rate 30000 --durable --producers 3 --max-pending 100",
			recv: "--credit 7 --user u --container-id c --durable-subscription perf --consumers 2", notes: 3, env: map[string]string{"AMQP_PASSWORD": "p"},
		},
		{
			tool: "artemis-producer", args: "--message-count 10 --message-size 300 --commit-interval 50 --max-pending 10 --shared-connections --threads 4 --ttl 1000 q",
			url: "amqp://localhost:61616", addresses: []string{"queue://q"},
			send: "--count 10 --size 300 --tx 50 --ttl 1000ms --max-pending 50 --connections 4", notes: 1, env: map[string]string{},
		},
		{
			tool: "artemis-producer", args: "--max-pending 0 --duration 5 --threads 2 a::q", url: "amqp://localhost:61616", addresses: []string{"a::q"},
			send: "--duration 5s --max-pending 0", notes: 2, env: map[string]string{},
		},
		{
			tool: "artemis-consumer", args: "--message-count 10 --tx --shared 3 --num-connections 2 topic://t", url: "amqp://localhost:61616", addresses: []string{"topic://t"},
			recv: "--count 10 --tx 1 --shared perf --connections 2 --consumers 3", notes: 1, env: map[string]string{},
		},
		{
			tool: "qpid-send", args: "-b host:5673 -a q -m1000 --content-size 300 --capacity 2000 --connection-options {protocol:amqp1.0} --durable=yes --tx 10 --rollback-frequency 4 -P a=b",
			url: "amqp://host:5673", addresses: []string{"q"},
			send: "--durable --tx 10 --tx-rollback 0.25 --property a=b --max-pending 2000 --count 1000 --size 300 --stamp properties", env: map[string]string{},
		},
		{
			tool: "qpid-send", args: "-a q", url: "amqp://127.0.0.1", addresses: []string{"q"}, send: "--max-pending 1000 --count 1 --size 0 --stamp properties", notes: 1, env: map[string]string{},
		},
		{
			tool: "qpid-receive", args: "-a q --connection-options {protocol:amqp1.0,username:u,password:p}", url: "amqp://127.0.0.1", addresses: []string{"q"},
			recv: "--user u --credit 1000 --idle 1s --wait 1s --ack-every 100", notes: 1, env: map[string]string{"AMQP_PASSWORD": "p"},
		},
		{
			tool: "qpid-receive", args: "-a q -m 50 -f --capacity 0 --ack-frequency 0 --print-content no --connection-options {protocol:amqp1.0}", url: "amqp://127.0.0.1", addresses: []string{"q"},
			recv: "--count 50 --credit 1 --wait 1000h0m0s --browse", notes: 1, env: map[string]string{},
		},
	} {
		t.Run(test.tool+" "+test.args, func(t *testing.T) {
			t.Parallel()
			r, err := Translate(test.tool, strings.Fields(test.args))
			if err != nil {
				t.Fatal(err)
			}
			s := r.Scenario
			if s.NoSend {
				s.Send[0].Flags = nil
			}
			if s.NoRecv {
				s.Recv[0].Flags = nil
			}
			got := []string{s.URL, strings.Join(s.Addresses, " "), flags(s.Send[0]), flags(s.Recv[0])}
			want := []string{test.url, strings.Join(test.addresses, " "), test.send, test.recv}
			for i := range want {
				sorted := func(text string) []string { return slices.Sorted(slices.Values(strings.Split(text, " --"))) }
				if strings.TrimPrefix(got[i], "--") != strings.TrimPrefix(want[i], "--") && !cmp.Equal(sorted(" "+got[i]), sorted(" "+want[i])) {
					t.Errorf("got  %s\nwant %s", got[i], want[i])
				}
			}
			if len(r.Notes) != test.notes {
				t.Errorf("%d notes: %q", len(r.Notes), r.Notes)
			}
			if d := cmp.Diff(test.env, r.Env, cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestDocumentation: docs/like.md has the tables that the program goes by.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "docs", "like.md")
	const begin, end = "<!-- tables of options, written by a test -->\n", "<!-- end of tables -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the tables", path)
	}
	want := "\n" + Markdown()
	if golden.Update() && old != want {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, old); d != "" {
		t.Errorf("%s (make golden):\n%s", path, d)
	}
}

// TestRefused shows what is said of what cannot be done.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ tool, args, want string }{
		{"artemis-client", "--protocol CORE", "--like artemis-client: option --protocol: CORE is a protocol of Artemis alone; AMQP 1.0, which the same port serves, is what is spoken here: --protocol AMQP"},
		{"artemis-client", "--consumer-protocol CORE", "--like artemis-client: option --consumer-protocol: CORE is a protocol of Artemis alone; AMQP 1.0, which the same port serves, is what is spoken here: --protocol AMQP"},
		{"artemis-client", "--acceptor x", "--like artemis-client: option --acceptor: there is no broker.xml here to look it up in: give --url"},
		{"artemis-client", "--durable topic://t", "--like artemis-client: --durable needs --clientID: a durable subscription belongs to one"},
		{"artemis-client", "--url tcp://h?sslEnabled=true", "--like artemis-client: option --url: sslEnabled=true: write amqps://HOST:PORT, and see perf-send --help for --tls-ca"},
		{"artemis-client", "--nope", "--like artemis-client: it has no option --nope"},
		{"artemis-client", "--rate", "--like artemis-client: option --rate needs a value"},
		{"artemis-client", "--rate x", `--like artemis-client: option --rate: "x" is no whole number`},
		{"qpid-send", "-a q --content-string x", "--like qpid-send: option --content-string: write it into a file, and use perf-send --content FILE --stamp properties"},
		{"qpid-send", "", "--like qpid-send: --address is needed"},
		{"qpid-send", "-a q;{create:always}", "--like qpid-send: option --address: options of an address after ';' are not understood: make the queue beforehand, or let the broker"},
		{"qpid-send", "-a q --messages 0", "--like qpid-send: option --messages: 0 goes on for ever: give a number, or use perf-send"},
		{"qpid-receive", "-a q x", `--like qpid-receive: "x": it takes no arguments but options`},
		{"kafka", "", "--like kafka: the tools are artemis-client, artemis-producer, artemis-consumer, qpid-send, qpid-receive"},
	} {
		if _, err := Translate(test.tool, strings.Fields(test.args)); err == nil || err.Error() != test.want {
			t.Errorf("%s %s:\ngot  %v\nwant %s", test.tool, test.args, err, test.want)
		}
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add("artemis-client", "--url tcp://h:1 --rate 5 q")
	f.Add("qpid-send", "-a q -m 5 --connection-options {a:b,c}")
	f.Fuzz(func(t *testing.T, tool, args string) {
		r, err := Translate(tool, strings.Fields(args))
		if err == nil && r.Scenario == nil {
			t.Error("neither scenario nor error")
		}
	})
}
