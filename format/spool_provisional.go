package format

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// provisionalGroup is how many provisional rows are looked up at once where marks
// do not say enough: it bounds the memory, at the price of one more pass over the
// keys of the rows.
const provisionalGroup = 1 << 18

// rowKey is what makes two rows of a spool the same message. In a receive log
// a redelivery is another row, hence consumer and received.
type rowKey struct {
	run                        int32
	sender, producer, consumer int32
	attempt                    int32
	seq, received              int64
}

func keyColumns(def *Schema) []string {
	cols := []string{"run", "sender", "producer", "seq", "attempt"}
	if def.Name == "recv/1" {
		cols = append(cols, "consumer", "received")
	}
	return cols
}

// keyReader takes keys out of batches. It has one dictionary of runs for all
// the files that are compared.
type keyReader struct{ runs *codebook }

func (k *keyReader) each(b Batch, f func(i int, key rowKey)) {
	var id *Identity
	recv, _ := b.(*Recv)
	switch b := b.(type) {
	case *Send:
		id = &b.Identity
	case *Recv:
		id = &b.Identity
	default:
		return
	}
	runs := k.runs.codes(&id.Run)
	for i := range id.Seq {
		key := rowKey{run: runs[i], sender: id.Sender[i], producer: id.Producer[i], attempt: id.Attempt[i], seq: id.Seq[i]}
		if recv != nil {
			key.consumer, key.received = recv.Consumer[i], recv.Received[i]
		}
		f(i, key)
	}
}

// unfinished returns the numbers of the provisional rows that count, in
// ascending order: of every key without a finished row the last one. Both
// files are read through and left at their ends; rows may be nil.
//
// A long run that was overloaded leaves a provisional row of every message, almost
// all of them finished later. So the seqs of finished rows are marked first, one
// bit each. A row whose seq is not marked counts. Of a send log one that is marked
// does not; of a receive log it may be another delivery of the same message, which
// a table of keys decides.
func unfinished(rows, provisional *spoolFile) ([]int64, error) {
	return (&provisionals{
		rows: rows, f: provisional, keys: keyReader{runs: newCodebook(false)},
		done: newMarks(markPages), seen: newMarks(markPages), twice: newMarks(markPages),
		group: provisionalGroup, recv: provisional.def.Name == "recv/1",
	}).list()
}

// provisionals finds out which provisional rows count.
type provisionals struct {
	rows, f *spoolFile
	keys    keyReader
	group   int
	recv    bool

	done  *marks // finished
	seen  *marks // not finished
	twice *marks // of those, more than one row
	doubt bool   // some can only be decided by their keys
}

func (p *provisionals) list() ([]int64, error) {
	if err := p.f.selectColumns(keyColumns(p.f.def)); err != nil {
		return nil, err
	}
	ok, err := p.mark()
	if err != nil {
		return nil, err
	}
	open := map[rowKey]int64{} // number of the last row
	if !ok {
		if err := p.decide(open, func(*rowKey) bool { return true }); err != nil {
			return nil, err
		}
		return sortedNumbers(nil, open), nil
	}
	var list []int64
	err = p.each(func(number int64, key *rowKey) bool {
		switch {
		case p.done.has(key):
		case p.twice.has(key):
			open[*key] = number
		default:
			list = append(list, number)
		}
		return true
	})
	if err == nil && p.doubt {
		err = p.decide(open, p.done.has)
	}
	return sortedNumbers(list, open), err
}

func sortedNumbers(list []int64, more map[rowKey]int64) []int64 {
	for _, n := range more {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// each calls f for every provisional row until it returns false.
func (p *provisionals) each(f func(number int64, key *rowKey) bool) error {
	if err := p.f.rewind(); err != nil {
		return err
	}
	b := newBatch(p.f.def.Name)
	number, more := int64(0), true
	for more {
		if err := p.f.read(b); err != nil {
			return ignoreEOF(err)
		}
		p.keys.each(b, func(i int, key rowKey) { more = more && f(number+int64(i), &key) })
		number += int64(b.Len())
	}
	return nil
}

// mark fills the marks; false: there are too many gaps between the seqs.
func (p *provisionals) mark() (ok bool, err error) {
	ok = true
	err = eachKey(p.rows, p.keys, func(key *rowKey) {
		if ok {
			_, ok = p.done.add(key)
		}
	})
	if err != nil || !ok {
		return ok, err
	}
	err = p.each(func(_ int64, key *rowKey) bool {
		if p.done.has(key) {
			p.doubt = p.recv
			return true
		}
		var was bool
		if was, ok = p.seen.add(key); ok && was {
			_, ok = p.twice.add(key)
		}
		return ok
	})
	return ok, err
}

// decide puts the rows that may count into open, if their keys have no finished
// row: as many at once as fit into a group.
func (p *provisionals) decide(open map[rowKey]int64, may func(*rowKey) bool) error {
	for from, more := int64(0), true; more; {
		group := map[rowKey]int64{}
		more = false
		err := p.each(func(number int64, key *rowKey) bool {
			if number >= from && may(key) {
				group[*key] = number
			}
			if len(group) >= p.group {
				from, more = number+1, true
			}
			return !more
		})
		if err == nil && len(group) > 0 {
			err = eachKey(p.rows, p.keys, func(key *rowKey) { delete(group, *key) })
		}
		if err != nil {
			return err
		}
		for key, n := range group {
			open[key] = n
		}
	}
	return nil
}

// eachKey calls f with the key of every finished row; rows may be nil.
func eachKey(rows *spoolFile, keys keyReader, f func(key *rowKey)) error {
	if rows == nil {
		return nil
	}
	if err := rows.rewind(); err != nil {
		return err
	}
	if err := rows.selectColumns(keyColumns(rows.def)); err != nil {
		return err
	}
	b := newBatch(rows.def.Name)
	for {
		if err := rows.read(b); err != nil {
			return ignoreEOF(err)
		}
		keys.each(b, func(_ int, key rowKey) { f(&key) })
	}
}

// unfinishedRows reads those rows of a spool that are provisional and count.
type unfinishedRows struct {
	f     *spoolFile
	list  []int64
	first int64 // number of the first row of the next batch
}

// openUnfinished finds the unfinished rows of a spool, nil if it has none.
func openUnfinished(dir string, def *Schema) (u *unfinishedRows, err error) {
	provisional, err := openSpoolFile(dir, spoolProvisional, def)
	if provisional == nil || err != nil {
		return nil, err
	}
	rows, err := openSpoolFile(dir, spoolRows, def)
	if err == nil {
		u = &unfinishedRows{f: provisional}
		u.list, err = unfinished(rows, provisional)
		err = errors.Join(err, rows.close())
	}
	if err == nil && len(u.list) > 0 {
		provisional.want = nil
		if err = provisional.rewind(); err == nil {
			return u, nil
		}
	}
	return nil, errors.Join(err, provisional.close())
}

// read fills b, whose memory scratch shares nothing with, with the next of them.
func (u *unfinishedRows) read(dst *gatherer, scratch Batch) error {
	dst.reset()
	var index []int32
	for len(u.list) > 0 {
		if err := u.f.read(scratch); err != nil {
			if errors.Is(err, io.EOF) { // it was readable a moment ago
				return fmt.Errorf("%s changed while it was read", spoolProvisional)
			}
			return err
		}
		index = index[:0]
		end := u.first + int64(scratch.Len())
		for len(u.list) > 0 && u.list[0] < end {
			index = append(index, int32(u.list[0]-u.first)) //nolint:gosec // within a batch
			u.list = u.list[1:]
		}
		u.first = end
		if len(index) > 0 {
			dst.pick(scratch, index)
			return nil
		}
	}
	return io.EOF
}

func (u *unfinishedRows) close() error {
	if u == nil {
		return nil
	}
	return u.f.close()
}
