package clock

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"amqpperf/timestamp"
)

// Solution aligns a set of processes with one of them. It is immutable and
// safe for concurrent use.
type Solution struct {
	ref    int
	names  []string
	nodes  []*Process // the processes, then peers whose log is missing
	models []*Model
	parent []int  // next process on the way to the reference, −1 at its end
	hops   []*hop // to parent
	fits   map[[2]int]*fit
	// Warnings says in sentences what of the input was not used.
	Warnings []string
}

// Solve aligns processes with the one at index ref. Each is reached over the
// way with the smallest bound: same boot, exchanges and offsets of the policy
// first, what kernels say only where those end. The order of processes, of
// their exchanges and states does not change a result.
func Solve(processes []Process, ref int, policy Policy) *Solution {
	s := &Solution{ref: ref, fits: map[[2]int]*fit{}}
	for i := range processes {
		s.nodes = append(s.nodes, &processes[i])
	}
	s.measure()
	s.checkPolicy(policy)
	s.reach(policy)
	for i := range s.nodes {
		s.names = append(s.names, s.name(i))
		s.models = append(s.models, s.model(i))
	}
	return s
}

// Model returns how process i is turned into the reference.
func (s *Solution) Model(i int) *Model { return s.models[i] }

func (s *Solution) model(i int) *Model {
	m := &Model{source: SameProcess}
	for ; s.parent[i] >= 0; i = s.parent[i] {
		m.hops = append(m.hops, s.hops[i])
		m.source = Worse(m.source, s.hops[i].source)
	}
	if i != s.ref {
		m.source = Unknown
	}
	return m
}

// measure pairs the exchanges of all processes and fits both directions.
func (s *Solution) measure() {
	exchanges := map[[2]int][]Exchange{}
	given := len(s.nodes)
	ghosts := map[Peer]int{}
	unpaired := 0
	for i := range given {
		for _, e := range s.nodes[i].Exchanges {
			j := s.peer(e.Peer, given, ghosts)
			switch {
			case j < 0:
				unpaired++
			case j != i:
				exchanges[[2]int{i, j}] = append(exchanges[[2]int{i, j}], e)
			}
		}
	}
	if unpaired > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d clock exchanges with processes that no log is of, or that the clock id alone does not tell apart, are not used", unpaired))
	}
	for pair := range exchanges {
		i, j := pair[0], pair[1]
		if s.fits[pair] != nil {
			continue
		}
		there, back := exchanges[pair], exchanges[[2]int{j, i}]
		s.fits[pair] = s.newFit(i, j, there, back)
		s.fits[[2]int{j, i}] = s.newFit(j, i, back, there)
	}
}

func (s *Solution) newFit(own, peer int, there, back []Exchange) *fit {
	limits := measure(there, back)
	shift := int64(0)
	if len(limits) > 0 {
		shift = -slices.MinFunc(limits, func(a, b limit) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.v, b.v))
		}).v
	}
	return newFit(limits, newRates(s.nodes[own].States, s.nodes[peer].States, shift))
}

// peer returns the process that an exchange was with. One whose log is missing
// still ties its host to the others: it becomes a process of its own.
func (s *Solution) peer(p Peer, given int, ghosts map[Peer]int) int {
	found := -1
	for j, n := range s.nodes[:given] {
		if n.Anchor.ClockID != p.ClockID || p.Anchor && n.Anchor.Offset() != p.Offset {
			continue
		}
		if p.Anchor || p.ClockID == 0 {
			return j
		}
		if found >= 0 && s.nodes[found].Anchor != n.Anchor {
			return -1
		}
		if found < 0 {
			found = j
		}
	}
	if found >= 0 || !p.Anchor || p.ClockID == 0 {
		return found
	}
	if j, ok := ghosts[p]; ok {
		return j
	}
	ghosts[p] = len(s.nodes)
	s.nodes = append(s.nodes, &Process{Anchor: timestamp.Anchor{Wall: p.Offset, Gap: p.Gap, ClockID: p.ClockID}})
	return len(s.nodes) - 1
}

// cost is that of a way: first how often it relies on kernels, then its bound.
type cost struct{ kernels, bound int64 }

func (c cost) compare(d cost) int {
	return cmp.Or(cmp.Compare(c.kernels, d.kernels), cmp.Compare(c.bound, d.bound))
}

// reach finds the best way from every process to the reference, and for those
// that have none, to the first of the processes that they can be compared with.
func (s *Solution) reach(policy Policy) {
	n := len(s.nodes)
	g := graph{s: s, policy: policy, order: s.canonical(), walls: make([]walls, n), costs: make([]cost, n), done: make([]bool, n)}
	s.parent, s.hops = make([]int, n), make([]*hop, n)
	for i, p := range s.nodes {
		g.walls[i] = newWalls(p)
		s.parent[i] = -1
	}
	g.spread(s.ref)
	for _, i := range g.order {
		if !g.done[i] {
			g.spread(i)
		}
	}
}

// graph is the state of the search.
type graph struct {
	s      *Solution
	policy Policy
	order  []int // of processes, the same however they were given
	walls  []walls
	costs  []cost
	done   []bool
}

// spread reaches all that can be reached from a process and was not (Dijkstra
// on a dense graph).
func (g *graph) spread(from int) {
	s := g.s
	for at := from; at >= 0; {
		g.done[at] = true
		for _, i := range g.order {
			if g.done[i] {
				continue
			}
			h, step := g.edge(i, at)
			if h == nil {
				continue
			}
			c := cost{g.costs[at].kernels + step.kernels, add(g.costs[at].bound, step.bound)}
			if s.parent[i] < 0 || c.compare(g.costs[i]) < 0 {
				s.parent[i], s.hops[i], g.costs[i] = at, h, c
			}
		}
		at = -1
		for _, i := range g.order {
			if !g.done[i] && s.parent[i] >= 0 && (at < 0 || g.costs[i].compare(g.costs[at]) < 0) {
				at = i
			}
		}
	}
}

// canonical returns the processes in an order that does not depend on how they
// were given.
func (s *Solution) canonical() []int {
	order := make([]int, len(s.nodes))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := s.nodes[order[a]].Anchor, s.nodes[order[b]].Anchor
		return cmp.Or(cmp.Compare(x.ClockID, y.ClockID), cmp.Compare(x.Wall, y.Wall), cmp.Compare(x.Monotonic, y.Monotonic), cmp.Compare(x.Gap, y.Gap)) < 0
	})
	return order
}

// edge returns the best direct step from process i to process to, nil if there
// is none.
func (g *graph) edge(i, to int) (*hop, cost) {
	s := g.s
	a := Align(s.nodes[to].Anchor, s.nodes[i].Anchor)
	if a.Source == SameProcess {
		return &hop{source: SameProcess}, cost{}
	}
	if g.policy.None {
		return nil, cost{}
	}
	if a.Source == SameBoot {
		return &hop{source: SameBoot, offset: a.Shift, bound: a.Bound}, cost{0, a.Bound}
	}
	if o, ok := g.policy.Given[s.nodes[i].Host]; ok && s.nodes[i].Host != s.nodes[s.ref].Host {
		if to != s.ref {
			return nil, cost{}
		}
		return &hop{source: Given, offset: -o.Offset, bound: o.Bound}, cost{0, o.Bound}
	}
	if f := s.fits[[2]int{i, to}]; f != nil {
		return &hop{source: Probes, fit: f}, cost{0, f.median}
	}
	b1, ok1 := g.walls[i].typical()
	b2, ok2 := g.walls[to].typical()
	if !ok1 || !ok2 {
		return nil, cost{}
	}
	return &hop{source: MaxError, kernel: &kernel{g.walls[i], g.walls[to]}}, cost{1, b1 + b2}
}

func (s *Solution) checkPolicy(policy Policy) {
	for _, host := range slices.Sorted(maps.Keys(policy.Given)) {
		switch {
		case s.nodes[s.ref].Host == host:
			s.Warnings = append(s.Warnings, fmt.Sprintf("--clock %s=… is not used: %s has the reference clock", host, host))
		case !slices.ContainsFunc(s.nodes, func(p *Process) bool { return p.Host == host }):
			s.Warnings = append(s.Warnings, fmt.Sprintf("--clock %s=… is not used: no log is from that host", host))
		}
	}
}
