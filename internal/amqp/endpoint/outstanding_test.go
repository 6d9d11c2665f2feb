package endpoint

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Outstanding behaves like a map, whatever is done to it.
func TestOutstandingIsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var o Outstanding[int]
		model := map[int64]int{}
		next := rapid.Int64Range(-5, 1<<33).Draw(t, "start")
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0, 1:
				next += rapid.SampledFrom([]int64{0, 0, 0, 0, 3, 1 << 30}).Draw(t, "gap")
				for range rapid.SampledFrom([]int{1, 5, 1, 5, 2000}).Draw(t, "n") {
					o.Put(next, i)
					model[next] = i
					next++
				}
			case 2:
				k := next - rapid.Int64Range(-2, 40).Draw(t, "back")
				got, ok := o.Take(k)
				want, has := model[k]
				delete(model, k)
				if got != want || ok != has {
					t.Fatalf("take %d: %d %v, want %d %v", k, got, ok, want, has)
				}
			case 3:
				first := next - rapid.Int64Range(-2, 7000).Draw(t, "first")
				last := first + rapid.SampledFrom([]int64{-1, 0, 10, 5000, 1 << 40}).Draw(t, "len")
				var got, want []int64
				o.TakeRange(first, last, func(k int64, _ int) { got = append(got, k) })
				for k := range model {
					if k >= first && k <= last {
						want = append(want, k)
						delete(model, k)
					}
				}
				slices.Sort(want)
				if d := cmp.Diff(want, got); d != "" {
					t.Fatal(d)
				}
			case 4:
				m := rapid.Int64Range(1, 9).Draw(t, "mod")
				o.TakeIf(func(k int64, _ int) bool { return k%m == 0 })
				maps.DeleteFunc(model, func(k int64, _ int) bool { return k%m == 0 })
			case 5:
				k := next - rapid.Int64Range(-2, 40).Draw(t, "back")
				got, ok := o.Get(k)
				if want, has := model[k]; got != want || ok != has {
					t.Fatalf("get %d: %d %v, want %d %v", k, got, ok, want, has)
				}
			}
			if o.Len() != len(model) {
				t.Fatalf("%d values, want %d", o.Len(), len(model))
			}
		}
		var keys []int64
		o.All(func(k int64, _ int) { keys = append(keys, k) })
		if d := cmp.Diff(slices.Sorted(maps.Keys(model)), keys); d != "" {
			t.Fatal(d)
		}
	})
}

// One delivery that is never settled does not keep the places of a million others.
func TestOutstandingStraggler(t *testing.T) {
	t.Parallel()
	var o Outstanding[int]
	o.Put(0, 1)
	for k := int64(1); k < 1<<20; k++ {
		o.Put(k, 1)
		o.Take(k)
	}
	if o.Len() != 1 || len(o.ring) > 4*sparseAt {
		t.Errorf("%d values in %d places", o.Len(), len(o.ring))
	}
}
