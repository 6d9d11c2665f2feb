// Package synth makes merged rows whose numbers are known beforehand: queues in
// virtual time, for the known-answer tests of the analysis. It is used by tests
// only.
package synth
