package connect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDestinations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n         int
		given     bool
		addresses string
		want, err string
	}{
		{0, false, "queue://a%d", "queue://a%d", ""},
		{3, true, "queue://a%d topic://%d-%d", "queue://a0 queue://a1 queue://a2 topic://0-0 topic://1-1 topic://2-2", ""},
		{0, true, "queue://a%d", "", "--num-destinations 0: 1 to 1000000"},
		{2, true, "queue://a", "", "there is no %d in queue://a"},
	} {
		got, err := (&Destinations{tt.n}).Expand(func(string) bool { return tt.given }, strings.Fields(tt.addresses))
		if (err == nil) != (tt.err == "") || (err != nil && !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%d %s: %v, want %q", tt.n, tt.addresses, err, tt.err)
		}
		if d := cmp.Diff(strings.Fields(tt.want), got); err == nil && d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}
