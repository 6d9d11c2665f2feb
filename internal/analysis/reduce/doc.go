// Package reduce turns merged rows into the numbers of a report, in two passes
// over the rows: the first takes histograms, counts and rates, the second exact
// ranks, series over time, stalls and the make-up of the tail. Memory depends
// on the shape of the data (seconds, clients, distinct values), not on the
// number of rows. A selection by time needs the first intended instant; rows
// that cannot say it (Spanner) are looked through once more, beforehand.
//
// Every sum is an integer, so neither the order of rows nor the way they are
// split over files can change a digit.
//
// # What counts
//
// Send-side metrics (lag, blocked, service, response) are over primary rows,
// receive-side ones (transit, e2e, queued, work, handled) over copy 0.
//
//   - service and response: accepted messages, and those without an answer,
//     which are infinite (unsettled and failed: both; unsent: response only).
//     rejected, released and modified only if Options.Negative asks for them,
//     presettled never.
//   - e2e and transit: arrivals, and messages that should have arrived and did
//     not, which are infinite: lost ones (RFC 7679: an undefined delay is
//     infinite), and those whose fate is unknown (unsettled, failed), because
//     leaving them out would flatter a run that was cut short. An unsent message
//     has an infinite e2e and no transit. Without a receive log nothing is.
//     A message that no attached subscription was to get is left out.
//   - queued, work, handled: arrivals that have the instants.
//   - a message that was re-sent counts once, at its first attempt: lag and
//     blocked of that attempt, response from its intended instant to its first
//     positive acknowledgement, service of the attempt that got it; e2e to its
//     first arrival in each subscription. All attempts carry one intended
//     instant. A message whose first attempt was accepted counts by that.
//
// NULL instants never enter a number: a row has the metrics whose instants it
// has. Negative spans are kept as they are and counted.
package reduce
