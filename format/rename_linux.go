package format

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames without replacing. File systems that do not know
// RENAME_NOREPLACE (NFS, some FUSE) get link(2) and unlink(2) instead.
func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return linkNoReplace(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
