package join

import (
	"container/heap"
	"errors"
	"io"
	"slices"

	"amqpperf/format"
)

// sendRowBytes is what a send row takes in memory while it is sorted.
const sendRowBytes = 96

// compareSends compares two send rows.
type compareSends func(x *format.Send, i int, y *format.Send, k int) int

// sortSends writes the rows of a log in order into a temporary file: what fits
// in half of the memory is sorted at a time, and the parts are merged.
func sortSends(log *format.Log, opt Options, by compareSends) (out *tempLog, err error) {
	most := int(max(opt.Memory/2/sendRowBytes, format.BatchRows))
	var runs []*tempLog
	defer func() {
		if err != nil || len(runs) > 1 {
			for _, r := range runs {
				err = errors.Join(err, r.close())
			}
		}
	}()
	m, codes := &format.Send{}, &sendCodes{}
	var b format.Send
	for {
		err := log.Read(&b)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		done := err != nil
		if done || len(m.Seq)+b.Len() > most {
			run, err := writeSorted(log.Name(), m, opt, by)
			if err != nil {
				return nil, err
			}
			runs = append(runs, run)
			m, codes = &format.Send{}, &sendCodes{}
		}
		if done {
			break
		}
		for i := range b.Seq {
			codes.append(m, &b, i)
		}
	}
	if len(runs) == 1 {
		return runs[0], nil
	}
	return mergeSorted(log.Name(), runs, opt, by)
}

// writeSorted writes rows in order. An empty batch makes an empty file.
func writeSorted(name string, m *format.Send, opt Options, by compareSends) (*tempLog, error) {
	order := make([]int32, len(m.Seq))
	for i := range order {
		order[i] = int32(i) //nolint:gosec // bounded by the memory
	}
	slices.SortStableFunc(order, func(x, y int32) int { return by(m, int(x), m, int(y)) })
	t, err := newTempLog(name, format.SendSchema(), opt)
	if err != nil {
		return nil, err
	}
	out, codes := &format.Send{}, &sendCodes{}
	for n, i := range order {
		codes.append(out, m, int(i))
		if len(out.Seq) == format.BatchRows || n == len(order)-1 {
			if err := t.write(out); err != nil {
				return nil, errors.Join(err, t.close())
			}
			resize(out, 0)
		}
	}
	if err := t.finish(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// sortedRun is one of several sorted files, at its next row.
type sortedRun struct {
	log   *format.Log
	b     format.Send
	at    int
	codes sendCodes
}

// step goes to the next row, io.EOF after the last.
func (r *sortedRun) step() error {
	if r.at++; r.at < r.b.Len() {
		return nil
	}
	r.at = 0
	return r.log.Read(&r.b)
}

// sortedRuns is a heap by the next row.
type sortedRuns struct {
	runs []*sortedRun
	by   compareSends
}

func (s *sortedRuns) Len() int { return len(s.runs) }
func (s *sortedRuns) Less(i, k int) bool {
	x, y := s.runs[i], s.runs[k]
	return s.by(&x.b, x.at, &y.b, y.at) < 0
}
func (s *sortedRuns) Swap(i, k int) { s.runs[i], s.runs[k] = s.runs[k], s.runs[i] }
func (s *sortedRuns) Push(x any)    { s.runs = append(s.runs, x.(*sortedRun)) } //nolint:forcetypeassert // the heap's own
func (s *sortedRuns) Pop() any {
	last := s.runs[len(s.runs)-1]
	s.runs = s.runs[:len(s.runs)-1]
	return last
}

func mergeSorted(name string, runs []*tempLog, opt Options, by compareSends) (*tempLog, error) {
	t, err := newTempLog(name, format.SendSchema(), opt)
	if err != nil {
		return nil, err
	}
	h := &sortedRuns{by: by}
	for _, r := range runs {
		s := &sortedRun{log: r.log, at: -1}
		if err := s.step(); errors.Is(err, io.EOF) {
			continue
		} else if err != nil {
			return nil, errors.Join(err, t.close())
		}
		h.runs = append(h.runs, s)
	}
	heap.Init(h)
	if err := h.write(t); err != nil {
		return nil, errors.Join(err, t.close())
	}
	if err := t.finish(); err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (s *sortedRuns) write(t *tempLog) error {
	out := &format.Send{}
	for len(s.runs) > 0 {
		r := s.runs[0]
		r.codes.append(out, &r.b, r.at)
		if len(out.Seq) == format.BatchRows {
			if err := t.write(out); err != nil {
				return err
			}
			resize(out, 0)
		}
		switch err := r.step(); {
		case errors.Is(err, io.EOF):
			heap.Pop(s)
		case err != nil:
			return err
		default:
			heap.Fix(s, 0)
		}
	}
	return t.write(out)
}
