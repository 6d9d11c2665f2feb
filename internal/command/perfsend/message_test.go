package perfsend_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	goamqp "github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/timestamp"
)

// receive takes n messages from a queue with a client that is not ours.
func receive(t *testing.T, url, queue string, n int) (out []*goamqp.Message) {
	t.Helper()
	receiveWhile(t, url, queue, func() bool { return len(out) < n }, func(m *goamqp.Message) { out = append(out, m) })
	return out
}

// receiveWhile takes messages as long as there have to be more.
func receiveWhile(t *testing.T, url, queue string, more func() bool, take func(*goamqp.Message)) {
	t.Helper()
	conn, err := goamqp.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // everything was received
	session, err := conn.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.NewReceiver(t.Context(), queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	for more() {
		m, err := r.Receive(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.AcceptMessage(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		take(m)
	}
}

// Every option about messages arrives at the other end, read by another client;
// both of ours send the same.
func TestMessageOptions(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"own", "library"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			_, url := startBroker(t, broker.Config{})
			s := newSession(t)
			code := s.run("--client " + client + " -u " + url + " --run r -n 5 -s 200 --persistent --ttl 90s --priority 7 --group g{producer} --subject s-{seq} --message-id ulong:{seq}" +
				" --content-type text/plain --property n:long={seq} --property c={random:x|x} --annotation x-opt-a:int=7 -q -o " + s.log + " queue://a")
			if code != 0 {
				t.Fatalf("exit %d: %s", code, &s.stderr)
			}
			for i, m := range receive(t, url, "a", 5) {
				h, p := m.Header, m.Properties
				if !h.Durable || h.Priority != 7 || h.TTL.Seconds() != 90 || *p.GroupID != "g0" || *p.Subject != "s-"+strconv.Itoa(i) || p.MessageID != uint64(i) || *p.ContentType != "text/plain" {
					t.Errorf("message %d: %+v, %+v", i, h, p)
				}
				if d := cmp.Diff(map[string]any{"n": int64(i), "c": "x"}, m.ApplicationProperties); d != "" {
					t.Error(d)
				}
				if m.Annotations["x-opt-a"] != int32(7) || m.Value != nil {
					t.Errorf("message %d: %v, %v", i, m.Annotations, m.Value)
				}
				if stamp, err := timestamp.Parse(m.GetData()); err != nil || len(m.GetData()) != 200 || stamp.Seq != int64(i) || stamp.Run != "r" {
					t.Errorf("message %d: %+v, %v", i, stamp, err)
				}
			}
		})
	}
}

// With the stamp among the properties the body is exactly what was asked for: an
// empty one, or the lines of a file, in a data section or as a value.
func TestBodies(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "bodies")
	if err := os.WriteFile(file, []byte("one\r\ntwo\n\nfour"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args  string
		want  []string
		value bool
	}{
		{"-s 0 -n 2", []string{"", ""}, false},
		{"--content " + file + " --content-lines -n 5", []string{"one", "two", "", "four", "one"}, false},
		{"--content " + file + " -n 2 --body value", []string{"one\r\ntwo\n\nfour", "one\r\ntwo\n\nfour"}, true},
	} {
		for _, place := range []string{"properties", "body"} {
			if place == "body" && tt.want[0] == "" {
				continue
			}
			_, url := startBroker(t, broker.Config{})
			s := newSession(t)
			if code := s.run("-u " + url + " --run r --stamp " + place + " " + tt.args + " -q -o " + s.log + " queue://a"); code != 0 {
				t.Fatalf("%s: exit %d: %s", tt.args, code, &s.stderr)
			}
			var got []string
			var sizes []int32
			for i, m := range receive(t, url, "a", len(tt.want)) {
				body := m.GetData()
				if tt.value {
					body, _ = m.Value.([]byte)
				}
				sizes = append(sizes, int32(len(body)))
				stamp := body
				if place == "properties" {
					stamp, _ = m.ApplicationProperties[amqp.StampKey].([]byte)
				} else {
					body = body[timestamp.Size("r"):]
				}
				if parsed, err := timestamp.Parse(stamp); err != nil || parsed.Seq != int64(i) || parsed.Sent == 0 {
					t.Errorf("%s: message %d: %+v, %v", tt.args, i, parsed, err)
				}
				got = append(got, string(body))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("%s, stamp in %s: %s", tt.args, place, d)
			}
			if r := s.read(t); !slices.Equal(r.b.Size, sizes) {
				t.Errorf("%s, stamp in %s: the log says sizes %v, there were %v", tt.args, place, r.b.Size, sizes)
			}
		}
	}
}

// Sizes that are drawn stand in the log as they are.
func TestSizeDistribution(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t)
	if code := s.run("-u " + url + " -n 50 -s lognormal(300,3) --seed 5 -q -o " + s.log + " queue://a"); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	sizes := map[int32]bool{}
	for i, m := range receive(t, url, "a", 50) {
		n := int32(len(m.GetData()))
		if n != r.b.Size[i] || n < 80 {
			t.Errorf("message %d has %d bytes, the log says %d", i, n, r.b.Size[i])
		}
		sizes[n] = true
	}
	if len(sizes) < 20 {
		t.Errorf("sizes %v", sizes)
	}
}
