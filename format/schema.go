package format

import "math"

// Null is NULL in an int64 column of a batch.
const Null int64 = math.MinInt64

// Null32 is NULL in an int32 column of a batch.
const Null32 int32 = math.MinInt32

// Type is the type of a column.
type Type uint8

// The types of columns. Instants are plain Int64: the one type on which SQL
// subtraction is exact in every engine.
const (
	Int32  Type = iota // INT32
	Int64              // INT64
	Bool               // BOOLEAN
	String             // dictionary-encoded UTF-8, at most MaxStrings distinct values of MaxStringLen bytes
)

const (
	// MaxStrings is the largest number of distinct values of a string column in
	// one log; what comes after is written as OtherString.
	MaxStrings = 4096
	// MaxStringLen is the longest string in bytes; longer ones are cut at a
	// character boundary.
	MaxStringLen = 512
	// OtherString stands for every distinct value beyond MaxStrings.
	OtherString = "…other"
)

// Column describes one column; docs/format.md is generated from it.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	Unit     string // "ns since the Unix epoch", "bytes", …, "" if none
	Doc      string // meaning, and what NULL means where it is possible
}

// Schema is a named, ordered list of columns. Name carries the major version:
// "send/1". Within a major version columns are only added at the end, nullable.
type Schema struct {
	Name    string
	Columns []Column
}

const instant = "ns since the Unix epoch"

// SendSchema returns send/1: one row per transmission that the schedule
// intended until the stop, whatever became of it.
func SendSchema() *Schema { return &Schema{Name: "send/1", Columns: sendColumns()} }

// RecvSchema returns recv/1: one row per delivery.
func RecvSchema() *Schema { return &Schema{Name: "recv/1", Columns: recvColumns()} }

// MergedSchema returns merged/1: one row per transmission and subscription,
// plus one per extra copy.
func MergedSchema() *Schema { return &Schema{Name: "merged/1", Columns: mergedColumns()} }

// EventSchema returns event/1: what happened to connections, links and the recorder.
func EventSchema() *Schema { return &Schema{Name: "event/1", Columns: eventColumns()} }

// SampleSchema returns sample/1: one value of one quantity at one instant.
func SampleSchema() *Schema { return &Schema{Name: "sample/1", Columns: sampleColumns()} }

// ClockSchema returns clock/1: probe exchanges and the state of the host's clock.
func ClockSchema() *Schema { return &Schema{Name: "clock/1", Columns: clockColumns()} }

// MetaSchema returns meta/1: the metadata of a log as rows, for pipes and spools.
func MetaSchema() *Schema {
	return &Schema{Name: "meta/1", Columns: []Column{
		{"key", String, false, "", "metadata key, as in the footer of a Parquet log"},
		{"value", String, false, "", "its value; of several rows with one key the last holds. Not cut or counted"},
	}}
}

func identity() []Column {
	return []Column{
		{"run", String, false, "", "run that the message belongs to: a UUID's text, or what --run says"},
		{"sender", Int32, false, "", "random 31-bit id of the sending process"},
		{"producer", Int32, false, "", "index of the producer within the sender, from 0"},
		{"seq", Int64, false, "", "number of the message within the producer, from 0"},
		{"attempt", Int32, false, "", "0 for the first transmission of a message, 1… when it was re-sent"},
	}
}

func sendColumns() []Column {
	return append(identity(),
		Column{"destination", String, false, "", "address as it was typed"},
		Column{"size", Int32, false, "bytes", "size of the body"},
		Column{"intended", Int64, false, instant, "when the schedule wanted the message sent"},
		Column{"ready", Int64, true, instant, "when the pacer handed the message over; NULL if it never did"},
		Column{"sent", Int64, true, instant, "read immediately before the write; NULL if it was never sent"},
		Column{"acked", Int64, true, instant, "a settled disposition, whatever its state, was read from the socket; NULL if none was"},
		Column{"outcome", String, false, "", "accepted, rejected, released, modified, presettled, unsettled (no disposition until the end), failed (link or connection error), unsent"},
		Column{"wait", String, false, "", "where the longest part of sent − ready was spent: none, window, credit, session, socket, connection"},
		Column{"error", String, true, "", "AMQP condition or cause; NULL if there was none"},
		Column{"connection", Int32, false, "", "which incarnation of the producer's connection, from 0"},
	)
}

func recvColumns() []Column {
	return append(identity(),
		Column{"receiver", Int32, false, "", "random 31-bit id of the receiving process"},
		Column{"consumer", Int32, false, "", "index of the consumer within the receiver, from 0"},
		Column{"destination", String, false, "", "address as it was typed"},
		Column{"subscription", String, true, "", "NULL on a queue; on a topic container-id/link-name for a durable or shared subscription, else a name unique to the consumer"},
		Column{"size", Int32, false, "bytes", "size of the body"},
		Column{"intended", Int64, false, instant, "from the stamp, on the sender's clock"},
		Column{"sent", Int64, false, instant, "from the stamp, on the sender's clock"},
		Column{"broker_in", Int64, true, instant, "the broker's own arrival annotation (ms resolution); NULL if it set none"},
		Column{"received", Int64, false, instant, "read as the bytes that complete the message left the socket"},
		Column{"started", Int64, true, instant, "the consumer began with the message; NULL if it never did"},
		Column{"settled", Int64, true, instant, "the consumer's disposition was written; NULL if none was"},
		Column{"outcome", String, false, "", "what the consumer answered: accepted, rejected, released, modified, presettled, unsettled"},
		Column{"delivery_count", Int32, false, "", "delivery-count of the message header, as given by the broker"},
		Column{"connection", Int32, false, "", "which incarnation of the consumer's connection, from 0"},
	)
}

func mergedColumns() []Column {
	cols := sendColumns()
	return append(cols,
		Column{"source", String, true, "", "address of the receive side as it was typed; NULL without arrival"},
		Column{"receiver", Int32, true, "", "receiving process; NULL without arrival"},
		Column{"consumer", Int32, true, "", "consumer within it; NULL without arrival"},
		Column{"subscription", String, true, "", "subscription that this row is about; NULL on a queue"},
		Column{"broker_in", Int64, true, instant, "the broker's own arrival annotation; NULL if none or without arrival"},
		Column{"received", Int64, true, instant, "NULL without arrival"},
		Column{"started", Int64, true, instant, "NULL without arrival or if the consumer never began"},
		Column{"settled", Int64, true, instant, "NULL without arrival or without disposition"},
		Column{"recv_outcome", String, true, "", "outcome of recv/1; without arrival lost or unknown, NULL if no arrival was expected"},
		Column{"delivery_count", Int32, true, "", "NULL without arrival"},
		Column{"recv_connection", Int32, true, "", "connection of recv/1; NULL without arrival"},
		Column{"copy", Int32, false, "", "0 for the first arrival (or none), 1… for duplicates"},
		Column{"primary", Bool, false, "", "true on exactly one row of a transmission: send-side counts and metrics are over these"},
		Column{"reordered", Bool, false, "", "arrived after a message of the same producer and subscription that was intended later"},
		Column{"bound", Int64, true, "ns", "by how much the clock correction of this row can be off; NULL = unknown"},
	)
}

func eventColumns() []Column {
	return []Column{
		{"at", Int64, false, instant, "when it was seen"},
		{"kind", String, false, "", "connect, attach, credit0, session0, detach, close, reconnect, error, stop, recorder …"},
		{"connection", Int32, true, "", "which connection, NULL if none"},
		{"link", String, true, "", "link name or address as attached, NULL if none"},
		{"condition", String, true, "", "AMQP condition, NULL if none"},
		{"text", String, true, "", "description, NULL if none"},
	}
}

func sampleColumns() []Column {
	return []Column{
		{"at", Int64, false, instant, "when it was taken"},
		{"what", String, false, "", "quantity and unit: tool.cpu_ns, tool.rss_bytes, host.cpu_steal_ppm …"},
		{"value", Int64, false, "as named by what", "the value, an integer in the unit that what names"},
	}
}

func clockColumns() []Column {
	return []Column{
		{"at", Int64, false, instant, "when the row was made"},
		{"peer", String, true, "", "the other process: its clock id in hexadecimal, alone or as CLOCKID/RECEIVER/OFFSET/GAP with its receiver id and the wall − monotonic and gap of its anchor in ns; NULL in a row about this host"},
		{"t1", Int64, true, instant, "probe left here"},
		{"t2", Int64, true, instant, "probe arrived at the peer, on its clock"},
		{"t3", Int64, true, instant, "answer left the peer, on its clock"},
		{"t4", Int64, true, instant, "answer arrived here"},
		{"wall_offset", Int64, true, "ns", "wall − monotonic of this host"},
		{"gap", Int64, true, "ns", "width of the bracket in which wall_offset was read"},
		{"status", Int64, true, "", "adjtimex status"},
		{"maxerror", Int64, true, "ns", "adjtimex maxerror"},
		{"esterror", Int64, true, "ns", "adjtimex esterror"},
		{"freq", Int64, true, "2⁻¹⁶ ppm", "adjtimex freq"},
		{"tick", Int64, true, "µs", "adjtimex tick"},
		{"source", String, true, "", "clock source of the kernel"},
	}
}
