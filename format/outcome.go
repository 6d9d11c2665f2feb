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

// The values of send/1's wait: where the longest part of sent − ready went.
const (
	WaitNone       = "none"
	WaitWindow     = "window"     // --max-pending reached
	WaitCredit     = "credit"     // no link credit
	WaitSession    = "session"    // peer's session window
	WaitSocket     = "socket"     // the write before it blocked
	WaitConnection = "connection" // the connection was down
)
