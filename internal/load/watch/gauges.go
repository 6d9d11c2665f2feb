package watch

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/format"
)

// MaxConns is up to how many connections have rows of their own; when there are
// more, minimum, mean and maximum over them stand for them.
const MaxConns = 16

// gauge is a value that others provide.
type gauge struct {
	conn int32 // −1: of the process
	what string
	read func() int64
}

// gauges are read in the order in which they were registered.
type gauges struct {
	list []*gauge
	sum  sums
}

// Register adds a value of the load side that is read with every sample. The
// name is scope.quantity_unit. Functions registered under one name are added
// up: one per producer makes one row. read is called by the watcher's
// goroutine and must not wait; format.Null means no value now. remove takes
// the function away again; when it returns, read is not running and will not,
// so it must not be called with a lock that read takes.
func (w *Watcher) Register(name string, read func() int64) (remove func()) {
	if !strings.Contains(name, ".") || !strings.Contains(name, "_") {
		panic(fmt.Sprintf("watch: %q is not of the form scope.quantity_unit", name))
	}
	return w.register(&gauge{conn: -1, what: name, read: read})
}

// RegisterOf adds a value of one connection, as Register does: the rows are
// conn.N.quantity_unit, or min, mean and max over the connections when there
// are more than MaxConns. Functions of one connection and quantity are added up.
func (w *Watcher) RegisterOf(conn int32, quantity string, read func() int64) (remove func()) {
	if strings.Contains(quantity, ".") || !strings.Contains(quantity, "_") {
		panic(fmt.Sprintf("watch: %q is not of the form quantity_unit", quantity))
	}
	return w.register(&gauge{conn: conn, what: quantity, read: read})
}

func (w *Watcher) register(g *gauge) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gauges.list = append(w.gauges.list, g)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.gauges.list = slices.DeleteFunc(w.gauges.list, func(other *gauge) bool { return other == g })
	}
}

func (g *gauges) sample(s *sampler) {
	g.sum.reset()
	for _, one := range g.list {
		if v := one.read(); v != format.Null {
			g.sum.add(one.conn, one.what, v)
		}
	}
	g.sum.put(s)
}

// sums gathers values of one sample by quantity and connection.
type sums struct {
	order []string
	of    map[string]*series
}

// series are the values of one quantity, by connection in the order in which they came.
type series struct {
	index map[int32]int
	conns []int32
	value []int64
}

func (u *sums) reset() {
	for _, r := range u.of {
		clear(r.index)
		r.conns, r.value = r.conns[:0], r.value[:0]
	}
}

func (u *sums) add(conn int32, what string, v int64) {
	r := u.of[what]
	if r == nil {
		if u.of == nil {
			u.of = make(map[string]*series)
		}
		r = &series{index: make(map[int32]int)}
		u.of[what] = r
		u.order = append(u.order, what)
	}
	i, ok := r.index[conn]
	if !ok {
		i = len(r.conns)
		r.index[conn] = i
		r.conns, r.value = append(r.conns, conn), append(r.value, 0)
	}
	r.value[i] += v
}

func (u *sums) put(s *sampler) {
	for _, what := range u.order {
		r := u.of[what]
		switch {
		case len(r.value) == 0:
		case r.conns[0] < 0: // a name with a dot, which no quantity of a connection has
			s.put(what, r.value[0])
		case len(r.value) <= MaxConns:
			for i, v := range r.value {
				s.put(fmt.Sprintf("conn.%d.%s", r.conns[i], what), v)
			}
		default:
			s.put("conn.min."+what, slices.Min(r.value))
			s.put("conn.mean."+what, mean(r.value))
			s.put("conn.max."+what, slices.Max(r.value))
		}
	}
}

// mean returns the mean, rounded towards zero; it does not overflow.
func mean(values []int64) int64 {
	n := int64(len(values))
	var whole, rest int64
	for _, v := range values {
		whole += v / n
		rest += v % n
	}
	return whole + rest/n
}
