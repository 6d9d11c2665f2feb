package jsonpath

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	const report = `{"counts": {"lost": 3}, "quantiles": {"99.9": {"value_ns": null}}, "checks": [{"id": "lag", "status": "ok"}, {"id": "cpu", "status": "warn"}]}`
	tests := []struct {
		document, path string
		want           any
	}{
		{report, "/counts/lost", json.Number("3")},
		{report, "counts/lost", json.Number("3")},
		{report, "/0/counts/lost", json.Number("3")},
		{report, "/quantiles/99.9/value_ns", nil},
		{report, "/checks/1/id", "cpu"},
		{report, "/checks/cpu/status", "warn"},
		{report, "/checks/length", json.Number("2")},
		{"[" + report + "]", "/0/counts/lost", json.Number("3")},
		{report + "\n" + `{"counts": {"lost": 4}}`, "/1/counts/lost", json.Number("4")},
	}
	for _, tt := range tests {
		got, err := Lookup([]byte(tt.document), tt.path)
		if err != nil || !cmp.Equal(got, tt.want) {
			t.Errorf("%s: got %v, %v, want %v", tt.path, got, err, tt.want)
		}
	}
	if _, err := Lookup([]byte(report), "/counts/found"); !errors.Is(err, ErrAbsent) {
		t.Errorf("absent: got %v", err)
	}
	if _, err := Lookup([]byte("{"), "/a"); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("not JSON: got %v", err)
	}
	if n, err := Number([]byte(report), "/counts/lost"); n != 3 || err != nil {
		t.Errorf("Number: got %v, %v", n, err)
	}
	if _, err := Number([]byte(report), "/checks/0/id"); err == nil {
		t.Error("Number of a string: no error")
	}
}
