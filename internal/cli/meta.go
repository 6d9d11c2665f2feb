package cli

import (
	"os"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// BaseMeta returns the metadata that every recorded log starts with.
func BaseMeta(tool, run string, clock *timestamp.Clock, flags *RunFlags) (format.Meta, error) {
	anchor := clock.Anchor()
	m := format.Meta{
		format.KeyTool:    tool,
		format.KeyVersion: Version(),
		format.KeyRun:     run,
	}
	if host, err := os.Hostname(); err == nil {
		m[format.KeyHost] = host
	}
	if anchor.BootID != "" {
		m[format.KeyBootID] = anchor.BootID
	}
	if flags.Name != "" {
		m[format.KeyName] = flags.Name
	}
	if len(flags.Labels) > 0 {
		if err := m.SetJSON(format.KeyLabels, flags.Labels); err != nil {
			return nil, err
		}
	}
	if c := Calibration(flags.env, m[format.KeyHost]); c != nil {
		if err := m.SetJSON(format.KeyCalibration, c); err != nil {
			return nil, err
		}
	}
	return m, m.SetJSON(format.KeyClock, anchor)
}
