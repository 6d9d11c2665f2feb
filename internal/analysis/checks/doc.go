// Package checks is the table of soundness checks, C1 to C25: the numbers of a
// run in, verdicts out. It reads no file and no clock, and knows nothing of how
// a verdict is shown.
//
// A FAIL means that numbers must not be used; Check.Spoils names them, and
// every renderer stamps them. A WARN stands beside the number. skip means that
// the data do not allow the check, and says why: nobody shall take the absence
// of a check for a pass.
//
// The limits are those of the method (docs/method.md). Where a check here is
// milder or differs, its comment says why.
package checks
