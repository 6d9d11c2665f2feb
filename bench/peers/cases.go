package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// variant is one row of a case: a tool with a load.
type variant struct {
	kind  string // for -tools
	tool  string // in tables
	param string // in tables: which rows belong together
	load  load
	run   func(context.Context, load, *run) error
}

// benchCase is a question that is put to several tools.
type benchCase struct {
	name, title string
	brokers     []string // where it is run unless -brokers says otherwise
	variants    func(*bench, *broker) []variant
	columns     []column
	ratio       string // the value of which the first tool's is divided by every other's; "" for no such column
}

func allCases() []*benchCase {
	return []*benchCase{
		{"max", "Maximum rate", []string{"artemis", "brokerj", "rabbitmq", "proton", perfBroker}, maxRate, maxColumns(), "recv_per_s"},
		{"paced", "A rate that is asked for", []string{"artemis", "rabbitmq"}, paced, pacedColumns(), ""},
		{"connections", "Many connections", []string{"artemis"}, connections, connectionColumns(), ""},
		{"recording", "What recording costs", []string{perfBroker, "artemis"}, recording, recordingColumns(), "summary_recv_per_s"},
		{"stall", "A broker that stands still for a second", []string{"artemis", "rabbitmq"}, stalled, stallColumns(), ""},
		{"pacing", "The pacer, and whose fault a stall is", []string{perfBroker}, pacing, pacingColumns(), ""},
	}
}

const ourName = "perf-send + perf-recv"

// own makes a row of our tools for each -client.
func (b *bench) own(k *broker, param, suffix string, l load) []variant {
	var all []variant
	for _, client := range b.clients {
		tool := ourName + suffix
		if client != "" {
			tool += ", --client " + client
		}
		l.client = client
		all = append(all, variant{"ours", tool, param, l, func(ctx context.Context, l load, r *run) error { return b.ours(ctx, k, l, r) }})
	}
	return all
}

// peers makes a row for each tool that can load this broker with a window; the Java tools are told the same window and rate.
func (b *bench) peers(k *broker, param string, l load) []variant {
	client := func(kind, tool, protocol string) variant {
		return variant{kind, tool, param, l, func(ctx context.Context, l load, r *run) error { return b.artemis(ctx, k, l, protocol, r) }}
	}
	var all []variant
	switch k.name {
	case "artemis":
		all = []variant{
			client("artemis-amqp", "Artemis perf client, AMQP", "AMQP"),
			client("artemis-core", "Artemis perf client, CORE, real acks", "CORE"),
		}
	case "brokerj":
		all = []variant{client("artemis-amqp", "Artemis perf client, AMQP", "AMQP")}
	case "rabbitmq":
		all = []variant{{"perftest", "PerfTest, AMQP 0-9-1", param, l, func(ctx context.Context, l load, r *run) error { return b.perftest(ctx, k, l, r) }}}
	default:
		return nil
	}
	if b.tools["omq"] != "" && k.name == "artemis" {
		all = append(all, variant{"omq", "omq, AMQP", param, l, func(ctx context.Context, l load, r *run) error { return b.omq(ctx, k, l, r) }})
	}
	return all
}

// unwindowed are the tools that know no window but the credit that the broker grants, and no rate.
func (b *bench) unwindowed(k *broker, param string, l load) []variant {
	if b.tools["quiver"] == "" || k.name != "artemis" && k.name != "proton" {
		return nil
	}
	return []variant{{"quiver", "quiver, its C arrows", param, l, func(ctx context.Context, l load, r *run) error { return b.quiver(ctx, k, l, r) }}}
}

// unlimited is the load of tools without a window.
const unlimited = "no window but the broker's credit"

func inFlight(n int) string { return fmt.Sprintf("%d in flight", n) }

func maxRate(b *bench, k *broker) []variant {
	var all []variant
	for _, w := range b.windows {
		l := load{seconds: b.seconds, warmup: b.warmup, window: w}
		all = append(all, b.own(k, inFlight(w), "", l)...)
		all = append(all, b.peers(k, inFlight(w), l)...)
	}
	param := inFlight(slices.Max(b.windows))
	if free := (load{seconds: b.seconds, warmup: b.warmup}); len(b.unwindowed(k, unlimited, free)) > 0 {
		ours := free
		ours.window = 10_000 // ten times what these brokers grant
		all = append(all, b.own(k, unlimited, "", ours)...)
		all = append(all, b.unwindowed(k, unlimited, free)...)
	}
	if k.name == "proton" {
		l := load{seconds: b.seconds}
		for _, p := range []struct{ suffix, tool string }{{"-1k", "Proton C send + receive, 1 KiB"}, {"", "Proton C send + receive, its small map"}} {
			all = append(all, variant{"proton", p.tool, param, l, func(ctx context.Context, l load, r *run) error { return b.proton(ctx, k, l, p.suffix, r) }})
		}
	}
	return all
}

func paced(b *bench, k *broker) []variant {
	rate := b.rate
	if k.name == "rabbitmq" {
		rate /= 3 // its AMQP 1.0 plugin does not take more
	}
	param := fmt.Sprintf("%s/s asked for", group(rate))
	l := load{seconds: b.seconds, warmup: b.warmup, rate: rate}
	all := b.own(k, param, "", l)
	all = append(all, b.unwindowed(k, param, l)...)
	l.window = 100
	return append(all, b.peers(k, param, l)...)
}

func connections(b *bench, k *broker) []variant {
	var all []variant
	for _, n := range b.pairs {
		param := fmt.Sprintf("%d + %d at 10/s", n, n)
		l := load{seconds: b.seconds, warmup: b.warmup, rate: 10 * float64(n), pairs: n}
		all = append(all, b.own(k, param, "", l)...)
		for _, v := range b.peers(k, param, l) {
			if v.kind != "artemis-core" && v.kind != "omq" {
				all = append(all, v)
			}
		}
	}
	return all
}

func recording(b *bench, k *broker) []variant {
	l := load{seconds: b.seconds, warmup: b.warmup, window: 100}
	all := b.own(k, inFlight(100), " -o FILE", l)
	l.bare = true
	return append(all, b.own(k, inFlight(100), " -o /dev/null", l)...)
}

// stallRate and stallTime: one second out of a run at 1,000/s.
const (
	stallRate = 1000
	stallTime = time.Second
)

func stalled(b *bench, k *broker) []variant {
	param := fmt.Sprintf("%s/s, stopped for %s", group(stallRate), stallTime)
	l := load{seconds: b.seconds, warmup: b.warmup, rate: stallRate, stall: k.stalled(stallTime)}
	all := b.own(k, param, "", l)
	for _, v := range b.peers(k, param, l) {
		if v.kind == "artemis-core" {
			continue
		}
		as := v
		as.tool += map[string]string{"artemis-amqp": ", 1 pending (its default)", "perftest": ", no confirms (its default)", "omq": ", 1 in flight (its default)"}[v.kind]
		all = append(all, as)
		v.load.window = 1000
		v.tool += ", 1000 pending"
		all = append(all, v)
	}
	return append(all, b.unwindowed(k, param, l)...)
}

// pacing has the cases K25 to K28: a pacer on its own, then 100 ms of stall of the tool and of the broker.
func pacing(b *bench, k *broker) []variant {
	l := load{seconds: b.paceSeconds, rate: stallRate}
	all := b.own(k, "K25, K28: undisturbed", "", l)
	l.stall = &stall{func(send *process) int { return send.cmd.Process.Pid }, 100 * time.Millisecond}
	all = append(all, b.own(k, "K26: perf-send stopped for 100 ms", "", l)...)
	l.stall = k.stalled(100 * time.Millisecond)
	return append(all, b.own(k, "K27: perf-broker stopped for 100 ms", "", l)...)
}

// choose finds the cases of a list of names.
func choose(names []string) ([]*benchCase, error) {
	var chosen []*benchCase
	for _, name := range names {
		i := slices.IndexFunc(allCases(), func(c *benchCase) bool { return c.name == name })
		if i < 0 {
			return nil, errors.New("no case " + name)
		}
		chosen = append(chosen, allCases()[i])
	}
	return chosen, nil
}
