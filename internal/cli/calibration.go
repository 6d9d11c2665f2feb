package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"

	"amqpperf/format"
)

// calibrationPath returns the file in the user's cache in which the calibration
// of a host is kept, "" if the environment names no cache.
func calibrationPath(env *Env) string {
	if env == nil || env.Getenv == nil {
		return ""
	}
	dir := env.Getenv("XDG_CACHE_HOME")
	if dir == "" {
		home := env.Getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "amqpperf", "calibration.json")
}

// Calibration returns the last calibration of this host, with what has changed
// since, nil if there is none. It is a convenience: a file that cannot be read
// is no reason not to measure.
func Calibration(env *Env, host string) *format.Calibration {
	path := calibrationPath(env)
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	c := &format.Calibration{}
	if json.Unmarshal(b, c) != nil || c.Host != host || c.At == "" {
		return nil
	}
	c.Differs = nil
	for _, d := range []struct{ what, then, now string }{
		{"kernel", c.Kernel, Kernel()}, {"go", c.Go, runtime.Version()}, {"version", c.Version, Version()},
	} {
		if d.then != d.now {
			c.Differs = append(c.Differs, d.what)
		}
	}
	return c
}

// KeepCalibration stores a calibration and returns the name of the file.
func KeepCalibration(env *Env, c *format.Calibration) (string, error) {
	path := calibrationPath(env)
	if path == "" {
		return "", errors.New("neither $XDG_CACHE_HOME nor $HOME says where to keep the calibration")
	}
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", fmt.Errorf("calibration: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	// By way of another file: a log that is begun meanwhile reads a whole one.
	f, err := os.CreateTemp(filepath.Dir(path), "calibration-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return path, nil
}

// Kernel returns the release of the kernel, "" if it does not tell.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
