package connect

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
)

// MaxDestinations is how many addresses --num-destinations makes of one at most.
const MaxDestinations = 1_000_000

// Destinations is the flag --num-destinations: how many addresses each ADDRESS
// stands for; 0 is the one that it is.
type Destinations struct{ N int }

// Register defines the flag.
func (d *Destinations) Register(fs *pflag.FlagSet) {
	fs.IntVar(&d.N, "num-destinations", 0, "make `N` addresses of each ADDRESS: %d in it is 0, 1 … N-1")
}

// Expand replaces %d in addresses by the numbers from 0. Errors are usage errors.
func (d *Destinations) Expand(given func(flag string) bool, addresses []string) ([]string, error) {
	if !given("num-destinations") {
		return addresses, nil
	}
	if d.N < 1 || d.N > MaxDestinations {
		return nil, cli.Usagef("--num-destinations %d: 1 to %d", d.N, MaxDestinations)
	}
	var out []string
	for _, a := range addresses {
		if !strings.Contains(a, "%d") {
			return nil, cli.Usagef("--num-destinations %d: there is no %%d in %s: give queue://NAME%%d", d.N, a)
		}
		for i := range d.N {
			out = append(out, strings.ReplaceAll(a, "%d", strconv.Itoa(i)))
		}
	}
	return out, nil
}
