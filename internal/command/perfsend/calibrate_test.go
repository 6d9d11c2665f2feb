package perfsend_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
)

// A calibration prints a table, is kept, and logs that are recorded later refer
// to it.
func TestCalibrate(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	cache := t.TempDir()
	s.vars["XDG_CACHE_HOME"] = cache
	if code := s.run("--calibrate -d 100ms"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	for _, want := range []string{"in-process   lag", "in-process   service", "loopback     lag", "loopback     service", "loopback     e2e", "in-process   rate", "loopback     rate"} {
		if !strings.Contains(s.stdout.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, &s.stdout)
		}
	}
	if _, err := os.Stat(filepath.Join(cache, "amqpperf", "calibration.json")); err != nil {
		t.Error(err)
	}

	_, url := startBroker(t, broker.Config{})
	if code := s.run("-u " + url + " -n 10 -q -o " + s.log + " queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	c, err := s.read(t).meta.Calibration()
	if err != nil || c == nil {
		t.Fatalf("calibration %v, %v", c, err)
	}
	floor := func(t format.Target, metric string) int64 { return t.Floors[metric].P50 }
	if c.At == "" || c.Host == "" || c.Go == "" || c.Timer == "" || len(c.Differs) > 0 || c.MaxRate <= 0 || c.InProcess.MaxRate <= c.MaxRate ||
		floor(c.Target, "service") <= floor(c.InProcess, "service") || floor(c.Target, "e2e") <= floor(c.Target, "lag") || floor(c.InProcess, "lag") < 0 {
		t.Errorf("calibration %+v", c)
	}
	for metric, f := range c.Floors {
		if f.P50 > f.P99 || f.P99 > f.Max {
			t.Errorf("%s: %+v", metric, f)
		}
	}
	if _, ok := c.InProcess.Floors["e2e"]; ok || len(c.Floors) != 3 {
		t.Errorf("floors %v, in-process %v", c.Floors, c.InProcess.Floors)
	}
}

func TestCalibrateGoesAlone(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--calibrate queue://a", "--calibrate -r 5", "--calibrate -d 1ms", "--calibrate -o x"} {
		s := newSession(t)
		if code := s.run(args); code != 2 {
			t.Errorf("%s: exit %d: %s", args, code, &s.stderr)
		}
	}
	s := newSession(t)
	if code := s.run("-r 5"); code != 2 || !strings.Contains(s.stderr.String(), "no ADDRESS given") {
		t.Errorf("no address: exit %d: %s", code, &s.stderr)
	}
}

// Nothing is kept when it is interrupted.
func TestCalibrateInterrupted(t *testing.T) {
	t.Parallel()
	s := newSession(t)
	cache := t.TempDir()
	s.vars["XDG_CACHE_HOME"] = cache
	s.signals <- os.Interrupt
	if code := s.run("--calibrate -d 1m"); code != 3 {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	if list, err := os.ReadDir(cache); err != nil || len(list) > 0 {
		t.Errorf("%v, %v", list, err)
	}
}
