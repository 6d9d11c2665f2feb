package schedule_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"amqpperf/internal/load/schedule"
)

// FuzzParseSpec: a schedule from a log is refused, or comes back from its JSON as it was, has the same hash, and its instants are in
// order from 0.
func FuzzParseSpec(f *testing.F) {
	for _, s := range []string{
		`{"kind":"constant","rate_num":1000,"rate_den":1,"n":10}`, `{"kind":"poisson","rate_num":5,"rate_den":3,"seed":"7","within_ns":1000000000}`,
		`{"kind":"mmpp2","burst":{}}`, `{"kind":"shape","segments":[{}],"repeat":-1}`, `{"n":-1}`, `{} {}`, `[]`, `{"share":{"k":2,"of":1}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := schedule.ParseSpec(data)
		if err != nil {
			return
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := schedule.ParseSpec(text)
		if err != nil || !reflect.DeepEqual(s, again) || s.Hash() != again.Hash() {
			t.Fatalf("%s comes back as %+v (%v), was %+v", text, again, err, s)
		}
		built, err := s.Build(nil)
		if err != nil {
			return
		}
		last := int64(0)
		for i := range min(built.N(), 50) {
			at := built.At(i)
			if at < last {
				t.Fatalf("%s: message %d at %d, after one at %d", text, i, at, last)
			}
			last = at
		}
	})
}
