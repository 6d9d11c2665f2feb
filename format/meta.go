package format

import (
	"encoding/json"
	"fmt"
	"maps"

	"amqpperf/timestamp"
)

// Meta is the metadata of a log: strings by key, as they stand in the footer.
// A reader must expect any key except perf.schema and perf.run to be absent.
type Meta map[string]string

// The metadata keys that every log of ours can carry.
const (
	KeySchema        = "perf.schema"        // "send/1"
	KeyRun           = "perf.run"           // in a receive log: --run, else the run most deliveries carry, else a new one
	KeyTool          = "perf.tool"          // "perf-send"
	KeyVersion       = "perf.version"       // version of the tool
	KeyHost          = "perf.host"          // host name
	KeyBootID        = "perf.boot_id"       // boot id of the host
	KeyConfig        = "perf.config"        // JSON object: effective configuration, secrets redacted
	KeyLabels        = "perf.labels"        // JSON object of strings
	KeyClock         = "perf.clock"         // JSON of timestamp.Anchor
	KeySubscriptions = "perf.subscriptions" // JSON array of Subscription
	KeyCounters      = "perf.counters"      // JSON object of integers
	KeyOrder         = "perf.order"         // OrderSeq or OrderReceived; absent: no order is promised
	KeyStop          = "perf.stop"          // count, duration, idle, signal, error
	KeyComplete      = "perf.complete"      // "true" only after a clean end
	KeyName          = "perf.name"          // --name
	KeySenders       = "perf.senders"       // in a receive log: JSON array of Sender, the clocks as the stamps tell them
	KeySource        = "perf.sources"       // merged logs: JSON array, the metadata of every input
	KeyAccounting    = "perf.accounting"    // merged logs: JSON of the accounting
	KeyCalibration   = "perf.calibration"   // JSON of Calibration: what the tool measured of itself on this host before

	// KeyTable prefixes the side tables in a Parquet footer: perf.table.event.
	KeyTable = "perf.table."

	// OrderSeq says that the rows of a producer stand by (seq, attempt).
	OrderSeq = "seq"
	// OrderReceived says that the rows of a consumer stand in order of receipt.
	OrderReceived = "received"
)

// Subscription is something that messages were expected from, in the log from
// the start, so that one which receives nothing is known as well.
type Subscription struct {
	Destination string `json:"destination"`
	// Name is nil on a queue.
	Name *string `json:"subscription,omitempty"`
	// Attached is when it was attached, in ns since the Unix epoch.
	Attached int64 `json:"attached_ns"`
	// Detached is when it ended, 0 if it lasted until the end of the log.
	Detached int64 `json:"detached_ns,omitempty"`
}

// Sender is a sender as the stamps of its messages describe it, so that a
// receive log alone, even while it is being written, can align the instants of
// the stamps.
type Sender struct {
	Sender int32            `json:"sender"`
	Clock  timestamp.Anchor `json:"clock"`
}

// Calibration is what perf-send --calibrate measured on a host: how late the
// tool is and how long an answer takes against peers that answer at once. No
// latency of a broker can be told from the tool's below these floors.
type Calibration struct {
	At      string `json:"at"` // RFC 3339
	Host    string `json:"host"`
	BootID  string `json:"boot_id,omitempty"`
	Kernel  string `json:"kernel"` // as uname -r prints it
	Go      string `json:"go"`
	Version string `json:"version"` // of the tool
	Timer   string `json:"timer"`   // what the pacer waited with

	Target // perf-broker by way of the loopback interface, in the tool's own process
	// InProcess is a link that answers within the call: the tool without network and peer.
	InProcess Target `json:"in_process"`

	// Differs lists what was different when a log was recorded: "kernel", "go",
	// "version"; empty in the calibration itself.
	Differs []string `json:"differs,omitempty"`
}

// Target is what was measured of one peer.
type Target struct {
	// Floors are by metric: lag, service, e2e.
	Floors map[string]Floor `json:"floors"`
	// MaxRate is messages per second of a closed loop with 100 in flight.
	MaxRate float64 `json:"max_rate"`
}

// Floor is the distribution of a metric that a peer without delay leaves, in ns.
type Floor struct {
	P50 int64 `json:"p50_ns"`
	P99 int64 `json:"p99_ns"`
	Max int64 `json:"max_ns"`
}

// Calibration returns the calibration that a log refers to, nil if it does not.
func (m Meta) Calibration() (*Calibration, error) {
	c := &Calibration{}
	if ok, err := m.JSON(KeyCalibration, c); !ok || err != nil {
		return nil, err
	}
	return c, nil
}

// Senders returns the senders that a receive log lists, nil if it lists none.
func (m Meta) Senders() (senders []Sender, err error) {
	_, err = m.JSON(KeySenders, &senders)
	return senders, err
}

// Clone returns a copy.
func (m Meta) Clone() Meta { return maps.Clone(m) }

// SetJSON stores v as JSON.
func (m Meta) SetJSON(key string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	m[key] = string(b)
	return nil
}

// JSON reads the JSON under key into v and reports whether the key is there.
func (m Meta) JSON(key string, v any) (bool, error) {
	s, ok := m[key]
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal([]byte(s), v); err != nil {
		return true, fmt.Errorf("metadata %s: %w", key, err)
	}
	return true, nil
}

// Anchor returns the clock anchor of the recording process, if the log has one.
func (m Meta) Anchor() (a timestamp.Anchor, ok bool, err error) {
	ok, err = m.JSON(KeyClock, &a)
	return a, ok, err
}

// Labels returns the labels, nil if there are none.
func (m Meta) Labels() (labels map[string]string, err error) {
	_, err = m.JSON(KeyLabels, &labels)
	return labels, err
}

// Subscriptions returns the attached subscriptions and whether the log lists them.
func (m Meta) Subscriptions() (subs []Subscription, ok bool, err error) {
	ok, err = m.JSON(KeySubscriptions, &subs)
	return subs, ok, err
}
