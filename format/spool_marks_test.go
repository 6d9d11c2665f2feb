package format

import (
	"path/filepath"
	"slices"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestUnfinished: whatever finished and provisional rows a spool has, those count that a plain map of keys says, whether
// the seqs are marked, have too many gaps to be, or have to be told apart in groups of a few.
func TestUnfinished(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.SampledFrom([]*Schema{SendSchema(), RecvSchema()}).Draw(t, "schema")
		s, err := CreateSpool(filepath.Join(dir, "x.parquet"), schema, nil, true)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		finished, provisional := drawKeys(t, "finished"), drawKeys(t, "provisional")
		if err := s.Write(finished.batch(schema)); err != nil {
			t.Fatal(err)
		}
		if err := s.Provisional(provisional.batch(schema)); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		want := provisional.without(finished, schema.Name == "recv/1")
		pages, group := rapid.SampledFrom([]int{1, 2, markPages}).Draw(t, "pages"), rapid.SampledFrom([]int{1, 3, 100}).Draw(t, "group")
		got, err := unfinishedWith(s.dir, schema, pages, group)
		if err != nil {
			t.Fatal(err)
		}
		if d := godiff.Diff(want, got); d != "" {
			t.Fatalf("%s, %d pages, groups of %d (-want +got):\n%s", schema.Name, pages, group, d)
		}
	})
}

func unfinishedWith(dir string, schema *Schema, pages, group int) ([]int64, error) {
	rows, err := openSpoolFile(dir, spoolRows, schema)
	if err != nil {
		return nil, err
	}
	defer rows.close() //nolint:errcheck // it was read only
	p, err := openSpoolFile(dir, spoolProvisional, schema)
	if err != nil || p == nil {
		return []int64{}, err
	}
	defer p.close() //nolint:errcheck // it was read only
	list, err := (&provisionals{
		rows: rows, f: p, keys: keyReader{runs: newCodebook(false)}, group: group, recv: schema.Name == "recv/1",
		done: newMarks(pages), seen: newMarks(pages), twice: newMarks(pages),
	}).list()
	return append([]int64{}, list...), err
}

// drawnKeys are few different keys, so that many are equal; some of their seqs are far apart.
type drawnKeys []struct{ producer, seq, attempt, received int }

func drawKeys(t *rapid.T, name string) drawnKeys {
	keys := make(drawnKeys, rapid.IntRange(0, 12).Draw(t, name))
	for i := range keys {
		k := &keys[i]
		k.producer, k.attempt = rapid.IntRange(0, 1).Draw(t, "producer"), rapid.IntRange(0, 1).Draw(t, "attempt")
		k.seq = rapid.SampledFrom([]int{0, 1, 1 << markBits, 1 << 40}).Draw(t, "seq")
		k.received = rapid.IntRange(1, 2).Draw(t, "received")
	}
	return keys
}

func (keys drawnKeys) batch(schema *Schema) Batch {
	b := newBatch(schema.Name)
	stretch(b, len(keys))
	for _, c := range b.Columns() {
		if s, ok := c.(*Strings); ok {
			s.Values = []string{"x"}
		}
	}
	for i, k := range keys {
		switch b := b.(type) {
		case *Send:
			b.Producer[i], b.Seq[i], b.Attempt[i] = int32(k.producer), int64(k.seq), int32(k.attempt)
		case *Recv:
			b.Producer[i], b.Seq[i], b.Attempt[i], b.Received[i] = int32(k.producer), int64(k.seq), int32(k.attempt), int64(k.received)
		}
	}
	return b
}

// without is the definition: of every key without a finished row the last.
func (keys drawnKeys) without(finished drawnKeys, recv bool) []int64 {
	last := map[[4]int]int64{}
	key := func(ks drawnKeys, i int) [4]int {
		k := [4]int{ks[i].producer, ks[i].seq, ks[i].attempt, 0}
		if recv {
			k[3] = ks[i].received
		}
		return k
	}
	for i := range keys {
		last[key(keys, i)] = int64(i)
	}
	for i := range finished {
		delete(last, key(finished, i))
	}
	list := []int64{}
	for _, n := range last {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

// TestMarksAreSmall: a long run that was overloaded has a provisional row of every message, which must not cost more than
// about a bit each.
func TestMarksAreSmall(t *testing.T) {
	t.Parallel()
	const n, producers = 1_000_000, 3
	m := newMarks(markPages)
	for seq := range int64(n) {
		for producer := range int32(producers) {
			if was, ok := m.add(&rowKey{producer: producer, seq: seq}); was || !ok {
				t.Fatalf("seq %d: marked before %t, room %t", seq, was, ok)
			}
		}
	}
	if most := producers*n>>markBits + producers; m.pages > most {
		t.Errorf("%d pages for %d seqs of %d producers, at most %d needed", m.pages, n, producers, most)
	}
	if !m.has(&rowKey{seq: n - 1}) || m.has(&rowKey{seq: n}) || m.has(&rowKey{producer: producers}) || m.has(&rowKey{seq: -1}) {
		t.Error("wrong marks")
	}
}
