package recorder

import "time"

// Sync says when what was written to the spool is made to reach the disk
// (fsync). Whatever it says, a kill of the process loses at most the last
// second, because the operating system has the rest; the policy is about power
// cuts and crashes of the host. A finished log is always synced.
type Sync string

// The policies; "" is SyncNone.
const (
	SyncNone   Sync = "none"   // when the operating system thinks fit, on Linux within about 30 s
	SyncSecond Sync = "second" // once a second
	SyncAlways Sync = "always" // after every flush, five times a second
)

func (s Sync) asked() bool { return s != "" && s != SyncNone }

// syncer carries out the policy in a goroutine of its own, one sync at a time:
// a disk that takes long for it must not keep rows from the operating system,
// which are all that a kill leaves. It is the writer's.
type syncer struct {
	every int64 // ns between two syncs, −1: never
	now   func() int64
	start func() func() error // fixes what is to be synced, and returns what does it

	last int64      // when the last began
	done chan error // of the sync that is under way; nil if none is
	n    int64      // syncs begun
	late int64      // flushes after which one was due while another was under way
}

func newSyncer(policy Sync, now func() int64, start func() func() error) *syncer {
	s := &syncer{every: -1, now: now, start: start}
	switch policy {
	case SyncSecond:
		s.every = int64(time.Second)
	case SyncAlways:
		s.every = 0
	}
	return s
}

// flushed is called after every flush. It returns the error of an earlier sync.
func (s *syncer) flushed() error {
	if s.every < 0 {
		return nil
	}
	if s.done != nil {
		select {
		case err := <-s.done:
			s.done = nil
			if err != nil {
				return err
			}
		default:
			if s.now()-s.last >= s.every {
				s.late++
			}
			return nil
		}
	}
	if now := s.now(); s.n == 0 || now-s.last >= s.every {
		s.last, s.done = now, make(chan error, 1)
		s.n++
		do, done := s.start(), s.done
		go func() { done <- do() }()
	}
	return nil
}

// wait waits for the sync that is under way, if one is, and returns its error.
func (s *syncer) wait() error {
	if s.done == nil {
		return nil
	}
	err := <-s.done
	s.done = nil
	return err
}

// counters returns what the log says about it; nothing if it was not asked for.
func (s *syncer) counters() map[string]int64 {
	if s.every < 0 {
		return nil
	}
	return map[string]int64{"recorder_syncs": s.n, "recorder_syncs_late": s.late}
}
