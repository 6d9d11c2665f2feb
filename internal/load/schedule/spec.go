package schedule

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// The kinds of schedules, as they stand in a Spec.
const (
	KindConstant = "constant"
	KindShape    = "shape"
	KindPoisson  = "poisson"
	KindMMPP2    = "mmpp2"
	KindReplay   = "replay"
)

// Spec is all there is to know of a schedule, as plain data: it goes as JSON
// into the configuration of a log, and whoever reads it there can Build the same
// schedule again, to the nanosecond. Only a replay needs its rows as well.
//
// Fields that do not belong to the kind must be zero.
type Spec struct {
	Kind string `json:"kind"`
	// Rate of constant, and of poisson without segments.
	RateNum int64 `json:"rate_num,omitempty"`
	RateDen int64 `json:"rate_den,omitempty"`
	// Segments of shape, and of poisson with a rate that changes.
	Segments []Segment `json:"segments,omitempty"`
	// Repeat of the segments, at least 1, or −1 for ever.
	Repeat int64  `json:"repeat,omitempty"`
	Burst  *Burst `json:"burst,omitempty"` // mmpp2
	// Seed and Random of poisson and mmpp2. The seed is a string in JSON, where
	// many readers have 53 bits only.
	Seed   uint64 `json:"seed,omitempty,string"`
	Random string `json:"random,omitempty"` // RandomSource
	// Rows of a replay: their number and Rows.Hash.
	Rows     int64  `json:"rows,omitempty"`
	RowsHash string `json:"rows_hash,omitempty"`
	Speed    *Speed `json:"speed,omitempty"`
	Loop     bool   `json:"loop,omitempty"`
	// Limits of the whole, 0 for none: a number of messages, and the end of the
	// intended instants: [0, WithinNS).
	N        int64 `json:"n,omitempty"`
	WithinNS int64 `json:"within_ns,omitempty"`
	// Share is the part of the whole that this process has: every Of-th message,
	// or those drawn for it of random arrivals. The limits are those of the whole.
	Share *Part `json:"share,omitempty"`
}

// ParseSpec reads the JSON of a Spec. Unknown fields are an error: a schedule
// that is understood in part would be another one.
func ParseSpec(data []byte) (Spec, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var s Spec
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("schedule: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Spec{}, fmt.Errorf("schedule: more than one JSON value")
	}
	return s, nil
}

// Hash returns "sha256:" and the digest of the JSON of the whole, that is
// without the share: logs of one run, of however many hosts, have the same.
func (s Spec) Hash() string {
	s.Share = nil
	data, err := json.Marshal(s)
	if err != nil {
		// Numbers, strings and structs of them: there is nothing to fail.
		panic(err)
	}
	sum := sha256.Sum256(append([]byte("schedule/1\n"), data...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Build makes the schedule. The rows are those of a replay, nil otherwise; rows
// that are not those of the Spec are an error.
func (s Spec) Build(rows *Rows) (Schedule, error) {
	if err := s.check(rows); err != nil {
		return nil, err
	}
	part := Part{}
	if s.Share != nil {
		part = *s.Share
	}
	random := Random{Seed: s.Seed, N: s.N, Within: s.WithinNS, Part: part}
	switch s.Kind {
	case KindPoisson:
		shape, err := s.shape()
		if err != nil {
			return nil, err
		}
		return result(NewPoisson(shape, random))
	case KindMMPP2:
		return result(NewMMPP2(*s.Burst, random))
	}
	whole, err := s.regular(rows)
	if err != nil || part.Of <= 1 {
		return whole, err
	}
	return Stripe{Of: whole, K: part.K - 1, By: part.Of}, nil
}

// result keeps a nil pointer from becoming a Schedule that is not nil.
func result[S Schedule](s S, err error) (Schedule, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// regular builds the whole of a schedule without chance.
func (s Spec) regular(rows *Rows) (Schedule, error) {
	n := Unbounded
	if s.N > 0 {
		n = s.N
	}
	switch s.Kind {
	case KindConstant:
		c, err := NewConstant(s.RateNum, s.RateDen, n)
		if err != nil {
			return nil, err
		}
		if s.WithinNS > 0 {
			c = c.WithN(min(n, c.Within(s.WithinNS)))
		}
		return c, nil
	case KindShape:
		c, err := s.shape()
		if err != nil {
			return nil, err
		}
		if s.WithinNS > 0 {
			n = min(n, c.Within(s.WithinNS))
		}
		return c.WithN(n), nil
	}
	r, err := NewReplay(*rows, *s.Speed, s.Loop)
	if err != nil {
		return nil, err
	}
	if s.WithinNS > 0 {
		n = min(n, r.Within(s.WithinNS))
	}
	return r.WithN(n), nil
}

// shape builds the rate of shape and poisson.
func (s Spec) shape() (*Shape, error) {
	if s.Segments != nil {
		return NewShape(s.Segments, s.Repeat)
	}
	// NewShape also sees to the bounds of the rate.
	r := Ratio{s.RateNum, s.RateDen}
	return NewShape([]Segment{{From: r, To: r, Length: second}}, Forever)
}

// check refuses what is missing and what would be ignored.
func (s Spec) check(rows *Rows) error {
	need := map[string][]bool{ // rate, segments, burst, random, replay
		KindConstant: {true, false, false, false, false},
		KindShape:    {false, true, false, false, false},
		KindPoisson:  {s.Segments == nil, s.Segments != nil, false, true, false},
		KindMMPP2:    {false, false, true, true, false},
		KindReplay:   {false, false, false, false, true},
	}[s.Kind]
	if need == nil {
		return fmt.Errorf("schedule of kind %q is not known", s.Kind)
	}
	have := []struct {
		name string
		is   bool
	}{
		{"rate", s.RateNum != 0 || s.RateDen != 0},
		{"segments", s.Segments != nil || s.Repeat != 0},
		{"burst", s.Burst != nil},
		{"random source", s.Random != "" || s.Seed != 0},
		{"rows", s.Rows != 0 || s.RowsHash != "" || s.Speed != nil || s.Loop},
	}
	for k, h := range have {
		if h.is != need[k] {
			return fmt.Errorf("schedule of kind %s: %s missing, or not for this kind", s.Kind, h.name)
		}
	}
	switch {
	case s.N < 0 || s.WithinNS < 0:
		return fmt.Errorf("schedule of %d messages within %d ns: must not be negative", s.N, s.WithinNS)
	case s.Random != "" && s.Random != RandomSource || need[3] && s.Random == "":
		return fmt.Errorf("schedule drawn by %q: this version has %s", s.Random, RandomSource)
	case s.Kind == KindReplay:
		return s.checkRows(rows)
	case rows != nil:
		return fmt.Errorf("schedule of kind %s: has no rows", s.Kind)
	}
	if s.Share != nil {
		return s.Share.check()
	}
	return nil
}

func (s Spec) checkRows(rows *Rows) error {
	switch {
	case rows == nil || s.Speed == nil:
		return fmt.Errorf("schedule of kind replay: rows and a speed are needed")
	case int64(len(rows.Offsets)) != s.Rows || rows.Hash() != s.RowsHash:
		return fmt.Errorf("the %d rows given are not the %d that the schedule was made of", len(rows.Offsets), s.Rows)
	}
	if s.Share != nil {
		return s.Share.check()
	}
	return nil
}

// ReplayOf returns the Spec of a replay of rows.
func ReplayOf(rows *Rows, speed Speed, loop bool) Spec {
	return Spec{Kind: KindReplay, Rows: int64(len(rows.Offsets)), RowsHash: rows.Hash(), Speed: &speed, Loop: loop}
}
