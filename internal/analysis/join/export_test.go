package join

// WithChunk returns options that divide send logs into chunks of so many rows.
func WithChunk(o Options, rows int) Options {
	o.chunkRows = rows
	return o
}

// Spilled reports whether deliveries went to a temporary file.
func (j *Joiner) Spilled() bool { return j.store.spill != nil }

// Held returns the most bytes of deliveries that were in memory, and the budget.
func (j *Joiner) Held() (peak, budget int64) { return j.store.peak, j.store.budget }
