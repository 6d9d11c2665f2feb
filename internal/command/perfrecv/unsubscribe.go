package perfrecv

import (
	"context"
	"errors"
	"fmt"

	"amqpperf/internal/command/connect"
)

// endSubscriptions ends the durable subscriptions that consumers with these flags
// would have, and does nothing else.
func (r *run) endSubscriptions(ctx context.Context) error {
	ctx, release := r.env.Interruptible(ctx)
	defer release()
	conns, err := connect.Dial(ctx, r.link, r.connections)
	defer func() { _ = connect.Close[receiver](nil, conns) }() // there is nothing on them
	if err != nil {
		return connect.Explain(ctx, err)
	}
	ended := map[[2]string]bool{} // one that consumers share
	var failed error
	for k := range r.consumers {
		cfg := r.receiverConfig(k)
		key := [2]string{cfg.Address, cfg.Subscription}
		if ended[key] {
			continue
		}
		ended[key] = true
		if err := conns[k%r.connections].Unsubscribe(ctx, cfg); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if !r.o.live.Quiet {
			fmt.Fprintf(r.env.Stderr, "%s: ended the subscription %s to %s\n", tool, cfg.Subscription, cfg.Address)
		}
	}
	return failed
}
