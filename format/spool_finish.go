package format

import "errors"

// FinishOptions are the choices of [SpoolWriter.Finish]; the zero value is good.
type FinishOptions struct {
	CreatedBy string // goes into the Parquet footer: "perf-send version 1.2.0"
}

// Finish makes the log.
func (s *SpoolWriter) Finish(meta Meta, o FinishOptions) error {
	return errors.Join(errors.ErrUnsupported, s.Close())
}
