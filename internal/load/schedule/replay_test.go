package schedule_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/schedule"
)

func replay(t interface{ Fatal(...any) }, rows schedule.Rows, num, den int64, loop bool) *schedule.Replay {
	r, err := schedule.NewReplay(rows, schedule.Speed{Num: num, Den: den}, loop)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Case B-146: intended[i] = start + (t[i] − t[0])/speed, sizes as recorded.
func TestReplay(t *testing.T) {
	t.Parallel()
	rows := schedule.Rows{
		Offsets: []int64{1000, 1000, 1003, 1010}, Sizes: []int32{5, -1, 0, 7},
		Destinations: []int32{0, 1, 0, -1}, Names: []string{"queue://a", "queue://b"},
	}
	for _, tt := range []struct {
		num, den int64
		loop     bool
		want     []int64
	}{
		{1, 1, false, []int64{0, 0, 3, 10}},
		{2, 1, false, []int64{0, 0, 1, 5}},
		{1, 2, false, []int64{0, 0, 6, 20}},
		{1, 1, true, []int64{0, 0, 3, 10, 13, 13, 16, 23, 26}}, // the period is 10 + ⌊10/3⌋
		{2, 1, true, []int64{0, 0, 1, 5, 6, 6, 8, 11, 13}},
	} {
		r := replay(t, rows, tt.num, tt.den, tt.loop)
		if got := offsets(r, int64(len(tt.want))); !slices.Equal(got, tt.want) {
			t.Errorf("speed %d/%d, loop %t: got %v, want %v", tt.num, tt.den, tt.loop, got, tt.want)
		}
		if n := r.N(); n != 4 && !tt.loop || n != schedule.Unbounded && tt.loop {
			t.Errorf("%d messages", n)
		}
	}
	r := replay(t, rows, 1, 1, true)
	for i, want := range []int32{5, -1, 0, 7, 5, -1} {
		size, ok := r.Size(int64(i))
		if ok != (want >= 0) || (ok && size != want) {
			t.Errorf("message %d: size %d, %t; want %d", i, size, ok, want)
		}
	}
	if r.Within(13) != 4 || r.Within(14) != 6 || r.WithN(5).N() != 5 {
		t.Errorf("%d within 13 ns, %d within 14", r.Within(13), r.Within(14))
	}
}

// Case B-147: a million messages at 20k/s end at 50 s exactly, at any speed.
func TestReplayDoesNotDrift(t *testing.T) {
	t.Parallel()
	rows := schedule.Rows{Offsets: make([]int64, 1_000_001)}
	for i := range rows.Offsets {
		rows.Offsets[i] = int64(i) * 50_000
	}
	for _, tt := range []struct{ num, den, want int64 }{{1, 1, 50 * sec}, {3, 1, 16_666_666_666}, {1, 3, 150 * sec}} {
		if got := replay(t, rows, tt.num, tt.den, false).At(1_000_000); got != tt.want {
			t.Errorf("speed %d/%d: ends at %d", tt.num, tt.den, got)
		}
	}
}

func TestReplayRefused(t *testing.T) {
	t.Parallel()
	good := schedule.Rows{Offsets: []int64{1, 2}}
	for name, tt := range map[string]struct {
		rows     schedule.Rows
		num, den int64
		loop     bool
	}{
		"speed 0":            {good, 0, 1, false},
		"speed negative":     {good, -1, 1, false},
		"speed infinite":     {good, 1, 0, false},
		"speed digits":       {good, 1e9 + 1, 1, false},
		"no rows":            {schedule.Rows{}, 1, 1, false},
		"decreasing":         {schedule.Rows{Offsets: []int64{2, 1}}, 1, 1, false},
		"sizes":              {schedule.Rows{Offsets: []int64{1, 2}, Sizes: []int32{1}}, 1, 1, false},
		"size":               {schedule.Rows{Offsets: []int64{1}, Sizes: []int32{-2}}, 1, 1, false},
		"destinations":       {schedule.Rows{Offsets: []int64{1, 2}, Destinations: []int32{0}}, 1, 1, false},
		"destination":        {schedule.Rows{Offsets: []int64{1}, Destinations: []int32{0}}, 1, 1, false},
		"loop of one":        {schedule.Rows{Offsets: []int64{1}}, 1, 1, true},
		"loop of an instant": {schedule.Rows{Offsets: []int64{1, 1}}, 1, 1, true},
		"too long":           {schedule.Rows{Offsets: []int64{math.MinInt64, 1}}, 1, 1, false},
		"loop too long":      {schedule.Rows{Offsets: []int64{0, math.MaxInt64}}, 1, 1, true},
	} {
		if _, err := schedule.NewReplay(tt.rows, schedule.Speed{Num: tt.num, Den: tt.den}, tt.loop); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func drawRows(t *rapid.T) schedule.Rows {
	n := rapid.IntRange(2, 40).Draw(t, "rows")
	rows := schedule.Rows{Names: []string{"a", "b", "c"}}
	at := rapid.Int64Range(-1e18, 1e18).Draw(t, "first")
	for range n {
		rows.Offsets = append(rows.Offsets, at)
		at += rapid.Int64Range(0, 1e12).Draw(t, "gap")
		rows.Destinations = append(rows.Destinations, rapid.Int32Range(-1, 2).Draw(t, "destination"))
	}
	rows.Offsets[n-1]++
	return rows
}

// At is the exact quotient and never decreases, over the seams of loops as well.
func TestReplayProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		num, den := rapid.Int64Range(1, 1e9).Draw(t, "num"), rapid.Int64Range(1, 1e9).Draw(t, "den")
		r := replay(t, rows, num, den, true)
		n := int64(len(rows.Offsets))
		i := rapid.Int64Range(0, 10*n).Draw(t, "i")
		last := rows.Offsets[n-1] - rows.Offsets[0]
		exact := new(big.Int).Mul(big.NewInt(last+last/(n-1)), big.NewInt(i/n))
		exact.Add(exact, big.NewInt(rows.Offsets[i%n]-rows.Offsets[0]))
		exact.Mul(exact, big.NewInt(den)).Quo(exact, big.NewInt(num))
		want := int64(math.MaxInt64)
		if exact.IsInt64() {
			want = exact.Int64()
		}
		if got := r.At(i); got != want {
			t.Fatalf("message %d at %d, want %d", i, got, want)
		}
		if r.At(i+1) < want {
			t.Fatalf("message %d at %d, the next at %d", i, want, r.At(i+1))
		}
	})
}

// The destinations partition a replay, and Upto is the inverse of Index.
func TestPicksPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		n := rapid.Int64Range(0, 100).Draw(t, "n")
		r := replay(t, rows, 1, 1, true).WithN(n)
		seen := make([]bool, n)
		for code := int32(-1); code < 3; code++ {
			p := r.Pick(code)
			for j := range p.N() {
				i := p.Index(j)
				if seen[i] || r.Destination(i) != code || p.At(j) != r.At(i) || p.Upto(i) != j || p.Upto(i+1) != j+1 {
					t.Fatalf("destination %d: message %d is %d", code, j, i)
				}
				seen[i] = true
			}
		}
		if slices.Contains(seen, false) {
			t.Fatalf("some messages go nowhere: %v", seen)
		}
	})
}

func TestRowsHash(t *testing.T) {
	t.Parallel()
	rows := func() schedule.Rows {
		return schedule.Rows{Offsets: []int64{5, 9}, Sizes: []int32{1, 2}, Destinations: []int32{0, 1}, Names: []string{"a", "b"}}
	}
	base := rows()
	want := base.Hash()
	same := rows() // what counts is the difference from the first, and the names
	same.Offsets, same.Destinations, same.Names = []int64{0, 4}, []int32{1, 0}, []string{"b", "a"}
	if same.Hash() != want {
		t.Error("the same arrivals have another hash")
	}
	for name, change := range map[string]func(*schedule.Rows){
		"offset": func(r *schedule.Rows) { r.Offsets[1]++ }, "size": func(r *schedule.Rows) { r.Sizes[0]++ },
		"sizes": func(r *schedule.Rows) { r.Sizes = nil }, "name": func(r *schedule.Rows) { r.Names[1] = "c" },
		"destination": func(r *schedule.Rows) { r.Destinations[1] = 0 },
	} {
		other := rows()
		if change(&other); other.Hash() == want {
			t.Errorf("another %s has the same hash", name)
		}
	}
}
