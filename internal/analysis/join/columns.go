package join

import "slices"

// What is joined is read in any case; the other columns only where somebody
// wants what becomes of them.

// sendColumns returns the columns of send/1 to be read, nil for all.
func (o *Options) sendColumns() []string {
	if o.Columns == nil {
		return nil
	}
	columns := []string{"run", "sender", "producer", "seq", "attempt", "destination", "intended", "sent", "acked", "outcome"}
	for _, name := range []string{"size", "ready", "wait", "error", "connection"} {
		if slices.Contains(o.Columns, name) {
			columns = append(columns, name)
		}
	}
	return columns
}

// recvColumns returns the columns of recv/1 to be read, nil for all.
func (o *Options) recvColumns() []string {
	if o.Columns == nil {
		return nil
	}
	columns := []string{"run", "sender", "producer", "seq", "attempt", "receiver", "consumer", "destination", "subscription",
		"intended", "sent", "received", "started", "outcome", "delivery_count"}
	for _, c := range [][2]string{{"size", "size"}, {"broker_in", "broker_in"}, {"settled", "settled"}, {"recv_connection", "connection"}} {
		if slices.Contains(o.Columns, c[0]) {
			columns = append(columns, c[1])
		}
	}
	return columns
}
