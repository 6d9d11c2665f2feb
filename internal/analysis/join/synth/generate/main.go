// Command generate writes logs for measurements of perf-merge into a folder:
//
//	go run ./internal/analysis/join/synth/generate -messages 10000000 -loss 10000 -duplicate 10000 DIR
package main

import (
	"flag"
	"log"
	"strings"

	"amqpperf/internal/analysis/join/synth"
)

func main() {
	var s synth.Spec
	flag.IntVar(&s.Messages, "messages", 1_000_000, "messages of all senders")
	flag.IntVar(&s.Senders, "senders", 1, "send logs")
	flag.IntVar(&s.Producers, "producers", 100, "producers per sender")
	flag.IntVar(&s.Receivers, "receivers", 1, "receive logs")
	flag.IntVar(&s.Subscriptions, "subscriptions", 0, "subscriptions of a topic; 0: a queue")
	flag.IntVar(&s.Loss, "loss", 0, "one message of so many is lost")
	flag.IntVar(&s.Duplicate, "duplicate", 0, "one delivery of so many comes twice")
	flag.Int64Var(&s.Later, "later", 0, "ns until a duplicate comes; 0: 1 to 500 ms")
	flag.Int64Var(&s.Lag, "lag", 0, "ns that the last subscription, or every second producer, is behind")
	flag.BoolVar(&s.Backlog, "backlog", false, "deliveries begin when all was sent")
	flag.Parse()
	if flag.NArg() != 1 {
		log.Fatal("generate: name one folder")
	}
	names, truth, err := s.Write(flag.Arg(0))
	if err != nil {
		log.Fatal("generate: ", err)
	}
	log.Printf("%+v in %s", truth, strings.Join(names, " "))
}
