package cli_test

import (
	"testing"
	"time"

	"amqpperf/internal/cli"
)

func FuzzStartAt(f *testing.F) {
	for _, s := range []string{"", "+30s", "+-1s", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+01:00"} {
		f.Add(s)
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		var at cli.StartAt
		if at.Set(s) != nil {
			return
		}
		when, asked := at.From(now)
		if !asked || at.String() != s || (s[0] == '+' && when.Before(now)) {
			t.Fatalf("%q: %v, %v", s, when, asked)
		}
	})
}

func FuzzLabels(f *testing.F) {
	for _, s := range []string{"k=v", "k=", "=v", "k", " k =v=w"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		labels := cli.Labels{}
		if labels.Set(s) != nil {
			return
		}
		if len(labels) != 1 || labels.Set(s) != nil || labels[""] != "" {
			t.Fatalf("%q: %v", s, labels)
		}
	})
}
