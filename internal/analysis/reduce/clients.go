package reduce

import (
	"cmp"
	"slices"
)

// clients counts by client: producers and consumers.
type clients struct {
	producers, consumers *directory[span]
}

func newClients() clients { return clients{newDirectory[span](), newDirectory[span]()} }

func (c *clients) producer(process, index int32) *span {
	s, _ := c.producers.meet(process, index)
	return s
}

func (c *clients) consumer(process, index int32) *span {
	s, _ := c.consumers.meet(process, index)
	return s
}

// whole takes in a plain chunk.
func (c *clients) whole(v *view, from, to int) {
	sender, producer, acked := v.Sender[from:to], v.Producer[from:to], v.Acked[from:to]
	for i, at := range acked {
		c.producer(sender[i], producer[i]).add(at)
	}
	receiver, consumer, received := v.Receiver[from:to], v.Consumer[from:to], v.Received[from:to]
	for i, at := range received {
		c.consumer(receiver[i], consumer[i]).add(at)
	}
}

// list returns senders before receivers, by process and index.
func (c *clients) list() []Client {
	return append(listOf(c.producers, true), listOf(c.consumers, false)...)
}

func listOf(d *directory[span], sender bool) []Client {
	all := make([]Client, 0, len(d.all))
	for who, s := range d.all {
		all = append(all, Client{Sender: sender, Process: who.process, Index: who.index, N: s.n, PerS: s.rate(), First: s.first, Last: s.last})
	}
	slices.SortFunc(all, func(a, b Client) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Index, b.Index))
	})
	return all
}
