package recorder

import (
	"io"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/format"
)

// EventKind is the kind of the events that the recorder itself writes.
const EventKind = "recorder"

// Clock makes the instants that are recorded; *timestamp.Clock is one.
type Clock interface {
	Now() int64
	WallOffset() (offset, gap int64)
}

// Options says what to record and where to.
type Options struct {
	// Target is the name of the log. A file is recorded as a spool and becomes
	// Parquet at the end; "-" (Stdout), FIFOs, devices and names below /dev/fd
	// get Arrow streams.
	Target string
	Stdout io.Writer // what "-" means; nil is os.Stdout
	Force  bool      // replace an existing target
	// CreatedBy goes into the Parquet footer: "perf-send version 1.2.0".
	CreatedBy string
	// Run goes into every row of a send log; a receive log has it from the stamps.
	Run string
	// Process is the sender or receiver id.
	Process int32
	// Meta is what is known at the start; perf.schema is the recorder's own.
	Meta  format.Meta
	Clock Clock

	// FlushEvery is how long a finished row stays in memory at most. 0 is 200 ms.
	FlushEvery time.Duration
	// ProvisionalAfter is how old an outstanding message must be to get a
	// provisional row. 0 is 500 ms: together with FlushEvery a kill then loses
	// less than the last second.
	ProvisionalAfter time.Duration
	// ClockEvery is the interval of rows about the host's clock. 0 is 1 s.
	ClockEvery time.Duration
	// Sync is when the spool is synced. A stream cannot be.
	Sync Sync
	// Queue is the number of rows that wait for the writer at most, besides one
	// block per lane. 0 is 262,144.
	Queue int

	// OnError is called once, from the writer's goroutine, when the log cannot
	// be written any further. What is on disk stays; rows that follow are
	// dropped and counted, and Close returns the error. It must not wait for Close.
	OnError func(error)
}

func (o *Options) setDefaults() {
	if o.FlushEvery <= 0 {
		o.FlushEvery = 200 * time.Millisecond
	}
	if o.ProvisionalAfter <= 0 {
		o.ProvisionalAfter = 500 * time.Millisecond
	}
	if o.ClockEvery <= 0 {
		o.ClockEvery = time.Second
	}
	if o.Queue <= 0 {
		o.Queue = 1 << 18
	}
}

// Recorder records one log. All its methods are safe for concurrent use.
type Recorder[R Row] struct {
	opts Options
	sink sink
	cols columns[R] // of finished rows; the writer's
	prov columns[R] // of provisional rows; the writer's

	q     *queue[R]
	side  side
	lanes struct {
		sync.Mutex
		list []*Lane[R]
	}

	quit    chan struct{} // closed by Close: the ticker ends
	ticked  chan struct{} // closed when the ticker has ended
	written chan struct{} // closed when the writer has ended
	err     atomic.Pointer[error]
	rows    atomic.Int64
	lost    atomic.Int64
	closing sync.Once
	noted   int64 // ns of waiting that events tell of; the ticker's, then Close's
	result  error
}

// NewSend starts recording a send log.
func NewSend(o Options) (*Recorder[SendRow], error) {
	return start(o, format.SendSchema(), func() columns[SendRow] {
		return &sendColumns{run: o.Run, sender: o.Process}
	})
}

// NewRecv starts recording a receive log.
func NewRecv(o Options) (*Recorder[RecvRow], error) {
	return start(o, format.RecvSchema(), func() columns[RecvRow] {
		return &recvColumns{receiver: o.Process}
	})
}

func start[R Row](o Options, schema *format.Schema, cols func() columns[R]) (*Recorder[R], error) {
	o.setDefaults()
	s, err := openSink(&o, schema)
	if err != nil {
		return nil, err
	}
	r := &Recorder[R]{
		opts: o, sink: s, cols: cols(), prov: cols(),
		q:       newQueue[R](max(2, o.Queue/blockRows), o.Clock.Now),
		quit:    make(chan struct{}),
		ticked:  make(chan struct{}),
		written: make(chan struct{}),
	}
	go r.write()
	go r.tick()
	return r, nil
}

// NewLane returns a lane for one producer or consumer. provisional, nil if
// there can be nothing outstanding, is called from the recorder's own
// goroutine at every flush: it emits a row for every message that is
// outstanding since before olderThan (ns since the Unix epoch), and need not
// repeat a row that has not changed since it last emitted it. It may take the
// locks of the hot path; the row is copied by emit.
func (r *Recorder[R]) NewLane(provisional func(olderThan int64, emit func(*R))) *Lane[R] {
	l := &Lane[R]{q: r.q, provisional: provisional}
	r.q.grow()
	r.lanes.Lock()
	defer r.lanes.Unlock()
	r.lanes.list = append(r.lanes.list, l)
	return l
}

// Event records a row of event/1.
func (r *Recorder[R]) Event(e Event) { r.side.addEvent(e) }

// Sample records a row of sample/1: what names quantity and unit.
func (r *Recorder[R]) Sample(at int64, what string, value int64) { r.side.addSample(at, what, value) }

// Clock records a row of clock/1, such as a probe exchange.
func (r *Recorder[R]) Clock(c ClockRow) { r.side.addClock(c) }

// SetMeta adds metadata as it becomes known; later values of a key win. In a
// stream what is set before the first row, and within the first second, stands
// in front of the rows, where a live reader finds it; the rest comes at the end.
func (r *Recorder[R]) SetMeta(m format.Meta) { r.q.give(item[R]{meta: m.Clone()}) }

// Err returns why the log cannot be written any further, nil while it can.
func (r *Recorder[R]) Err() error {
	if p := r.err.Load(); p != nil {
		return *p
	}
	return nil
}

// Stats is what the recorder has done so far.
type Stats struct {
	Rows    int64         // finished rows written
	Lost    int64         // rows that came after an error or after Close
	Blocked time.Duration // how long lanes waited for the writer, summed
	Waits   int64         // how often they did
}

// Stats returns what the recorder has done so far.
func (r *Recorder[R]) Stats() Stats {
	ns, times := r.q.blocked()
	return Stats{Rows: r.rows.Load(), Lost: r.lost.Load() + r.q.lost(), Blocked: time.Duration(ns), Waits: times}
}

// Close ends the recording when all producers or consumers have appended their
// last row. stop says why the run ended (count, duration, idle, signal,
// error), complete that the log is whole, counters goes into perf.counters
// together with the recorder's own. It returns the first error of the
// recording; the spool is kept then and can be read as a log.
func (r *Recorder[R]) Close(stop string, complete bool, counters map[string]int64) error {
	r.closing.Do(func() { r.result = r.close(stop, complete, counters) })
	return r.result
}

func (r *Recorder[R]) close(stop string, complete bool, counters map[string]int64) error {
	close(r.quit)
	<-r.ticked
	r.flushLanes()
	r.q.close()
	r.noteBlocked()
	r.handSide()
	r.q.give(item[R]{flush: true})
	r.q.give(item[R]{stop: true})
	<-r.written
	r.release()
	if err := r.Err(); err != nil {
		return r.sink.abandon(err)
	}
	return r.sink.finish(r.lastMeta(stop, complete, counters))
}

// release lets the memory of the recording go: putting the log in order needs its own.
func (r *Recorder[R]) release() {
	r.cols, r.prov = nil, nil
	r.q.release()
	r.lanes.Lock()
	defer r.lanes.Unlock()
	for _, l := range r.lanes.list {
		l.provisional = nil
	}
}

func (r *Recorder[R]) lastMeta(stop string, complete bool, counters map[string]int64) format.Meta {
	st := r.Stats()
	all := map[string]int64{
		"recorder_rows":       st.Rows,
		"recorder_lost":       st.Lost,
		"recorder_blocked_ns": int64(st.Blocked),
		"recorder_waits":      st.Waits,
	}
	maps.Copy(all, r.sink.counters())
	maps.Copy(all, counters)
	m := format.Meta{format.KeyStop: stop}
	_ = m.SetJSON(format.KeyCounters, all) // integers always have a JSON form
	if complete && st.Lost == 0 {
		m[format.KeyComplete] = "true"
	}
	return m
}
