package broker_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// talker is a client that writes the frames it is told, on one session, and keeps what comes with the instant.
type talker struct {
	t     *testing.T
	c     net.Conn
	began time.Time
	next  uint32 // delivery-id

	mu   sync.Mutex
	came []frame
}

type frame struct {
	at time.Duration
	p  wire.Performative
}

func (w *world) talk(t *testing.T, container string) *talker {
	t.Helper()
	r := &talker{t: t, c: w.pipe(), began: time.Now()}
	go r.read()
	if _, err := r.c.Write([]byte(wire.ProtocolAMQP)); err != nil {
		t.Fatal(err)
	}
	r.write(&wire.Open{ContainerID: container}, &wire.Begin{IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20})
	return r
}

// read keeps what comes until the connection ends.
func (r *talker) read() {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r.c, head); err != nil {
		return
	}
	for {
		if _, err := io.ReadFull(r.c, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head)-8)
		if _, err := io.ReadFull(r.c, body); err != nil {
			return
		}
		if len(body) == 0 {
			continue
		}
		p, err := wire.Parse(wire.Frame{Type: head[5], Body: body})
		if err != nil {
			r.t.Error(err)
			return
		}
		r.mu.Lock()
		r.came = append(r.came, frame{time.Since(r.began), p})
		r.mu.Unlock()
	}
}

func (r *talker) write(ps ...wire.Performative) {
	r.t.Helper()
	var b []byte
	for _, p := range ps {
		b = wire.AppendFrame(b, wire.FrameAMQP, 0, p)
	}
	if _, err := r.c.Write(b); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

// send sends a message and returns its delivery-id.
func (r *talker) send(handle uint32, payload []byte, state wire.State) uint32 {
	r.t.Helper()
	id := r.next
	r.next++
	r.write(&wire.Transfer{Handle: handle, DeliveryID: wire.Some(id), DeliveryTag: []byte{byte(id)}, State: state, Payload: payload})
	return id
}

// answer is the disposition of a delivery of ours, as text, with its instant; "" if there is none.
func (r *talker) answer(id uint32) string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.came {
		if d, ok := f.p.(*wire.Disposition); ok && d.Role == wire.RoleReceiver && id >= d.First && id <= d.Last.Or(d.First) {
			return describe(d.State) + " " + f.at.String()
		}
	}
	return ""
}

func describe(s wire.State) string {
	switch s.Kind {
	case wire.CodeAccepted:
		return "accepted"
	case wire.CodeRejected:
		return "rejected " + string(s.Error.Condition)
	case wire.CodeDeclared:
		return fmt.Sprintf("declared %x", s.TxnID)
	case wire.CodeTransactional:
		return fmt.Sprintf("transactional %x %s", s.TxnID, describe(*s.Outcome))
	}
	return fmt.Sprintf("state %#x", uint64(s.Kind))
}

// bodies are those of the deliveries that came on a handle (the broker's), with their instants.
func (r *talker) bodies(handle uint32) []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []string
	for _, f := range r.came {
		if x, ok := f.p.(*wire.Transfer); ok && x.Handle == handle {
			body, _ := wire.FirstData(x.Payload)
			out = append(out, string(body)+" "+f.at.String())
		}
	}
	return out
}

// detached is the condition of the detach of a handle (the broker's).
func (r *talker) detached(handle uint32) string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.came {
		if d, ok := f.p.(*wire.Detach); ok && d.Handle == handle {
			if d.Error == nil {
				return "no error"
			}
			return string(d.Error.Condition)
		}
	}
	return ""
}

func (r *talker) sender(handle uint32, address string) {
	r.write(&wire.Attach{Name: fmt.Sprint("s", handle), Handle: handle, Source: &wire.Source{}, Target: &wire.Target{Address: wire.Some(address)}, InitialDeliveryCount: wire.Some(uint32(0))})
}

func (r *talker) coordinator(handle uint32) {
	r.write(&wire.Attach{Name: fmt.Sprint("c", handle), Handle: handle, Source: &wire.Source{}, Coordinator: &wire.Coordinator{}, InitialDeliveryCount: wire.Some(uint32(0))})
}

func (r *talker) receiver(handle uint32, name string, s *wire.Source) {
	r.write(&wire.Attach{Name: name, Handle: handle, Role: wire.RoleReceiver, Source: s, Target: &wire.Target{}},
		&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20, Handle: wire.Some(handle), LinkCredit: wire.Some(uint32(100))})
}

func declare() []byte { return (&wire.TxRequest{}).AppendMessage(nil) }

func discharge(n byte, fail bool) []byte {
	return (&wire.TxRequest{Discharge: true, TxnID: txnID(n), Fail: fail}).AppendMessage(nil)
}

func txnID(n byte) []byte { return []byte{0, 0, 0, 0, 0, 0, 0, n} }

func inside(n byte) wire.State { return wire.State{Kind: wire.CodeTransactional, TxnID: txnID(n)} }

func data(s string) []byte { return wire.AppendData(nil, []byte(s)) }

// What is sent in a transaction is taken at once, arrives with the commit, and the commit is answered when the
// service of its last message has ended.
func TestTxnCommit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{Service: broker.Service{Mean: 10 * time.Millisecond}})
		defer w.close()
		r := w.talk(t, "c")
		r.coordinator(0)
		r.sender(1, "q")
		r.receiver(2, "r", &wire.Source{Address: wire.Some("q")})
		d := r.send(0, declare(), wire.State{})
		a, b := r.send(1, data("a"), inside(1)), r.send(1, data("b"), inside(1))
		time.Sleep(time.Second)
		if got := r.answer(d); got != "declared 0000000000000001 0s" {
			t.Errorf("declare: %q", got)
		}
		for _, id := range []uint32{a, b} {
			if got := r.answer(id); got != "transactional 0000000000000001 accepted 0s" {
				t.Errorf("message: %q", got)
			}
		}
		if got := r.bodies(2); got != nil {
			t.Errorf("before the commit %q came", got)
		}
		c := r.send(0, discharge(1, false), wire.State{})
		time.Sleep(time.Second)
		if got := r.bodies(2); !slices.Equal(got, []string{"a 1.01s", "b 1.02s"}) {
			t.Errorf("came %q", got)
		}
		if got := r.answer(c); got != "accepted 1.02s" {
			t.Errorf("discharge: %q", got)
		}
	})
}

// A rollback leaves nothing of what was sent, and undoes what was answered; so do the ends of coordinator and
// connection.
func TestTxnRollback(t *testing.T) {
	for name, end := range map[string]func(r *talker){
		"discharge":   func(r *talker) { r.send(0, discharge(1, true), wire.State{}) },
		"coordinator": func(r *talker) { r.write(&wire.Detach{Handle: 0, Closed: true}) },
		"session":     func(r *talker) { r.write(&wire.End{}) },
		"connection":  func(r *talker) { _ = r.c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := start(t, broker.Config{})
				defer w.close()
				w.send(w.sender("q", nil), "one", "two", "three")
				r := w.talk(t, "c")
				r.coordinator(0)
				r.sender(1, "q")
				r.receiver(2, "r", &wire.Source{Address: wire.Some("q")})
				r.send(0, declare(), wire.State{})
				r.send(1, data("never"), inside(1))
				accepted := wire.StateOf(wire.CodeAccepted)
				state := inside(1)
				state.Outcome = &accepted
				r.write(&wire.Disposition{Role: wire.RoleReceiver, First: 0, Last: wire.Some(uint32(1)), Settled: true, State: state})
				if got := w.outcomes(); len(got) != 0 {
					t.Errorf("before the end of the transaction: %v", got)
				}
				end(r)
				synctest.Wait()
				_ = r.c.Close()
				synctest.Wait()
				var again []string
				other := w.talk(t, "d")
				other.receiver(0, "r", &wire.Source{Address: wire.Some("q")})
				for _, b := range other.bodies(0) {
					again = append(again, strings.Fields(b)[0])
				}
				if slices.Sort(again); !slices.Equal(again, []string{"one", "three", "two"}) {
					t.Errorf("left: %q", again)
				}
				if got := w.outcomes(); len(got) != 0 {
					t.Errorf("after it: %v", got)
				}
			})
		})
	}
}

// Acknowledgements count when they are committed, whatever they say.
func TestTxnAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		w.send(w.sender("q", nil), "accept", "reject", "release", "modify")
		r := w.talk(t, "c")
		r.coordinator(0)
		r.receiver(1, "r", &wire.Source{Address: wire.Some("q")})
		r.send(0, declare(), wire.State{})
		for id, kind := range []wire.Code{wire.CodeAccepted, wire.CodeRejected, wire.CodeReleased, wire.CodeModified} {
			state, outcome := inside(1), wire.State{Kind: kind, DeliveryFailed: true}
			state.Outcome = &outcome
			r.write(&wire.Disposition{Role: wire.RoleReceiver, First: uint32(id), Settled: true, State: state})
		}
		if got := len(r.bodies(1)); got != 4 {
			t.Errorf("%d came before the commit", got)
		}
		c := r.send(0, discharge(1, false), wire.State{})
		if got := r.answer(c); got != "accepted 0s" {
			t.Errorf("discharge: %q", got)
		}
		if got := r.bodies(1); len(got) != 6 || got[4] != "release 0s" || got[5] != "modify 0s" {
			t.Errorf("after the commit: %q", got)
		}
		if got := w.outcomes(); got[broker.Accepted] != 1 || got[broker.Rejected] != 1 || len(got) != 2 {
			t.Errorf("%v", got)
		}
	})
}

// Transactions that do not exist are refused wherever they are named.
func TestTxnUnknown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		w.send(w.sender("q", nil), "one")
		r := w.talk(t, "c")
		r.coordinator(0)
		r.sender(1, "q")
		r.receiver(2, "r", &wire.Source{Address: wire.Some("q")})
		if got := r.answer(r.send(0, discharge(9, false), wire.State{})); got != "rejected amqp:transaction:unknown-id 0s" {
			t.Errorf("discharge: %q", got)
		}
		if got := r.answer(r.send(0, (&wire.TxRequest{GlobalID: "xa"}).AppendMessage(nil), wire.State{})); got != "rejected amqp:not-implemented 0s" {
			t.Errorf("a global transaction: %q", got)
		}
		if got := r.answer(r.send(0, data("what"), wire.State{})); got != "rejected amqp:decode-error 0s" {
			t.Errorf("no request: %q", got)
		}
		r.send(1, data("x"), inside(9))
		if got := r.detached(1); got != "amqp:transaction:unknown-id" {
			t.Errorf("sender: %q", got)
		}
		r.write(&wire.Disposition{Role: wire.RoleReceiver, First: 0, Settled: true, State: inside(9)})
		if got := r.detached(2); got != "amqp:transaction:unknown-id" {
			t.Errorf("receiver: %q", got)
		}
		if got := w.outcomes(); len(got) != 0 {
			t.Errorf("%v", got)
		}
	})
}
