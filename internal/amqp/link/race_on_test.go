//go:build race

package link

// raceEnabled: the race detector makes everything larger and slower.
const raceEnabled = true
