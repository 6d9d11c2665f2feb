package brokertest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"amqpperf/internal/dev/golden"
)

// feature is what a broker does with something that perf-send and perf-recv can ask for.
type feature struct {
	Name string `json:"name"`
	// Verdict is yes, no (it is taken, and not done), refused, or that it ends the broker.
	Verdict string `json:"verdict"`
	Text    string `json:"text,omitempty"` // what is to be known, or how our programs tell
}

// brokerFeatures is the content of testdata/features/NAME.json.
type brokerFeatures struct {
	Broker   string    `json:"broker"`
	Product  string    `json:"product"` // by its open frame
	Features []feature `json:"features"`
}

// probe tries one feature with the real programs.
type probe struct {
	name string
	try  func(p *prober) (verdict, text string)
}

// prober is a probe's folder and addresses.
type prober struct {
	*bench
	queue, topic string
	n            int
}

// probes are in the order of the table.
func probes() []probe {
	return []probe{
		{"address of a queue", func(p *prober) (string, string) { return p.attached("queue://name") }},
		{"address of a topic", func(p *prober) (string, string) { return p.attached("topic://name") }},
		{"wrong password", wrongPassword},
		{"durable messages", func(p *prober) (string, string) { return p.roundTrip([]string{"--durable"}, []string{"--durable"}, 20) }},
		{"pre-settled sender", func(p *prober) (string, string) { return p.roundTrip([]string{"--presettled"}, nil, 20) }},
		{"pre-settled receiver", func(p *prober) (string, string) { return p.roundTrip(nil, []string{"--presettled"}, 20) }},
		{"transactions of a sender", func(p *prober) (string, string) { return p.roundTrip([]string{"--tx", "5"}, nil, 20) }},
		{"transactions of a receiver", func(p *prober) (string, string) { return p.roundTrip(nil, []string{"--tx", "5"}, 20) }},
		{"selector", func(p *prober) (string, string) {
			return p.roundTrip([]string{"--property", "n:long={seq}"}, []string{"--selector", "n >= 10"}, 10)
		}},
		{"browsing", browsing},
		{"released messages come again", releasing},
		{"modified messages come again", modifying},
		{"modified, and undeliverable here", undeliverable},
		{"time to live", timeToLive},
		{"priority", priority},
		{"message groups", groups},
		{"durable subscription", durableSubscription},
		{"shared subscription", sharedSubscription},
		{"larger than a frame (1 MiB)", func(p *prober) (string, string) { return p.roundTrip([]string{"--size", "1MiB"}, nil, 20) }},
		{"TLS", overTLS},
		{"a client's certificate (SASL EXTERNAL)", byCertificate},
		{"durable messages after a kill", afterKill},
		{"a durable subscription after a kill", subscriptionAfterKill},
		{"queue deleted under a sender", deletedUnderSender},
		{"queue deleted under a receiver", deletedUnderReceiver},
		{"memory alarm holds a sender back", memoryAlarm},
	}
}

// TestFeatures tries what there is on the broker at hand. With -update it writes testdata/features/NAME.json, of which
// docs/brokers.md is made (TestMatrix); else a verdict that has changed is an error, since the documentation is then wrong.
func TestFeatures(t *testing.T) {
	b := newBench(t, "own")
	name := cmp.Or(os.Getenv("PERF_TEST_BROKER"), "other")
	got := brokerFeatures{Broker: name, Product: b.product()}
	for i, pr := range probes() {
		p := &prober{bench: b, queue: fmt.Sprintf("%s-f%d", b.address, i)}
		p.topic = "topic://" + strings.TrimPrefix(p.queue, "queue://")
		verdict, text := pr.try(p)
		if strings.Contains(text, gone) {
			// The probe before has ended it.
			got.Features[i-1].Verdict = "ends the broker"
			restart(t)
			verdict, text = pr.try(p)
		}
		t.Logf("%s: %s %s", pr.name, verdict, text)
		got.Features = append(got.Features, feature{pr.name, verdict, p.clean(text)})
	}
	if _, refusal := (&prober{bench: b, queue: b.address + "-last"}).send(b.address, 1); strings.Contains(refusal, gone) {
		got.Features[len(got.Features)-1].Verdict = "ends the broker"
		restart(t)
	}
	path := filepath.Join("testdata", "features", name+".json")
	if golden.Update() {
		text, err := json.MarshalIndent(got, "", "  ")
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Logf("%s is not there: -update writes it", path)
		return
	}
	var want brokerFeatures
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range got.Features {
		i := slices.IndexFunc(want.Features, func(w feature) bool { return w.Name == f.Name })
		if i < 0 || want.Features[i].Verdict != f.Verdict {
			t.Errorf("%s: %s is %s (%s), docs/brokers.md says otherwise: -update", name, f.Name, f.Verdict, f.Text)
		}
	}
}

// gone is what our programs say of a broker that is no more.
const gone = "nobody listens there"

// restart starts the broker again; its URL is another one then.
func restart(t *testing.T) {
	t.Helper()
	ours(t)
	if err := startBroker(); err != nil {
		t.Fatalf("the broker has ended, and cannot be started again: %v", err)
	}
}

// TestMatrix: docs/brokers.md has the table of what was found on the brokers.
func TestMatrix(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "features", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []brokerFeatures
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var b brokerFeatures
		if err := json.Unmarshal(text, &b); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, b)
	}
	section(t, "matrix", matrix(all))
}

// section compares a part of docs/brokers.md, or writes it with -update.
func section(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "docs", "brokers.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+", written by make broker-test -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for %s", path, name)
	}
	if golden.Update() && old != want {
		if err := os.WriteFile(path, []byte(before+begin+want+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != want {
		t.Errorf("%s is not what testdata has (make golden):\n%s", path, want)
	}
}

// matrix is a table of all brokers, and under it how our programs tell what is refused.
func matrix(all []brokerFeatures) string {
	if len(all) == 0 {
		return "not measured yet\n"
	}
	var b strings.Builder
	head, rule := "| |", "|---|"
	for _, x := range all {
		head += " " + escaped(x.Product) + " |"
		rule += "---|"
	}
	fmt.Fprintf(&b, "\n%s\n%s\n", head, rule)
	notes := map[string][]string{}
	for _, pr := range probes() {
		row := "| " + pr.name + " |"
		for _, x := range all {
			i := slices.IndexFunc(x.Features, func(f feature) bool { return f.Name == pr.name })
			cell := ""
			if i >= 0 {
				f := x.Features[i]
				cell = f.Verdict
				switch {
				case strings.HasPrefix(pr.name, "address of") && f.Verdict == "yes":
					cell = "`" + strings.ReplaceAll(f.Text, "|", "/") + "`"
				case f.Text != "":
					notes[x.Product] = append(notes[x.Product], fmt.Sprintf("- %s: %s: %s", pr.name, f.Verdict, escaped(f.Text)))
				}
			}
			row += " " + cell + " |"
		}
		fmt.Fprintln(&b, row)
	}
	for _, x := range all {
		if len(notes[x.Product]) > 0 {
			fmt.Fprintf(&b, "\n%s:\n\n%s\n", escaped(x.Product), strings.Join(notes[x.Product], "\n"))
		}
	}
	return b.String() + "\n"
}

func escaped(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}

// clean takes what is different each time out of a message.
func (p *prober) clean(text string) string {
	_, host, ok := strings.Cut(url, "://")
	if i := strings.LastIndex(host, "@"); i >= 0 {
		host = host[i+1:]
	}
	if ok {
		text = strings.ReplaceAll(text, host, "HOST")
	}
	text, _, _ = strings.Cut(text, "?Disposition was:") // RabbitMQ shows the frame
	name := strings.TrimPrefix(p.queue, "queue://")
	return strings.ReplaceAll(text, name, "NAME")
}
