package where

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"amqpperf/format"
)

// Keys returns what rows can be grouped by.
func Keys() []string {
	return []string{"destination", "producer", "consumer", "subscription", "size", "outcome", "wait", "attempt", "connection", "second"}
}

// keyColumns returns the columns of the log that a key reads.
func keyColumns(by string) []string {
	switch by {
	case "producer":
		return []string{"sender", "producer"}
	case "consumer":
		return []string{"receiver", "consumer"}
	case "connection":
		return []string{"sender", "connection"}
	case "second":
		return []string{"intended"}
	}
	return []string{by}
}

// key identifies a group: text of a string column, else one or two numbers.
type key struct {
	text string
	a, b int64
	null bool
}

// Group is a number of rows that have a key in common.
type Group struct {
	Name string // "q1", "S2", "1024 B", "12 s"; "none" where the key is NULL
	Rows int64
	key  key
}

// grouper assigns rows to groups.
type grouper struct {
	by     string
	limit  int
	origin int64 // first intended instant of the log
	groups []Group
	index  map[key]int32
	codes  []int32 // group by code of the batch's dictionary, −2 unknown yet
	frozen bool    // no new groups
}

func newGrouper(by string, limit int, origin int64) *grouper {
	return &grouper{by: by, limit: limit, origin: origin, index: map[key]int32{}}
}

// group returns the number of a key's group, −1 if it is new and must not be.
func (g *grouper) group(k key) (int32, error) {
	if i, ok := g.index[k]; ok {
		return i, nil
	}
	if g.frozen {
		return -1, nil
	}
	if len(g.groups) == g.limit {
		return -1, fmt.Errorf("--by %s makes more than %d groups: choose some with --where, --from or --to", g.by, g.limit)
	}
	i := int32(len(g.groups))
	g.index[k] = i
	g.groups = append(g.groups, Group{key: k})
	return i, nil
}

// assign writes the group of every row.
func (g *grouper) assign(b *format.Merged, out []int32) error {
	switch g.by {
	case "destination":
		return g.byText(&b.Destination, out)
	case "subscription":
		return g.byText(&b.Subscription, out)
	case "outcome":
		return g.byText(&b.Outcome, out)
	case "wait":
		return g.byText(&b.Wait, out)
	case "producer":
		return g.byNumbers(out, func(i int) key { return number2(b.Sender[i], b.Producer[i]) })
	case "consumer":
		return g.byNumbers(out, func(i int) key { return number2(b.Receiver[i], b.Consumer[i]) })
	case "connection":
		return g.byNumbers(out, func(i int) key { return number2(b.Sender[i], b.Connection[i]) })
	case "size":
		return g.byNumbers(out, func(i int) key { return number2(b.Size[i], 0) })
	case "attempt":
		return g.byNumbers(out, func(i int) key { return number2(b.Attempt[i], 0) })
	case "second":
		return g.byNumbers(out, func(i int) key { return key{a: floor(b.Intended[i]-g.origin, 1e9)} })
	}
	return fmt.Errorf("--by %q: one of name, %s", g.by, strings.Join(Keys(), ", "))
}

func floor(a, b int64) int64 {
	if a < 0 {
		return -((-a + b - 1) / b)
	}
	return a / b
}

func number2(a, b int32) key {
	if a == format.Null32 || b == format.Null32 {
		return key{null: true}
	}
	return key{a: int64(a), b: int64(b)}
}

func (g *grouper) byText(s *format.Strings, out []int32) (err error) {
	g.codes = resize(g.codes, len(s.Values)+1)
	for i := range g.codes {
		g.codes[i] = -2
	}
	for i, c := range s.Codes[:len(out)] {
		at := &g.codes[c+1] // NULL is code −1
		if *at == -2 {
			k := key{null: true}
			if c >= 0 {
				k = key{text: s.Values[c]}
			}
			if *at, err = g.group(k); err != nil {
				return err
			}
		}
		out[i] = *at
	}
	return nil
}

// byNumbers looks a key up only when it is another one than in the row before:
// neighbours are mostly alike.
func (g *grouper) byNumbers(out []int32, of func(i int) key) (err error) {
	var last key
	at := int32(-2)
	for i := range out {
		if k := of(i); at == -2 || k != last {
			last = k
			if at, err = g.group(k); err != nil {
				return err
			}
		}
		out[i] = at
	}
	return nil
}

// finish orders the groups, names them, and lets no new ones in.
func (g *grouper) finish() {
	slices.SortFunc(g.groups, func(x, y Group) int {
		a, b := x.key, y.key
		if a.null != b.null { // none comes last
			if a.null {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.text, b.text), cmp.Compare(a.a, b.a), cmp.Compare(a.b, b.b))
	})
	processes := map[int64]bool{}
	for _, gr := range g.groups {
		if !gr.key.null {
			processes[gr.key.a] = true
		}
	}
	for i := range g.groups {
		g.groups[i].Name = g.name(i, len(processes))
		g.index[g.groups[i].key] = int32(i)
	}
	g.frozen = true
}

func (g *grouper) name(i, processes int) string {
	k := g.groups[i].key
	switch {
	case k.null:
		return "none"
	case k.text != "":
		return k.text
	}
	switch g.by {
	case "producer":
		return fmt.Sprintf("S%d", i+1)
	case "consumer":
		return fmt.Sprintf("R%d", i+1)
	case "connection":
		if processes > 1 {
			return fmt.Sprintf("%d of sender %d", k.b, k.a)
		}
		return fmt.Sprint(k.b)
	case "size":
		return fmt.Sprintf("%d B", k.a)
	case "second":
		return fmt.Sprintf("%d s", k.a)
	case "attempt":
		return fmt.Sprint(k.a)
	}
	return `""`
}
