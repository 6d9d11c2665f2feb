package format

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// provisionalGroup is how many provisional rows are looked up at once: it
// bounds the memory, at the price of one more pass over the keys of the rows.
const provisionalGroup = 1 << 20

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
func unfinished(rows, provisional *spoolFile) ([]int64, error) {
	keys := keyReader{runs: newCodebook(false)}
	open := map[rowKey]int64{}
	b := newBatch(provisional.def.Name)
	if err := provisional.selectColumns(keyColumns(provisional.def)); err != nil {
		return nil, err
	}
	number := int64(0)
	for more := true; more; {
		group := map[rowKey]int64{}
		for len(group) < provisionalGroup {
			err := provisional.read(b)
			if errors.Is(err, io.EOF) {
				more = false
				break
			}
			keys.each(b, func(i int, key rowKey) { group[key] = number + int64(i) })
			number += int64(b.Len())
		}
		if err := finished(rows, keys, group); err != nil {
			return nil, err
		}
		for key, n := range group {
			open[key] = n
		}
	}
	list := make([]int64, 0, len(open))
	for _, n := range open {
		list = append(list, n)
	}
	slices.Sort(list)
	return list, nil
}

// finished deletes from the group every key that has a finished row.
func finished(rows *spoolFile, keys keyReader, group map[rowKey]int64) error {
	if rows == nil || len(group) == 0 {
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
		err := rows.read(b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		keys.each(b, func(_ int, key rowKey) { delete(group, key) })
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
