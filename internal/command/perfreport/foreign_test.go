package perfreport_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/internal/cli"
)

func TestForeign(t *testing.T) {
	t.Parallel()
	file := func(name string) string { return filepath.Join("..", "..", "analysis", "foreign", "testdata", name) }
	hlog, tagged, hgrm := file("jHiccup-2.0.7S.logV2.hlog"), file("tagged-Log.logV2.hlog"), file("12Krps")
	for args, want := range map[string]string{
		hlog:                                "service only: the log does not know when messages were intended",
		"-f json " + tagged:                 `{"schema":"foreign/1"`,
		"-f csv " + hgrm + " --unit ms":     ",service,p99,9343000,ns,",
		"-f markdown " + hgrm:               "unit unknown",
		file("header-only.hlog"):            "* no data",
		"--expected-interval 5ms " + hlog:   "corrected for coordinated omission with an expected interval of 5ms",
		"--from 5s --to 20s " + hlog:        "(untagged)  11,664",
		"--fail-if service.p50<1us " + hlog: "48,761",
	} {
		r := perfReport(t, "", strings.Fields(args)...)
		if r.code != cli.ExitOK || !strings.Contains(r.stdout, want) || r.stderr != "" {
			t.Errorf("%s: no %q in %+v", args, want, r)
		}
	}
	r := perfReport(t, "", "--fail-if", "service.p50 > 1us", "--tag", "A", tagged)
	if r.code != cli.ExitUnmet || !strings.Contains(r.stderr, "tagged-Log.logV2.hlog A (service only): service.p50 > 1us: ") {
		t.Errorf("%+v", r)
	}
	if r := perfReport(t, "", "--fail-if", "response.p50 > 1h", hlog); r.code != cli.ExitUnmet || !strings.Contains(r.stderr, "withheld: a closed loop has no schedule") {
		t.Errorf("%+v", r)
	}
	log := parquet(t, "run.parquet", repetition("trunk", 1, 1, nil))
	r = perfReport(t, "", "--baseline", hgrm, "--unit", "ms", "--fail-if", "service.p99.change > -90%", "--png", filepath.Join(t.TempDir(), "png"), "--plot-size", "400x320", "--plot-dpi", "72", log)
	if r.code != cli.ExitUnmet || !strings.Contains(r.stdout, "baseline: 12Krps (service only)") || !strings.Contains(r.stdout, "3,477,000") ||
		strings.Contains(r.stdout, "(service only), ") || strings.Contains(r.stdout, "too few messages") || !strings.Contains(r.stderr, "service.p99.change > -90%: -") {
		t.Errorf("%+v", r)
	}
	for args, want := range map[string]string{
		"--baseline " + hgrm + " " + log:                     "the unit of its values is unknown (--unit)",
		"--baseline " + file("header-only.hlog") + " " + log: "no data",
		"--baseline " + file("SLA_usec.dat") + " " + log:     "SLA_usec.dat",
		hlog + " --strict":                                   "--strict needs the log of a run",
		hlog + " " + log:                                     "do not go together as one run: give it as --baseline",
		"--expected-interval 5ms " + log:                     "the logs of a run have intended instants",
		"--tag A " + log:                                     "--tag is of an .hlog",
		"--tag B --fail-if service.p50>1s " + tagged:         `no tag "B": it has "", "A"`,
		"nothere.hlog":                                       "nothere.hlog",
	} {
		if r := perfReport(t, "", strings.Fields(args)...); r.code != cli.ExitFailure && r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.hlog")
	if err := os.WriteFile(bad, []byte("#[StartTime: 1 (seconds since epoch)]\n0.1,1,2,3,4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := perfReport(t, "", bad); r.code != cli.ExitFailure || !strings.Contains(r.stderr, "bad.hlog: line 2: ") || r.stdout != "" {
		t.Errorf("%+v", r)
	}
}
