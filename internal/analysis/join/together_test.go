package join_test

import (
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/join"
)

// C22: the logs of a run are of one schedule, all its shares are there once and
// started together.
func TestTogether(t *testing.T) {
	t.Parallel()
	const whole = `"loop":"open","rate":"1k","schedule_hash":"abc","size":100`
	for name, c := range map[string]struct {
		configs []string
		status  clock.Status
		says    string
	}{
		"no configuration":        {[]string{""}, clock.Skip, "do not say"},
		"one sender":              {[]string{whole}, clock.OK, "1 send"},
		"two alike":               {[]string{whole, whole}, clock.OK, "2 send"},
		"other schedules":         {[]string{whole, `"loop":"open","rate":"2k","schedule_hash":"def","size":100`}, clock.Fail, "2 different schedules"},
		"other rates of old logs": {[]string{`"rate":"1k"`, `"rate":"2k"`}, clock.Fail, "2 different schedules"},
		"other sizes":             {[]string{whole, `"loop":"open","rate":"1k","schedule_hash":"abc","size":200`}, clock.Fail, "2 different configurations"},
		"all shares":              {[]string{whole + `,"share":"1/2","start_ns":5000`, whole + `,"share":"2/2","start_ns":6000`}, clock.OK, "2 send"},
		"a share is missing":      {[]string{whole + `,"share":"1/3"`, whole + `,"share":"3/3"`}, clock.Fail, "no log of share 2/3"},
		"a share twice":           {[]string{whole + `,"share":"1/2"`, whole + `,"share":"1/2"`}, clock.Fail, "two senders have share 1/2"},
		"shares of other wholes":  {[]string{whole + `,"share":"1/2"`, whole + `,"share":"2/3"`}, clock.Fail, "different wholes"},
		"not all have a share":    {[]string{whole + `,"share":"1/1"`, whole}, clock.Fail, "1 senders have no share"},
		"shares started apart":    {[]string{whole + `,"share":"1/2","start_ns":5000`, whole + `,"share":"2/2","start_ns":3000005000`}, clock.Fail, "started 3.00s apart"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &logs{t: t}
			for i, config := range c.configs {
				meta := format.Meta{}
				if config != "" {
					meta[format.KeyConfig] = "{" + config + "}"
				}
				l.write("send.parquet", sendBatch([]sendRow{{sender: int32(i + 1), sent: 1, acked: 2}}), anchor(), meta)
			}
			_, acc := l.join(join.Options{})
			if acc.Merge.ID != "C22" || acc.Merge.Status != c.status || !strings.Contains(acc.Merge.Text, c.says) {
				t.Errorf("%+v; want %s and %q", acc.Merge, c.status, c.says)
			}
		})
	}
}
