package format

import "path/filepath"

// SpoolSuffix makes the name of the spool from the name of the log.
const SpoolSuffix = ".spool"

// The files of a spool, plain Arrow streams. Only rows.arrows is always there.
const (
	spoolRows        = "rows.arrows"        // finished rows, in the order in which they were finished
	spoolProvisional = "provisional.arrows" // same schema: messages outstanding for more than a second
	spoolEvents      = "events.arrows"
	spoolSamples     = "samples.arrows"
	spoolClock       = "clock.arrows"
	spoolMeta        = "meta.arrows" // key, value; the last of a key holds
)

// spoolTables maps the schemas of side tables to their files.
func spoolTables() map[string]string {
	return map[string]string{
		"event/1":  spoolEvents,
		"sample/1": spoolSamples,
		"clock/1":  spoolClock,
	}
}

// SpoolName returns the name of the spool of a log.
func SpoolName(target string) string { return filepath.Clean(target) + SpoolSuffix }
