package timestamp

// Writer appends stamps like [Stamp.Append] and keeps the binary form of the
// run of the last one, so that the text is not parsed for each of the millions
// of stamps of one run. The zero value is ready. A Writer is not safe for
// concurrent use: each producer has its own.
type Writer struct {
	known bool
	run   string // text of the run that is kept
	kind  byte
	bytes []byte // its binary form
}

// Append is [Stamp.Append] of s.
func (w *Writer) Append(dst []byte, s *Stamp) []byte {
	if !w.known || s.Run != w.run {
		w.keep(s.Run)
	}
	start := len(dst)
	dst = s.appendFixed(append(dst, magic...), w.kind, len(w.bytes))
	dst = append(dst, w.bytes...)
	seal(dst[start:])
	return dst
}

func (w *Writer) keep(run string) {
	w.known, w.run = true, run
	if uuid, ok := parseUUID(run); ok {
		w.kind, w.bytes = runUUID, append(w.bytes[:0], uuid[:]...)
		return
	}
	w.kind, w.bytes = runText, append(w.bytes[:0], run...)
}
