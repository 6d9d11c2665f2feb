package link

import (
	"errors"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// The tests in this file are about what our own sessions and links do with one scripted peer.

// openWith opens and answers with an open of the test's, then more frames.
func (f *fake) openWith(o *wire.Open, more ...wire.Performative) bool {
	f.answer = o
	if !f.open() {
		return false
	}
	f.write(more...)
	return true
}

// sendLarge submits one message to a peer with a max-frame-size and returns the sizes of the frames it got and the
// payload put together.
func sendLarge(t *testing.T, o *wire.Open, size int32) (frames []int, payload []byte) {
	t.Helper()
	done := make(chan struct{})
	f := newFake(t, func(f *fake) {
		defer close(done)
		f.answer = o
		if !f.attach(10) {
			return
		}
		for {
			x, ok := await[*wire.Transfer](f)
			if !ok {
				return
			}
			first := len(frames) == 0
			if x.DeliveryID.OK != first || (x.DeliveryTag != nil) != first || x.MessageFormat.OK != first {
				t.Errorf("frame %d: %+v", len(frames), x)
			}
			frames = append(frames, f.size)
			payload = append(payload, x.Payload...)
			if !x.More {
				break
			}
		}
		f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	c, s, sink := fakeSender(t, f)
	if err := submitAll(limit(t), s, messages(0, 1, size)); err != nil {
		t.Fatal(err)
	}
	sink.await(limit(t), 1)
	if err := errors.Join(s.Close(limit(t)), c.Close(limit(t))); err != nil {
		t.Error(err)
	}
	<-done
	return frames, payload
}

func TestMaxFrameSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size wire.Opt[uint32]
		want int // bytes of the largest frame
	}{
		"512": {wire.Some(uint32(512)), 512}, "10000": {wire.Some(uint32(10_000)), 10_000}, "none": {wire.Opt[uint32]{}, 65536},
		"2 GiB": {wire.Some(uint32(1 << 31)), 65536}, "below the least": {wire.Some(uint32(100)), 512},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames, payload := sendLarge(t, &wire.Open{ContainerID: "fake", MaxFrameSize: c.size}, 200_000)
			largest := 0
			for i, n := range frames {
				if largest = max(largest, n); i < len(frames)-1 && n != c.want {
					t.Errorf("frame %d of %d has %d bytes, want %d", i, len(frames), n, c.want)
				}
			}
			if largest != c.want {
				t.Errorf("largest frame %d, want %d", largest, c.want)
			}
			var m wire.Message
			if err := m.Decode(payload); err != nil {
				t.Fatal(err)
			}
			if id, ok := intact(m.Data[0]); id != 0 || !ok || len(m.Data[0]) != 200_000 || m.Header == nil {
				t.Errorf("id %d, intact %v, %d bytes", id, ok, len(m.Data[0]))
			}
		})
	}
}

// TestFailingOpen: an open that fails may say that frames have no size; the close after it comes before our begin.
func TestFailingOpen(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} {
		f := newFake(t, func(f *fake) {
			last := &wire.Close{Error: &wire.Error{Condition: "amqp:not-found", Description: "Unknown hostname"}}
			o := &wire.Open{ContainerID: "fake", MaxFrameSize: wire.Some(uint32(0)), ChannelMax: wire.Some(uint16(0))}
			if early {
				f.openWith(o, last)
				f.finish()
				return
			}
			f.openWith(o)
			await[*wire.Begin](f)
			f.write(last)
			f.finish()
		})
		cfg := config(t, f.url)
		cfg.Timeout = 20 * time.Second // far more than what it may take
		began := time.Now()
		c, err := Dial(limit(t), cfg, 0)
		if err == nil {
			if early {
				<-c.Done()
			}
			_, err = c.NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t)})
		}
		var e *Error
		if !errors.As(err, &e) || e.Condition != "amqp:not-found" || e.Description != "Unknown hostname" {
			t.Errorf("early %v: %v", early, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("early %v: took %v", early, took)
		}
	}
}

// TestRefusal: an attach with a null terminus is no success; the detach that follows says why. The end of the session
// instead says it too.
func TestRefusal(t *testing.T) {
	t.Parallel()
	why := &wire.Error{Condition: "amqp:not-found", Description: "no such thing"}
	for name, refuse := range map[string]func(f *fake, a *wire.Attach){
		"detach": func(f *fake, a *wire.Attach) {
			answer := &wire.Attach{Name: a.Name, Role: !a.Role, Source: a.Source, Target: a.Target, InitialDeliveryCount: wire.Some(uint32(0))}
			if a.Role == wire.RoleSender {
				answer.Target = nil
			} else {
				answer.Source = nil
			}
			f.write(answer)
			time.Sleep(20 * time.Millisecond) // success would be reported now
			f.write(&wire.Detach{Closed: true, Error: why})
		},
		"end": func(f *fake, _ *wire.Attach) { f.write(&wire.End{Error: why}) },
	} {
		for _, role := range []bool{wire.RoleSender, wire.RoleReceiver} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ended := make(chan struct{})
				f := newFake(t, func(f *fake) {
					if !f.begin() {
						return
					}
					if a, ok := await[*wire.Attach](f); ok {
						refuse(f, a)
					}
					if _, ok := await[*wire.End](f); ok { // nothing is left behind
						f.write(&wire.End{})
						close(ended)
					}
					f.finish()
				})
				c := dial(t, config(t, f.url), 0)
				var err error
				if role == wire.RoleSender {
					_, err = c.NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t)})
				} else {
					_, err = c.NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 1})
				}
				var e *Error
				if !errors.As(err, &e) || e.Op != "attach" || e.Condition != string(why.Condition) || e.Description != why.Description {
					t.Errorf("%v", err)
				}
				if name == "detach" {
					<-ended
				}
				if err := c.Close(limit(t)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestDispositions: ranges are clipped to what is outstanding, the first terminal state counts, a state that is not
// settled is settled by us, and progress is no answer.
func TestDispositions(t *testing.T) {
	t.Parallel()
	answered := make(chan *wire.Disposition, 1)
	f := newFake(t, func(f *fake) {
		if !f.attach(10) {
			return
		}
		for range 4 {
			await[*wire.Transfer](f)
		}
		received := &wire.Disposition{Role: wire.RoleReceiver, First: 0, Last: wire.Some(uint32(3)), State: wire.State{Kind: wire.CodeReceived}}
		f.write(received, settled(1, 0, wire.StateOf(wire.CodeReleased)), // backwards
			&wire.Disposition{Role: wire.RoleReceiver, First: 2, State: wire.StateOf(wire.CodeReleased)},         // not settled
			settled(1, 1<<31-1, wire.StateOf(wire.CodeAccepted)), settled(2, 3, wire.StateOf(wire.CodeRejected)), // beyond; too late
			&wire.Disposition{Role: wire.RoleSender, First: 0, Last: wire.Some(uint32(3)), Settled: true, State: wire.StateOf(wire.CodeReleased)}) // not our role
		d, _ := await[*wire.Disposition](f)
		answered <- d
		f.write(settled(1<<32-1, 0, wire.StateOf(wire.CodeModified)))
		f.finish()
	})
	_, s, sink := fakeSender(t, f)
	if err := submitAll(limit(t), s, messages(10, 4, 50)); err != nil {
		t.Fatal(err)
	}
	sink.await(limit(t), 4)
	for id, want := range map[uint64]amqp.State{10: amqp.Modified, 11: amqp.Accepted, 12: amqp.Released, 13: amqp.Accepted} {
		if got := sink.done[id].State; got != want {
			t.Errorf("message %d: state %d, want %d", id, got, want)
		}
	}
	if d := <-answered; d == nil || d.Role != wire.RoleSender || !d.Settled || d.First != 2 || d.Last.Or(2) != 2 {
		t.Errorf("answer %+v", d)
	}
}

// TestLateFrames: frames for a link that we have detached are swallowed, and the connection lives on.
func TestLateFrames(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(10) {
			return
		}
		await[*wire.Transfer](f)
		if _, ok := await[*wire.Detach](f); !ok {
			return
		}
		f.grant(1, 50)
		f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)), &wire.Detach{Closed: true})
		f.grant(1, 60)
		f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	c, s, sink := fakeSender(t, f)
	if err := submitAll(limit(t), s, messages(0, 1, 50)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(limit(t)), c.Close(limit(t))); err != nil {
		t.Error(err)
	}
	if len(sink.done) != 0 {
		t.Errorf("an answer after the detach counts: %+v", sink.done)
	}
}

// TestSenderWaitsBeforeDetach: answers that come late, but before the limit, are not lost by an early detach.
func TestSenderWaitsBeforeDetach(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(10) {
			return
		}
		await[*wire.Transfer](f)
		time.Sleep(50 * time.Millisecond)
		f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	_, s, sink := fakeSender(t, f)
	if err := submitAll(limit(t), s, messages(0, 1, 50)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(limit(t)); err != nil {
		t.Error(err)
	}
	if sink.done[0].State != amqp.Accepted {
		t.Errorf("%+v", sink.done)
	}
}

// TestReceiverEnd: last dispositions, detach, end and close in this order, and never a drain.
func TestReceiverEnd(t *testing.T) {
	t.Parallel()
	var order []string
	done := make(chan struct{})
	f := newFake(t, func(f *fake) {
		defer close(done)
		if !f.attach(0) {
			return
		}
		flow, _ := await[*wire.Flow](f)
		if flow == nil || flow.LinkCredit.V != 10 || flow.Drain {
			t.Errorf("%+v", flow)
		}
		for i := range uint32(6) {
			f.send(i, &wire.Message{Data: [][]byte{[]byte("x")}})
		}
		for {
			switch x := f.read().(type) {
			case *wire.Disposition:
				order = append(order, map[wire.Code]string{wire.CodeAccepted: "accepted", wire.CodeReleased: "released"}[x.State.Kind])
			case *wire.Flow:
				if x.Drain || x.Echo {
					t.Errorf("%+v", x)
				}
				order = append(order, "flow")
			case *wire.Detach:
				order = append(order, "detach")
				f.write(&wire.Detach{Closed: true})
			case *wire.End:
				order = append(order, "end")
				f.write(&wire.End{})
			case *wire.Close:
				order = append(order, "close")
				f.write(&wire.Close{})
			case nil:
				return
			}
		}
	})
	c := dial(t, config(t, f.url), 0)
	r, err := c.NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 10})
	if err != nil {
		t.Fatal(err)
	}
	d := take(t, r, 5)
	if err := r.Stop(limit(t)); err != nil {
		t.Fatal(err)
	}
	// Half of the credit is free now, which would be granted again without the Stop.
	if _, err := r.Settle(d[0].ID, d[4].ID, amqp.Accepted); err != nil {
		t.Fatal(err)
	}
	for waiting, unsettled := r.Queued(); waiting+unsettled < 1; waiting, unsettled = r.Queued() {
		time.Sleep(time.Millisecond)
	}
	if err := errors.Join(r.Close(limit(t)), c.Close(limit(t))); err != nil {
		t.Error(err)
	}
	<-done
	if got := strings.Join(order, " "); got != "accepted released detach end close" {
		t.Error(got)
	}
}
