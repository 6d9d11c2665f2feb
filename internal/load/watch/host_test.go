package watch

import (
	"os"
	"testing"
)

func TestHostFromFiles(t *testing.T) {
	t.Parallel()
	o, proc, _ := fake(t)
	put(t, proc, map[string]string{
		"stat":         "cpu  100 10 50 800 40 5 5 20 7 0\ncpu0 1 2 3 4\n",
		"loadavg":      "5.19 4.76 5.05 2/230 12854\n",
		"pressure/cpu": "some avg10=3.88 avg60=36.99 avg300=55.49 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
	})
	w := newWatcher(t, o)
	take(w, 1e9).want(t, rows{
		"host.cpu_busy_ppm": -1, "host.cpu_steal_ppm": -1, "host.psi_cpu_some_ppm": -1, // nothing to compare with
		"host.psi_cpu_some_avg10_ppm": 38_800, "host.load1_milli": 5190,
	})
	put(t, proc, map[string]string{ // + user 60, idle 30, steal 10; + 250 ms within 1 s
		"stat":         "cpu  160 10 50 830 40 5 5 30 7 0\n",
		"pressure/cpu": "some avg10=0.00 avg60=36.99 avg300=55.49 total=1250000\n",
	})
	take(w, 2e9).want(t, rows{
		"host.cpu_busy_ppm": 600_000, "host.cpu_steal_ppm": 100_000,
		"host.psi_cpu_some_ppm": 250_000, "host.psi_cpu_some_avg10_ppm": 0,
	})
}

// A host that does not tell has no rows, not rows of 0.
func TestHostWithoutFiles(t *testing.T) {
	t.Parallel()
	o, proc, _ := fake(t)
	put(t, proc, map[string]string{"stat": "cpu  bad\n", "pressure/cpu": "", "loadavg": "x"})
	w := newWatcher(t, o)
	for at := range int64(2) {
		take(w, at+1).want(t, rows{
			"host.cpu_busy_ppm": -1, "host.cpu_steal_ppm": -1, "host.psi_cpu_some_ppm": -1,
			"host.psi_cpu_some_avg10_ppm": -1, "host.load1_milli": -1, "tool.rss_bytes": -1, "tool.cpu_quota_millicores": -1,
		})
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte("cpu  100 10 50 800 40 5 5 20 7 0\n"))
	f.Add([]byte("12 (a) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22\n"))
	f.Add([]byte("some avg10=3.88 avg60=36.99 avg300=55.49 total=1462987936\n"))
	f.Add([]byte("usage_usec 5\nthrottled_usec 7\n"))
	f.Add([]byte("4:memory:/a\n0::/b\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, ok := parseStat(b); ok && len(b) < 40 && (c.busy < 0 || c.idle < 0 || c.stolen < 0) {
			t.Errorf("%q: %+v", b, c)
		}
		parsePIDStat(b)
		cgroupPaths(b)
		if v, ok := keyed(b, "usage_usec"); ok && v < 0 {
			t.Errorf("%q: %d", b, v)
		}
		if v, ok := decimal(b, thousand); ok && v < 0 {
			t.Errorf("%q: %d", b, v)
		}
		path := t.TempDir() + "/pressure"
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		h := &host{pressure: file{path: path}, stalledKnown: true}
		h.samplePressure(&sampler{elapsed: 1e9, emit: func(_ int64, what string, v int64) {
			if v < 0 {
				t.Errorf("%q: %s %d", b, what, v)
			}
		}})
		h.close()
	})
}

func TestDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"5.19": 5190, "0.00": 0, "7": 7000, "1.23456": 1234, "": -1, "-1": -1, "1.x": -1} {
		got, ok := decimal([]byte(text), 1000)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}
