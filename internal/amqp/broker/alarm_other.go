//go:build !linux

package broker

func newAlarm(bool) alarm { return newCoarseAlarm() }
