package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes the report as one JSON object on one line: several runs make
// JSON lines.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// Metrics are all metrics in the order of a report; in JSON an object by name.
type Metrics []Metric

// Get returns a metric by name; the zero Metric if there is none.
func (ms Metrics) Get(name string) Metric {
	for _, m := range ms {
		if m.Name == name {
			return m
		}
	}
	return Metric{Name: name}
}

// Quantile returns a quantile by its percentile as typed, and whether it is there.
func (m Metric) Quantile(p string) (Quantile, bool) {
	for _, q := range m.Quantiles {
		if q.P == p {
			return q, true
		}
	}
	return Quantile{}, false
}

// MarshalJSON keeps the order of the metrics.
func (ms Metrics) MarshalJSON() ([]byte, error) {
	return object(len(ms), func(i int) (string, any) { return ms[i].Name, &ms[i] })
}

// MarshalJSON implements json.Marshaler.
func (m *Metric) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		N         int64     `json:"n"`
		Min       *int64    `json:"min_ns"`
		Mean      *float64  `json:"mean_ns"`
		StdDev    *float64  `json:"stddev_ns"`
		Max       *int64    `json:"max_ns"`
		Infinite  int64     `json:"infinite"`
		Negative  int64     `json:"negative"`
		Quantiles quantiles `json:"quantiles"`
	}{m.N, m.Min, m.Mean, m.StdDev, m.Max, m.Infinite, m.Negative, m.Quantiles})
}

type quantiles []Quantile

// MarshalJSON writes an object by percentile, in the order that was asked for.
func (qs quantiles) MarshalJSON() ([]byte, error) {
	return object(len(qs), func(i int) (string, any) {
		q := qs[i]
		return q.P, struct {
			Value    *int64   `json:"value_ns"`
			Low      *int64   `json:"low_ns"`
			High     *int64   `json:"high_ns"`
			Events   int64    `json:"events"`
			Observed *int64   `json:"observed_ns"`
			Status   Status   `json:"status"`
			Needed   *float64 `json:"needed_factor,omitempty"`
		}{q.Value, q.Low, q.High, q.Events, q.Observed, q.Status, q.Needed}
	})
}

// object writes a JSON object whose order is that of its entries.
func object(n int, entry func(int) (string, any)) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := range n {
		key, value := entry(i)
		k, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		v, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
