package format

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// PartialSuffix is what a file is called while it is being written.
const PartialSuffix = ".partial"

// ErrExists says that an output is in the way. It wraps fs.ErrExist.
var ErrExists = fmt.Errorf("refused to overwrite: %w", fs.ErrExist)

// File is an output that becomes visible under its name only when it is whole:
// bytes go to NAME.partial, and Close syncs it and renames it to NAME. A target
// that exists, or that appears meanwhile, is not replaced unless force was
// given. A File is not safe for concurrent use.
//
// Devices, FIFOs and names below /dev are written directly: there is nothing
// to rename.
type File struct {
	f       *os.File
	path    string
	partial string // "" when written directly
	force   bool
	done    bool
}

// CreateFile starts an output. With force an existing regular file of that
// name is replaced when Close is called, and a left-over NAME.partial that
// nobody is writing is discarded; without it both are an error that wraps
// [ErrExists]. A symbolic link is never followed, except to a device or FIFO
// (/dev/stdout).
func CreateFile(path string, force bool) (*File, error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return openDirect(path)
	}
	if err := checkTarget(path, force); err != nil {
		return nil, err
	}
	partial := path + PartialSuffix
	f, err := createExclusive(partial)
	if errors.Is(err, fs.ErrExist) {
		if err = clearPartial(partial, force); err == nil {
			f, err = createExclusive(partial)
		}
	}
	if err != nil {
		return nil, err
	}
	// The lock tells a file that is being written from one that a killed
	// process left behind; it goes with the process.
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s is being written by another process: %w", partial, ErrExists)
	}
	return &File{f: f, path: path, partial: partial, force: force}, nil
}

func openDirect(path string) (*File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	return &File{f: f, path: path}, nil
}

func createExclusive(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o666)
}

// checkTarget reports what stands in the way at path.
func checkTarget(path string, force bool) error {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a directory", path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is a %s: %w", path, fileKind(st.Mode()), ErrExists)
	case !force:
		return fmt.Errorf("%s exists: %w", path, ErrExists)
	}
	return nil
}

func fileKind(m fs.FileMode) string {
	if m&fs.ModeSymlink != 0 {
		return "symbolic link"
	}
	return "special file"
}

// clearPartial removes a left-over partial file that nobody is writing.
func clearPartial(partial string, force bool) error {
	if !force {
		return fmt.Errorf("%s is there, from a writer that is running or was killed; remove it if none is running: %w", partial, ErrExists)
	}
	f, err := os.OpenFile(partial, os.O_WRONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", partial, ErrExists)
	}
	locked := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
	defer func() { _ = f.Close() }() // nothing was written
	if locked {
		return fmt.Errorf("%s is being written by another process: %w", partial, ErrExists)
	}
	return os.Remove(partial)
}

// Name returns the name that the output will have.
func (f *File) Name() string { return f.path }

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) { return f.f.Write(p) }

// Sync flushes to disk what was written so far.
func (f *File) Sync() error { return f.f.Sync() }

// Close syncs the file and gives it its name. If that fails, because the disk
// is full or a file of that name appeared meanwhile, the bytes stay in
// NAME.partial and the error says so. After Close or Abort it does nothing.
func (f *File) Close() error {
	if f.done {
		return nil
	}
	f.done = true
	if f.partial == "" {
		return f.f.Close()
	}
	err := f.f.Sync()
	if err == nil {
		err = f.publish()
	}
	if err = errors.Join(err, f.f.Close()); err != nil {
		return fmt.Errorf("%s not finished (what was written is in %s): %w", f.path, f.partial, err)
	}
	return syncDir(filepath.Dir(f.path))
}

// publish renames while the lock is still held.
func (f *File) publish() error {
	if f.force {
		if err := checkTarget(f.path, true); err != nil {
			return err
		}
		return os.Rename(f.partial, f.path)
	}
	err := renameNoReplace(f.partial, f.path)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s appeared meanwhile: %w", f.path, ErrExists)
	}
	return err
}

// Abort gives the output up and removes NAME.partial. It does nothing after
// Close, so it can be deferred.
func (f *File) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.f.Close()
	if f.partial != "" {
		err = errors.Join(err, os.Remove(f.partial))
	}
	return err
}

// linkNoReplace renames by linking: link(2) never replaces.
func linkNoReplace(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(from)
}

// syncDir makes the new name itself durable. File systems that cannot sync a
// directory say EINVAL or ENOTSUP, which is no fault of the output.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
