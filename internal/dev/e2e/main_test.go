package e2e

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfbroker"
	"amqpperf/internal/command/perfmerge"
	"amqpperf/internal/command/perfrecv"
	"amqpperf/internal/command/perfreport"
	"amqpperf/internal/command/perfrun"
	"amqpperf/internal/command/perfsend"
	"amqpperf/internal/dev/golden"
)

// commands are all programs by name.
func commands() map[string]func(*cli.Env) *cobra.Command {
	return map[string]func(*cli.Env) *cobra.Command{
		"perf-send": perfsend.New, "perf-recv": perfrecv.New, "perf-merge": perfmerge.New, "perf-report": perfreport.New, "perf-broker": perfbroker.New, "perf-run": perfrun.New,
	}
}

func TestMain(m *testing.M) {
	programs := map[string]func(){}
	for name, construct := range commands() {
		programs[name] = func() {
			withClient(name)
			os.Exit(cli.Main(construct))
		}
	}
	testscript.Main(m, programs)
}

func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	runScripts(t, "", files)
}

// runScripts runs scripts with a client; "" is the programs' own choice.
func runScripts(t *testing.T, client string, files []string) {
	testscript.Run(t, testscript.Params{
		Files:               files,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       golden.Update(),
		Setup: func(env *testscript.Env) error {
			env.Values[cutterKey("cutters")] = &sync.Map{}
			env.Setenv("HOME", env.WorkDir)
			env.Setenv(clientVariable, client)
			// The scripts of the repository are run too.
			root, err := filepath.Abs(filepath.Join("..", "..", ".."))
			env.Setenv("REPO", root)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"broker":      startBroker,
			"exits":       runExits,
			"rows":        waitForRows,
			"appears":     waitForFile,
			"says":        waitForLine,
			"json":        compareJSON,
			"mkparquet":   makeParquet,
			"dumpparquet": dumpParquet,
			"cutter":      startCutter,
			"cut":         cutConnections,
			"gone":        waitForEnd,
			"agrees":      checkAgreement,
		},
	})
}
