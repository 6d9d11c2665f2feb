package broker

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fineAlarm is a timerfd read through the runtime's poller: the readiness of a
// descriptor wakes the poller at once, while its own timers are rounded to whole
// milliseconds.
type fineAlarm struct {
	fd int
	f  *os.File
}

func newAlarm(coarse bool) alarm {
	if coarse {
		return newCoarseAlarm()
	}
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return newCoarseAlarm() // out of descriptors, most likely: late is better than never
	}
	// fd is kept beside the file: File.Fd would make it blocking.
	return &fineAlarm{fd: fd, f: os.NewFile(uintptr(fd), "timerfd")}
}

func (a *fineAlarm) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(d, 1)))} // 0 would disarm it
	if err := unix.TimerfdSettime(a.fd, 0, &spec, nil); err != nil {
		panic("timerfd_settime: " + err.Error()) // the arguments are always valid
	}
}

func (a *fineAlarm) wait() bool {
	var expirations [8]byte
	_, err := a.f.Read(expirations[:])
	return err == nil
}

func (a *fineAlarm) close() { _ = a.f.Close() }
