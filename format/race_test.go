//go:build race

package format

// raced says that the race detector, which makes these tests ten times as slow, watches.
const raced = true
