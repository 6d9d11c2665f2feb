package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// RefuseTerminal returns a usage error if binary data would go to a terminal.
func RefuseTerminal(w io.Writer, what string) error {
	if IsTerminal(w) {
		return Usagef("%s is binary and standard output is a terminal: redirect it or name a file with -o", what)
	}
	return nil
}
