package perfsend

import (
	"strconv"

	"amqpperf/internal/load/schedule"
)

// config is perf.config: what was done, with all defaults, and without secrets.
type config struct {
	Loop     string `json:"loop"` // open or closed
	Rate     string `json:"rate"` // max, messages per second over all producers, or the schedule as it was written
	RateNum  int64  `json:"rate_num,omitempty"`
	RateDen  int64  `json:"rate_den,omitempty"`
	Arrivals string `json:"arrivals,omitempty"` // constant, poisson, bursts, replay
	// Schedule is all there is to know of it, and ScheduleHash that of the whole,
	// which shares have in common.
	Schedule     *schedule.Spec `json:"schedule,omitempty"`
	ScheduleHash string         `json:"schedule_hash,omitempty"`
	Share        string         `json:"share,omitempty"` // 2/5
	Seed         string         `json:"seed,omitempty"`  // of all that is drawn
	Replay       *replayConfig  `json:"replay,omitempty"`
	Count        int64          `json:"count,omitempty"`
	DurationNS   int64          `json:"duration_ns,omitempty"`
	Size         any            `json:"size"` // bytes, or how they are distributed
	MaxPending   int            `json:"max_pending"`
	Addresses    []string       `json:"addresses"`
	Attached     []string       `json:"attached"` // as they went into the attach frames
	Producers    int            `json:"producers"`
	Connections  int            `json:"connections"`
	Sessions     string         `json:"sessions"`
	WarmupNS     int64          `json:"warmup_ns"`
	DrainNS      int64          `json:"drain_ns"`
	StartNS      int64          `json:"start_ns"`
	Tx           int            `json:"tx,omitempty"`
	TxRollback   float64        `json:"tx_rollback,omitempty"`
	ReconnectNS  int64          `json:"reconnect_ns,omitempty"`
	Resend       bool           `json:"resend,omitempty"`
	messageConfig
	URL         string   `json:"url"`
	Hostname    string   `json:"hostname,omitempty"`
	PeerProduct string   `json:"peer_product,omitempty"`
	PeerVersion string   `json:"peer_version,omitempty"`
	Client      string   `json:"client"`
	Watch       []string `json:"watch,omitempty"` // scopes of samples, beside tool, host and connections
	ClockPeers  []string `json:"clock_peers,omitempty"`
	Timer       string   `json:"timer,omitempty"`
}

// replayConfig is what was replayed.
type replayConfig struct {
	File     string `json:"file"`
	Kind     string `json:"kind"`
	OriginNS int64  `json:"origin_ns"` // what the first offset stood at
	Skipped  int64  `json:"skipped,omitempty"`
	Raised   int64  `json:"raised,omitempty"` // messages that are as large as a stamp because they were smaller
}

// messageConfig is what the messages have beside their bodies.
type messageConfig struct {
	Durable     bool     `json:"durable"`
	Presettled  bool     `json:"presettled"`
	TTLNS       int64    `json:"ttl_ns,omitempty"`
	Priority    int      `json:"priority"`
	Group       string   `json:"group,omitempty"`
	Subject     string   `json:"subject,omitempty"`
	MessageID   string   `json:"message_id,omitempty"`
	ContentType string   `json:"content_type,omitempty"`
	Properties  []string `json:"properties,omitempty"`
	Annotations []string `json:"annotations,omitempty"`
	Body        string   `json:"body"`
	Stamp       string   `json:"stamp"`
	Content     []string `json:"content,omitempty"`
	Lines       bool     `json:"content_lines,omitempty"`
}

func (f *sectionFlags) config() messageConfig {
	return messageConfig{
		Durable: f.durable, Presettled: f.presettled, TTLNS: int64(f.ttl), Priority: f.priority, Group: f.group.text, Subject: f.subject.text,
		MessageID: f.messageID.text, ContentType: f.contentType, Properties: f.properties.texts(), Annotations: f.annotations.texts(),
		Body: f.body.String(), Stamp: f.stamp.String(),
	}
}

func (r *run) config() config {
	o, peer := r.o, r.lines.Conn(0).Peer()
	c := config{
		Loop: r.loop(), Rate: "max", Count: o.count, DurationNS: int64(o.duration), Size: r.bodies.describe(), MaxPending: o.maxPending,
		Addresses: r.addresses, Producers: r.producers, Connections: r.connections, Sessions: o.conn.SessionMode(),
		WarmupNS: int64(o.warmup), DrainNS: int64(o.drain), StartNS: r.start,
		Tx: o.tx.size, TxRollback: float64(o.tx.rollback), ReconnectNS: int64(o.reconnect.Longest), Resend: o.resend, messageConfig: o.sections.config(),
		URL: r.link.URL.String(), Hostname: r.link.Hostname, PeerProduct: peer.Product, PeerVersion: peer.Version,
		Client: o.conn.Client.String(), Watch: o.watch.List(), ClockPeers: o.clock.Peers(),
	}
	c.Content, c.Lines = o.body.content, o.body.lines
	if r.random() {
		c.Seed = strconv.FormatUint(r.seed, 10)
	}
	if p := r.planned; p != nil {
		c.Rate, c.RateNum, c.RateDen, c.Arrivals = p.rate, p.spec.RateNum, p.spec.RateDen, p.arrival
		c.Schedule, c.ScheduleHash, c.Share = p.spec, p.spec.Hash(), o.shape.share.text
		if t := p.trace; t != nil {
			c.Replay = &replayConfig{File: t.Name, Kind: t.Kind, OriginNS: t.Origin, Skipped: t.Skipped, Raised: r.bodies.raised}
		}
	}
	for i := range r.addresses {
		c.Attached = append(c.Attached, r.links[i].Load().Address().Text)
	}
	if r.pacer != nil {
		c.Timer = r.pacer.Timer.Precision()
	}
	return c
}
