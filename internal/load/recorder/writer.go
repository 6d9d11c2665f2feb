package recorder

// batchRows is how many rows are written at once when they come fast.
const batchRows = 1 << 14

// write is the writer's goroutine. It never stops taking from the queue: after
// an error rows are dropped, so that nobody blocks for ever.
func (r *Recorder[R]) write() {
	defer close(r.written)
	for {
		for _, it := range r.q.next() {
			if it.stop {
				return
			}
			r.handle(it)
		}
	}
}

func (r *Recorder[R]) handle(it item[R]) {
	switch {
	case it.block != nil:
		r.add(it.block)
	case it.provisional != nil:
		if r.Err() == nil {
			r.prov.append(it.provisional.rows)
		}
		r.q.recycle(it.provisional)
		if r.prov.batch().Len() >= batchRows {
			r.writeProvisional()
		}
	case it.table != nil:
		r.try(func() error { return r.sink.table(it.table) })
	case it.meta != nil:
		r.sink.setMeta(it.meta)
	case it.flush:
		r.writeRows()
		r.writeProvisional()
		r.try(r.sink.flush)
	}
}

func (r *Recorder[R]) add(b *block[R]) {
	if r.Err() == nil {
		r.cols.append(b.rows)
	} else {
		r.lost.Add(int64(len(b.rows)))
	}
	r.q.recycle(b)
	if r.cols.batch().Len() >= batchRows {
		r.writeRows()
	}
}

func (r *Recorder[R]) writeRows() {
	n := int64(r.cols.batch().Len())
	if n == 0 {
		return
	}
	if r.try(func() error { return r.sink.rows(r.cols.batch()) }) {
		r.rows.Add(n)
	} else {
		r.lost.Add(n)
	}
	r.cols.reset()
}

func (r *Recorder[R]) writeProvisional() {
	if r.prov.batch().Len() == 0 {
		return
	}
	r.try(func() error { return r.sink.provisional(r.prov.batch()) })
	r.prov.reset()
}

// try does one step of writing unless an earlier one failed, and reports
// whether it was done.
func (r *Recorder[R]) try(step func() error) bool {
	if r.Err() != nil {
		return false
	}
	err := step()
	if err == nil {
		return true
	}
	r.err.Store(&err)
	if r.opts.OnError != nil {
		r.opts.OnError(err)
	}
	return false
}
