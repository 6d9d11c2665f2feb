package perfreport

import (
	"math"
	"strings"
	"testing"

	"amqpperf/format"
)

func TestResources(t *testing.T) {
	t.Parallel()
	all, err := parseResources(strings.NewReader("time,rss_bytes,cpu_percent\n2026-09-21T14:13:20Z,1000,50\n1790000001.5,2000,\n1790000002000000000,,200\n"))
	if err != nil || len(all) != 3 || all[0].at != 1790000000e9 || all[1].at != 1790000001500000000 || all[2].at != 1790000002e9 || all[0].cpu != 50 || !math.IsNaN(all[1].cpu) || all[2].cpu != 200 {
		t.Fatalf("%+v %v", all, err)
	}
	b := format.Sample{What: format.Strings{Values: []string{"x"}, Codes: []int32{0}}, Instant: []int64{5}, Value: []int64{6}}
	addResources(&b, all)
	var got []string
	for i := range b.Instant {
		what, _ := b.What.At(i)
		got = append(got, what)
	}
	if strings.Join(got, " ") != "x broker.cpu_ns broker.rss_bytes broker.rss_bytes broker.cpu_ns" || b.Value[4] != 1e9 {
		t.Errorf("%v %v", got, b.Value)
	}
	for text, want := range map[string]string{
		"": "empty", "time\n": "line 1: the columns", "a,b\n1,2\n": "line 1: the columns", "time,cpu_percent\nx,1\n": `line 2: time "x"`,
		"time,cpu_percent\n5,-1\n": `line 2: cpu_percent "-1"`, "time,cpu_percent\n5,NaN\n": `cpu_percent "NaN"`, "time,cpu_percent\n5,1\n4,1\n": "line 3: time goes back",
		"time,cpu_percent\n5\n": "wrong number of fields", "time,rss_bytes\n5,1e30\n": `rss_bytes "1e30"`, "PAR1\x00": "line 1: the columns",
	} {
		if _, err := parseResources(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzResources(f *testing.F) {
	f.Add("time,rss_bytes,cpu_percent\n2026-09-21T14:13:20Z,1000,50\n1790000001.5,2000,\n")
	f.Add("time,cpu_percent\n5,1e9\n")
	f.Fuzz(func(t *testing.T, s string) {
		all, err := parseResources(strings.NewReader(s))
		if err != nil {
			return
		}
		var b format.Sample
		addResources(&b, all)
		if len(b.Instant) != len(b.Value) || len(b.Value) != len(b.What.Codes) {
			t.Fatal("columns differ in length")
		}
	})
}
