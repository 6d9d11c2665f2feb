package reduce

// directory finds what is kept about a client of a process. Rows of many clients
// mostly alternate, so those met last stand in a table that costs no hashing.
type directory[T any] struct {
	all    map[place]*T
	recent [recentPlaces]struct {
		place
		entry *T
	}
}

// place is a client's index within its process.
type place struct{ process, index int32 }

// recentPlaces is a power of two.
const recentPlaces = 1 << 10

func newDirectory[T any]() *directory[T] { return &directory[T]{all: map[place]*T{}} }

// meet returns the entry of a client, and whether it is a new one.
func (d *directory[T]) meet(process, index int32) (entry *T, isNew bool) {
	p := place{process, index}
	slot := &d.recent[(process*31+index)&(recentPlaces-1)]
	if slot.entry != nil && slot.place == p {
		return slot.entry, false
	}
	entry = d.all[p]
	if isNew = entry == nil; isNew {
		entry = new(T)
		d.all[p] = entry
	}
	slot.place, slot.entry = p, entry
	return entry, isNew
}
