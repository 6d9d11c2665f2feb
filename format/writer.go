package format

// Writer is a log being written, in any container. The order of calls is free
// except that Close is last; SetMeta may be called several times (later values
// of a key win), which is how what is known only at the end gets in.
//
// A Writer is not safe for concurrent use: one goroutine owns it.
type Writer interface {
	// SetMeta adds metadata. The key perf.schema is the writer's own.
	SetMeta(m Meta)
	// Write appends the rows of b, which must be of the writer's schema. The
	// memory of b may be reused once Write has returned. A NULL in a required
	// column is an error that names row and column.
	Write(b Batch) error
	// Table appends rows to a side table: b is an *Event, *Sample or *ClockRow.
	Table(b Batch) error
	// Close writes what is still to be written and makes the log visible under
	// its name. The log is good only if Close returned nil.
	Close() error
}

// tableNames maps the schemas of side tables to their names in containers.
func tableName(schema string) (string, bool) {
	switch schema {
	case "event/1":
		return "event", true
	case "sample/1":
		return "sample", true
	case "clock/1":
		return "clock", true
	}
	return "", false
}
