package stats

import "math"

// NeededRows returns how many values a quantile needs to rest on ten effective
// tail events, n = 10·VIF/(1−p); +Inf for percentile 100.
func NeededRows(p Percentile, vif float64) float64 {
	return enoughEvents * max(vif, 1) / p.Tail()
}

// FewestForInterval returns the fewest independent values whose two-sided 95 %
// interval of percentile p has a finite upper limit, ⌈ln 0.025 / ln p⌉; times
// VIF of dependent ones. It is 1 for percentile 0, and 0 for 100, where there
// is none.
func FewestForInterval(p Percentile) int64 {
	f := p.Fraction()
	if f <= 0 {
		return 1
	}
	if f >= 1 {
		return 0
	}
	return int64(math.Ceil(math.Log(lowerAlpha) / math.Log1p(-p.Tail())))
}

// QueueVIF returns the variance inflation of mean response times of an M/M/1
// queue at utilisation rho, 0 < rho < 1 (Daley 1968): what a planner can
// expect before the first run.
func QueueVIF(rho float64) float64 {
	sum := rho * (2 + 5*rho - 4*rho*rho + rho*rho*rho) / math.Pow(1-rho, 4)
	return sum / (rho * (2 - rho) / ((1 - rho) * (1 - rho)))
}
