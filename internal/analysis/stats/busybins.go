package stats

// MaxBusyBins is the most bins of BusyBins: 48 bytes each while messages come, 24 afterwards.
const MaxBusyBins = 1 << 19

// BusyBins is Busy in bounded memory: messages are taken into bins of intended
// time, at most 2¹⁹ of them, whose width is the smallest power of two ns that
// is enough. A bin begins a busy period only if nothing was outstanding at its
// earliest hand-over, and within it the lateness is that of its latest message:
// M is at least what single messages would give, so the lower bound is valid,
// only looser. The order of messages within a bin is not known. Neither the
// order of Add nor the way rows are split changes the result.
type BusyBins struct {
	shift uint
	first int64 // number of bin 0: instant >> shift
	bins  []busyBin
	sums  []BatchMean // response by intended bin, for a warm-up

	lateness        []int64
	doneAfter       []int64 // the earliest answer in later bins
	readyAfter      []int64
	Pauses          []Pause
	Largest, Period int64
}

type busyBin struct {
	latePlus                        int64 // largest lateness + 1; 0: no message
	firstDone, lastDone, firstReady int64
}

func (b *busyBin) filled() bool { return b.latePlus > 0 }

func (b *busyBin) join(o busyBin) {
	switch {
	case !o.filled():
	case !b.filled():
		*b = o
	default:
		b.latePlus = max(b.latePlus, o.latePlus)
		b.firstDone, b.lastDone = min(b.firstDone, o.firstDone), max(b.lastDone, o.lastDone)
		b.firstReady = min(b.firstReady, o.firstReady)
	}
}

// mostResponse is at what response a value is cut in the sums for a warm-up, so that the sum of a bin fits: 18 minutes.
const mostResponse = 1 << 40

// NewBusyBins returns bins for the messages so far; more may be added. There
// must be at least one.
func NewBusyBins(all []Arrival) *BusyBins {
	lowest, highest := all[0].Intended, all[0].Intended
	for _, a := range all {
		lowest, highest = min(lowest, a.Intended), max(highest, a.Intended)
	}
	b := &BusyBins{bins: make([]busyBin, MaxBusyBins), sums: make([]BatchMean, MaxBusyBins)}
	for highest>>b.shift-lowest>>b.shift >= MaxBusyBins {
		b.shift++
	}
	b.first = lowest >> b.shift
	for _, a := range all {
		b.Add(a)
	}
	return b
}

// Add takes in a message.
func (b *BusyBins) Add(a Arrival) {
	i := b.makeRoom(a.Intended)
	b.bins[i].join(busyBin{latePlus: a.late() + 1, firstDone: a.Done, lastDone: a.Done, firstReady: a.Ready})
	if a.Done != Never {
		b.sums[i].N++
		b.sums[i].Sum += float64(min(max(a.Done-a.Intended, -mostResponse), mostResponse)) // whole numbers below 2⁵³ for 8192 messages a bin and more: exact
	}
}

// AddColumns is Add for columns. Neighbours are often in one bin.
func (b *BusyBins) AddColumns(intended, ready, done []int64) {
	ready, done = ready[:len(intended)], done[:len(intended)]
	for from := 0; from < len(intended); {
		i := b.makeRoom(intended[from])
		number := intended[from] >> b.shift
		bin := busyBin{firstDone: done[from], lastDone: done[from], firstReady: ready[from]}
		sum, k := b.sums[i], from
		for ; k < len(intended) && intended[k]>>b.shift == number; k++ {
			bin.latePlus = max(bin.latePlus, ready[k]-intended[k]+1, 1)
			bin.firstDone, bin.lastDone = min(bin.firstDone, done[k]), max(bin.lastDone, done[k])
			bin.firstReady = min(bin.firstReady, ready[k])
			if done[k] != Never {
				sum.N++
				sum.Sum += float64(min(max(done[k]-intended[k], -mostResponse), mostResponse))
			}
		}
		b.bins[i].join(bin)
		b.sums[i] = sum
		from = k
	}
}

// makeRoom returns the place of an instant; it makes bins wider, or moves them,
// when the instant lies outside.
func (b *BusyBins) makeRoom(at int64) int64 {
	for {
		i := at>>b.shift - b.first
		switch {
		case i >= 0 && i < MaxBusyBins:
			return i
		case i < 0 && b.used()-i <= MaxBusyBins:
			b.move(-i)
		default:
			b.widen()
		}
	}
}

// used is one more than the place of the last bin that is filled.
func (b *BusyBins) used() int64 {
	for i := len(b.bins) - 1; i >= 0; i-- {
		if b.bins[i].filled() {
			return int64(i) + 1
		}
	}
	return 0
}

func (b *BusyBins) move(by int64) {
	copy(b.bins[by:], b.bins)
	copy(b.sums[by:], b.sums)
	clear(b.bins[:by])
	clear(b.sums[:by])
	b.first -= by
}

// widen doubles the width, in place: a bin's new place is never above its old one.
func (b *BusyBins) widen() {
	first := b.first
	b.shift++
	b.first = first >> 1
	for i := range b.bins {
		bin, sum := b.bins[i], b.sums[i]
		b.bins[i], b.sums[i] = busyBin{}, BatchMean{}
		k := (first+int64(i))>>1 - b.first
		b.bins[k].join(bin)
		b.sums[k].N += sum.N
		b.sums[k].Sum += sum.Sum
	}
}

// Width is the width of a bin, ns.
func (b *BusyBins) Width() int64 { return 1 << b.shift }

// Sums returns the responses of answered messages by bin of intended time, and
// the instant at which bin 0 begins. Calls after Close have no sums.
func (b *BusyBins) Sums() (bins []BatchMean, start int64) { return b.sums, b.first << b.shift }

// Close finds the busy periods; tolerance and pause are those of NewBusy.
func (b *BusyBins) Close(tolerance, pause int64) {
	n := len(b.bins)
	b.lateness, b.doneAfter, b.readyAfter = make([]int64, n), make([]int64, n), make([]int64, n)
	var p period
	p.start(tolerance, pause)
	for i, bin := range b.bins {
		if bin.filled() {
			p.next(bin.firstReady, bin.latePlus-1, bin.firstDone, bin.lastDone)
		}
		b.lateness[i] = p.late
	}
	b.Pauses, b.Largest, b.Period = p.pauses, p.largest, p.count
	done, ready := Never, Never
	for i := n - 1; i >= 0; i-- {
		b.doneAfter[i], b.readyAfter[i] = done, ready
		if bin := &b.bins[i]; bin.filled() {
			done, ready = min(done, bin.firstDone), min(ready, bin.firstReady)
		}
	}
	b.bins, b.sums = nil, nil
}

// Lateness returns M of a message; after Close.
func (b *BusyBins) Lateness(a Arrival) int64 { return b.lateness[b.place(a)] }

// Overtaken reports whether a message of a later bin was ahead of this one.
func (b *BusyBins) Overtaken(a Arrival) bool {
	i := b.place(a)
	return a.Done > b.doneAfter[i] || a.Ready > b.readyAfter[i]
}

// Look returns both for one message.
func (b *BusyBins) Look(a Arrival) (lateness int64, overtaken bool) {
	i := b.place(a)
	return b.lateness[i], a.Done > b.doneAfter[i] || a.Ready > b.readyAfter[i]
}

func (b *BusyBins) place(a Arrival) int64 {
	return min(max(a.Intended>>b.shift-b.first, 0), int64(len(b.lateness))-1)
}
