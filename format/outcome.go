package format

// The outcomes of send/1 and recv/1.
const (
	Accepted   = "accepted"
	Rejected   = "rejected"
	Released   = "released"
	Modified   = "modified"
	Presettled = "presettled"
	Unsettled  = "unsettled" // no disposition until the end
	Failed     = "failed"    // link or connection error
	Unsent     = "unsent"    // intended, never written
)

// What only merged/1 holds.
const (
	// Unlogged is the outcome of an arrival that no send row belongs to: its
	// send log is missing or was cut. What is known of it is in its stamp.
	Unlogged = "unlogged"
	// Lost, as recv_outcome, marks a row without arrival although the broker took
	// the message (accepted or presettled) and the subscription was attached.
	Lost = "lost"
	// Unknown, as recv_outcome, marks a row without arrival of a message that got
	// no answer (unsettled or failed): it may never have reached the broker.
	Unknown = "unknown"
)

// The values of send/1's wait: where the longest part of sent − ready went.
const (
	WaitNone       = "none"
	WaitWindow     = "window"     // --max-pending reached
	WaitCredit     = "credit"     // no link credit
	WaitSession    = "session"    // peer's session window
	WaitSocket     = "socket"     // the write before it blocked
	WaitConnection = "connection" // the connection was down
)
