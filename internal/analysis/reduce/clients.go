package reduce

import (
	"cmp"
	"slices"
)

// client is a producer or a consumer.
type client struct {
	sender         bool
	process, index int32
}

// clients counts by client. Rows of one client mostly follow one another, so
// the last one of each side is remembered.
type clients struct {
	all  map[client]*span
	last [2]struct {
		who  client
		span *span
	}
}

func (c *clients) meet(who client) *span {
	last := &c.last[0]
	if who.sender {
		last = &c.last[1]
	}
	if last.span != nil && last.who == who {
		return last.span
	}
	s := c.all[who]
	if s == nil {
		s = &span{}
		c.all[who] = s
	}
	last.who, last.span = who, s
	return s
}

func (c *clients) add(who client, at int64) { c.meet(who).add(at) }

// list returns senders before receivers, by process and index.
func (c *clients) list() []Client {
	all := make([]Client, 0, len(c.all))
	for who, s := range c.all {
		all = append(all, Client{Sender: who.sender, Process: who.process, Index: who.index, N: s.n, PerS: s.rate(), First: s.first, Last: s.last})
	}
	slices.SortFunc(all, func(a, b Client) int {
		if a.Sender != b.Sender {
			if a.Sender {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Index, b.Index))
	})
	return all
}
