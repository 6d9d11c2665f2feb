package where

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
)

const (
	// MostGroups is how many groups a Split makes unless told otherwise.
	MostGroups = 100
	// waveRows bounds the rows of the groups that are reduced at a time, each
	// counted as a power of two and as at most mostOfOne: the memory of a
	// reduction grows with them up to there.
	waveRows  = 4 * mostOfOne
	mostOfOne = 1 << 17
)

// SplitOptions say how rows are grouped.
type SplitOptions struct {
	By       string     // one of Keys
	Where    *Predicate // nil: all rows
	From, To time.Duration
	Limit    int // most groups; 0: MostGroups
}

// Split deals the rows of a log to groups.
//
// In a group every row of which is about one delivery (by consumer or
// subscription) each first arrival counts for the sending side too, as if it were
// primary. By attempt each transmission counts on its own, as if it were the
// first.
type Split struct {
	rows   reduce.Rows
	opt    SplitOptions
	g      *grouper
	origin int64 // first intended instant of the log
	known  bool
	tables sync.Mutex
}

// NewSplit looks all rows through and finds the groups. It is an error when
// there are more than the limit.
func NewSplit(rows reduce.Rows, opt SplitOptions) (*Split, error) {
	if opt.Limit == 0 {
		opt.Limit = MostGroups
	}
	s := &Split{rows: rows, opt: opt}
	first, known, err := firstIntended(rows)
	if err != nil {
		return nil, err
	}
	s.origin, s.known = first, known
	s.g = newGrouper(opt.By, opt.Limit, s.origin)
	var groups []int32
	err = each(Filter(rows, opt.Where), func(b *format.Merged) error {
		s.cut(b)
		groups = resize(groups, b.Len())
		if err := s.g.assign(b, groups); err != nil {
			return err
		}
		for _, g := range groups {
			s.g.groups[g].Rows++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.g.finish()
	return s, nil
}

// cut removes what is outside the selected time.
func (s *Split) cut(b *format.Merged) {
	if s.opt.From == 0 && s.opt.To == 0 {
		return
	}
	mask := make([]bool, b.Len())
	for i, at := range b.Intended {
		since := at - s.origin
		mask[i] = since >= int64(s.opt.From) && (s.opt.To == 0 || since < int64(s.opt.To))
	}
	compact(b, mask)
}

// Groups returns the groups in order.
func (s *Split) Groups() []Group { return s.g.groups }

// Columns returns the columns that grouping by a key reads.
func Columns(by string) []string { return keyColumns(by) }

// Each calls use for all groups, each with the rows of its group. Some groups
// are worked on at a time, in goroutines: use must be safe for that. The rows are
// read through for all of them together, and stand at their end afterwards. It can
// be called once.
func (s *Split) Each(use func(i int, rows reduce.Rows) error) error {
	for from := 0; from < len(s.g.groups); {
		to, weight := from, 0
		for to < len(s.g.groups) {
			w := min(1<<bits.Len64(uint64(s.g.groups[to].Rows)), mostOfOne)
			if to > from && weight+w > waveRows {
				break
			}
			weight, to = weight+w, to+1
		}
		if from > 0 {
			if err := s.rows.Rewind(); err != nil {
				return err
			}
		}
		if err := s.wave(from, to, use); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// delivery is what a branch is handed: rows, or an error.
type delivery struct {
	rows *format.Merged
	err  error
}

// branch is the rows of one group; it implements reduce.Rows.
type branch struct {
	s       *Split
	group   int32
	in      chan delivery
	free    chan *format.Merged
	rewound chan struct{}
	done    chan struct{} // the user has gone
	result  error
	index   []int32 // rows of the batch that is being dealt
}

// Next implements reduce.Rows.
func (b *branch) Next(out *format.Merged) error {
	d := <-b.in
	if d.err != nil {
		return d.err
	}
	*out, *d.rows = *d.rows, *out
	b.free <- d.rows
	return nil
}

// Rewind implements reduce.Rows: all branches go back together.
func (b *branch) Rewind() error {
	b.rewound <- struct{}{}
	return nil
}

// Meta implements reduce.Rows.
func (b *branch) Meta() format.Meta { return part(b.s.rows.Meta()) }

// Table implements reduce.Tabler: the tables are about the whole run. Groups ask
// while nobody reads rows, but several may do so at once.
func (b *branch) Table(t format.Batch) error {
	b.s.tables.Lock()
	defer b.s.tables.Unlock()
	return sideTable(b.s.rows, t)
}

// FirstIntended implements reduce.Spanner: that of the whole log.
func (b *branch) FirstIntended() (int64, bool) {
	return b.s.origin, b.s.known
}

// wave reduces the groups from…to−1 beside each other.
func (s *Split) wave(from, to int, use func(i int, rows reduce.Rows) error) error {
	branches := make([]*branch, to-from)
	for i := range branches {
		b := &branch{
			s: s, group: int32(from + i), in: make(chan delivery), free: make(chan *format.Merged, 2),
			rewound: make(chan struct{}), done: make(chan struct{}),
		}
		b.free <- &format.Merged{}
		b.free <- &format.Merged{}
		branches[i] = b
		go func() {
			defer close(b.done)
			b.result = use(from+i, b)
		}()
	}
	for live := branches; ; {
		err := s.deal(live)
		for _, b := range live {
			b.send(delivery{err: err})
		}
		var again []*branch
		for _, b := range live {
			select {
			case <-b.rewound:
				again = append(again, b)
			case <-b.done:
			}
		}
		if live = again; len(live) == 0 {
			break
		}
		if err := s.rows.Rewind(); err != nil {
			for _, b := range live {
				b.send(delivery{err: err})
				<-b.done
			}
			break
		}
	}
	var errs []error
	for i, b := range branches {
		if b.result != nil {
			errs = append(errs, fmt.Errorf("%s: %w", s.g.groups[from+i].Name, b.result))
		}
	}
	return errors.Join(errs...)
}

// send hands something over unless nobody is there any more.
func (b *branch) send(d delivery) {
	select {
	case b.in <- d:
	case <-b.done:
	}
}

// deal reads all rows once and returns why it ended: io.EOF at the end.
func (s *Split) deal(live []*branch) error {
	rows := Filter(s.rows, s.opt.Where)
	byGroup := map[int32]*branch{}
	for _, b := range live {
		byGroup[b.group] = b
	}
	var batch format.Merged
	var groups []int32
	for {
		if err := rows.Next(&batch); err != nil {
			return err
		}
		s.cut(&batch)
		s.adjust(&batch)
		groups = resize(groups, batch.Len())
		if err := s.g.assign(&batch, groups); err != nil {
			return err
		}
		for i, g := range groups {
			if b := byGroup[g]; b != nil {
				b.index = append(b.index, int32(i))
			}
		}
		for _, b := range live {
			b.take(&batch)
		}
	}
}

// adjust makes each row of a group count once, see Split.
func (s *Split) adjust(b *format.Merged) {
	if s.opt.By == "subscription" || s.opt.By == "consumer" {
		for i, c := range b.Copy {
			b.Primary[i] = c == 0
		}
	}
}

// take copies the branch's rows of a batch and hands them over.
func (b *branch) take(batch *format.Merged) {
	if len(b.index) == 0 {
		return
	}
	var to *format.Merged
	select {
	case to = <-b.free:
	case <-b.done:
		b.index = b.index[:0]
		return
	}
	from, into := batch.Columns(), to.Columns()
	for c := range from {
		gather(from[c], into[c], b.index)
	}
	if b.s.opt.By == "attempt" {
		clear(to.Attempt)
	}
	b.index = b.index[:0]
	b.send(delivery{rows: to})
}

// gather copies rows of a column.
func gather(from, into any, index []int32) {
	switch from := from.(type) {
	case *[]int32:
		pick(*from, into.(*[]int32), index)
	case *[]int64:
		pick(*from, into.(*[]int64), index)
	case *[]bool:
		pick(*from, into.(*[]bool), index)
	case *format.Strings:
		to := into.(*format.Strings)
		to.Values = append(to.Values[:0], from.Values...) // the reader may use its own again
		pick(from.Codes, &to.Codes, index)
	}
}

func pick[T any](from []T, into *[]T, index []int32) {
	out := resize(*into, len(index))
	for k, i := range index {
		out[k] = from[i]
	}
	*into = out
}

var _ reduce.Rows = (*branch)(nil)
