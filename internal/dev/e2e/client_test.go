package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// clientVariable names the client (own or library) that perf-send and perf-recv run with when a script says
// nothing of it.
const clientVariable = "E2E_CLIENT"

// withClient adds what clientVariable says to the arguments of a program.
func withClient(program string) {
	client := os.Getenv(clientVariable)
	if client == "" || program != "perf-send" && program != "perf-recv" {
		return
	}
	os.Args = slices.Insert(os.Args, 1, "--client", client)
}

// TestScriptsOfLibrary runs the scripts in which it matters who runs sessions and links on the library's client too: what
// comes through, what is answered, how a run ends, what happens when the connection does.
func TestScriptsOfLibrary(t *testing.T) {
	t.Parallel()
	var files []string
	for _, name := range []string{"topics", "recv_ends", "credentials", "connection_cut", "broker_log"} {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	runScripts(t, "library", files)
}
