package where_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/where"
)

// mixed is a run to several destinations, of several sizes and producers.
func mixed(n int) *synth.Log {
	l := synth.Queue{N: n, Interval: 1e6, Service: ms / 10, Transit: ms}.Run()
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Destination = []string{"a", "b", "c"}[i%3]
		r.Size = int32(100 * (i % 5))
		r.Producer, r.Consumer = int32(i%2), int32(i%4)
	}
	return l
}

// reduced reduces the groups of a log beside each other, and each alone with an
// expression: both must be the same.
func TestSplitIsWhere(t *testing.T) {
	t.Parallel()
	for by, exprs := range map[string][]string{
		"destination": {`destination == "a"`, `destination == "b"`, `destination == "c"`},
		"size":        {`size == 0`, `size == 100`, `size == 200`, `size == 300`, `size == 400`},
		"producer":    {`producer == 0`, `producer == 1`},
		"consumer":    {`consumer == 0`, `consumer == 1`, `consumer == 2`, `consumer == 3`},
		"outcome":     {`outcome == "accepted"`},
		"second":      {`intended < 1790000001000000000`, `intended >= 1790000001000000000 && intended < 1790000002000000000`, `intended >= 1790000002000000000`},
	} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			s, err := where.NewSplit(mixed(3000).Reader(100), where.SplitOptions{By: by})
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Groups()) != len(exprs) {
				t.Fatalf("groups %v, want %d", s.Groups(), len(exprs))
			}
			got := make([]*reduce.Data, len(exprs))
			warm := 500 * time.Millisecond
			if by == "second" {
				warm = 0
			}
			opt := reduce.Options{Warmup: &warm}
			if err := s.Each(func(i int, rows reduce.Rows) (err error) {
				got[i], err = reduce.Reduce(rows, opt)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			for i, expr := range exprs {
				p, err := where.Parse(expr)
				if err != nil {
					t.Fatal(err)
				}
				want, err := reduce.Reduce(where.Filter(mixed(3000).Reader(77), p), opt)
				if err != nil {
					t.Fatal(err)
				}
				if got[i].Counts != want.Counts || got[i].Rows != s.Groups()[i].Rows || got[i].Window != want.Window {
					t.Errorf("%s: %+v %+v, want %+v %+v", expr, got[i].Counts, got[i].Window, want.Counts, want.Window)
				}
				for m := range want.Metrics {
					if !slices.Equal(got[i].Metrics[m].Quantiles, want.Metrics[m].Quantiles) {
						t.Errorf("%s: %s differs", expr, reduce.Metric(m))
					}
				}
			}
		})
	}
}

func TestGroupNames(t *testing.T) {
	t.Parallel()
	l := mixed(300)
	l.Rows[7].Destination, l.Rows[9].Subscription = "", "s1"
	l.Rows[5].Attempt = 1
	for by, want := range map[string]string{
		"destination": "a,b,c,none", "size": "0 B,100 B,200 B,300 B,400 B", "producer": "S1,S2", "consumer": "R1,R2,R3,R4",
		"subscription": "s1,none", "attempt": "0,1", "second": "0 s", "connection": "0", "wait": "none",
	} {
		s, err := where.NewSplit(l.Reader(100), where.SplitOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range s.Groups() {
			names = append(names, g.Name)
		}
		if got := strings.Join(names, ","); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
	}
}

// Every transmission of a group by attempt has its own latency, and a group by
// subscription has the sending side of its messages.
func TestGroupsAreWhole(t *testing.T) {
	t.Parallel()
	l := &synth.Log{}
	for i := range int64(100) {
		r := synth.Message(i, synth.Start+i*ms, ms).Arrive(synth.Start + i*ms + 2*ms)
		r.Run = "run"
		again := r
		again.Attempt, again.Subscription = 1, "b"
		second := r
		r.Subscription, second.Subscription, second.Secondary = "a", "b", true
		l.Rows = append(l.Rows, r, second, again)
	}
	each := func(by string) map[string]*reduce.Data {
		s, err := where.NewSplit(l.Reader(64), where.SplitOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		out := map[string]*reduce.Data{}
		if err := s.Each(func(i int, rows reduce.Rows) error {
			d, err := reduce.Reduce(rows, reduce.Options{})
			mu.Lock()
			defer mu.Unlock()
			out[s.Groups()[i].Name] = d
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if d := each("attempt")["1"]; d.Metrics[reduce.Response].N() != 100 {
		t.Errorf("attempt 1 has %d responses", d.Metrics[reduce.Response].N())
	}
	if d := each("subscription")["a"]; d.Counts.Intended != 100 || d.Counts.Received != 100 {
		t.Errorf("subscription a: %+v", d.Counts)
	}
}

func TestSplitRefuses(t *testing.T) {
	t.Parallel()
	_, err := where.NewSplit(mixed(300).Reader(100), where.SplitOptions{By: "size", Limit: 4})
	if err == nil || !strings.Contains(err.Error(), "--by size makes more than 4 groups") {
		t.Errorf("%v", err)
	}
	if _, err := where.NewSplit(mixed(300).Reader(100), where.SplitOptions{By: "colour"}); err == nil {
		t.Error("--by colour is taken")
	}
	// One group that fails does not hold the others up.
	s, err := where.NewSplit(mixed(3000).Reader(100), where.SplitOptions{By: "size"})
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	err = s.Each(func(i int, rows reduce.Rows) error {
		if i == 2 {
			return boom
		}
		_, err := reduce.Reduce(rows, reduce.Options{})
		return err
	})
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "200 B: boom") {
		t.Errorf("%v", err)
	}
}
