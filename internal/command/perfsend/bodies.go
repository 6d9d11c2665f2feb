package perfsend

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/load/produce/size"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

// bodyFlags say what is in the bodies, and how much.
type bodyFlags struct {
	size    size.Dist
	content []string
	lines   bool
}

func (f *bodyFlags) register(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.content, "content", nil, "send what is in `FILE` (- is standard input) instead of bytes that do not compress, behind the stamp; of several files one after the other, again and again")
	fs.BoolVar(&f.lines, "content-lines", false, "each line of --content is a body, without its end of line")
}

// maxContent bounds the memory of --content.
const maxContent = 1 << 30

// load reads the contents; nil without --content.
func (f *bodyFlags) load(stdin io.Reader) (bodies [][]byte, err error) {
	total := 0
	for _, name := range f.content {
		data, err := readContent(name, stdin)
		if err != nil {
			return nil, fmt.Errorf("--content: %w", err)
		}
		if total += len(data); total > maxContent {
			return nil, fmt.Errorf("--content %s: more than %d bytes together with those before", name, maxContent)
		}
		if !f.lines {
			bodies = append(bodies, data)
			continue
		}
		for line := range bytes.Lines(data) {
			bodies = append(bodies, bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")))
		}
	}
	if len(f.content) > 0 && len(bodies) == 0 {
		return nil, fmt.Errorf("--content-lines: there is no line in %s", f.content[0])
	}
	return bodies, nil
}

// readContent reads one byte more than is allowed at most.
func readContent(name string, stdin io.Reader) (data []byte, err error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(stdin, maxContent+1))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return io.ReadAll(io.LimitReader(file, maxContent+1))
}

// bodies is what is known of the bodies of a run.
type bodies struct {
	stamp    int64 // bytes of the stamp, 0 if it is elsewhere
	dist     size.Dist
	content  [][]byte
	recorded bool  // the sizes are those of a replay, as far as they are known
	raised   int64 // messages of the recording that are smaller than a stamp
	seed     uint64
	largest  int64
}

// plan checks the sizes; p is nil in a closed loop.
func (f *bodyFlags) plan(r *run, p *planned, given func(string) bool) (*bodies, error) {
	b := &bodies{dist: f.size, seed: r.seed, largest: f.size.Max()}
	if !r.o.sections.apart() {
		b.stamp = int64(timestamp.Size(r.runID))
	}
	var err error
	if b.content, err = f.load(r.env.Stdin); err != nil {
		return nil, err
	}
	switch least := b.stamp; {
	case given("size") && b.content != nil:
		return nil, cli.Usagef("--size and --content contradict each other: the content says how large it is")
	case f.lines && b.content == nil:
		return nil, cli.Usagef("--content-lines is about --content: give both")
	case b.content != nil:
		b.largest = 0
		for _, c := range b.content {
			b.largest = max(b.largest, b.stamp+int64(len(c)))
		}
		if b.largest > math.MaxInt32 {
			return nil, cli.Usagef("--content: a body of %d bytes: at most %d", b.largest, math.MaxInt32)
		}
	case p != nil && p.trace != nil && p.trace.Rows.Sizes != nil && !given("size"):
		b.recorded = true
		for _, n := range p.trace.Rows.Sizes {
			if b.largest = max(b.largest, int64(n)); n >= 0 && int64(n) < least {
				b.raised++
			}
		}
	case f.size.Max() < least, f.size.Min() < least && !f.size.Unbounded():
		return nil, cli.Usagef("-s %s: a body holds a stamp of %d bytes for this run: give -s %d or more, or --stamp properties", f.size.String(), least, least)
	}
	return b, nil
}

// fixed reports whether all bodies have the size of dist.
func (b *bodies) fixed() bool { return b.content == nil && !b.recorded && b.dist.Fixed() }

// of returns the size of the body of message seq of a producer.
func (b *bodies) of(s schedule.Schedule, producer int32, seq int64) int32 {
	if b.content != nil {
		return int32(b.stamp) + int32(len(b.at(producer, seq)))
	}
	n := int64(-1)
	if b.recorded {
		if replay, i := schedule.Origin(s, seq); replay != nil {
			if known, ok := replay.Size(i); ok {
				n = int64(known)
			}
		}
	}
	if n < 0 {
		n = int64(b.dist.Of(b.seed, producer, seq))
	}
	return int32(max(n, b.stamp))
}

// at returns the content of a message: producers begin at different ones.
func (b *bodies) at(producer int32, seq int64) []byte {
	n := int64(len(b.content))
	return b.content[(seq%n+int64(producer)%n)%n]
}

// describe returns what the configuration says of the sizes.
func (b *bodies) describe() any {
	switch {
	case b.content != nil:
		return "content"
	case b.recorded:
		return "recorded"
	case b.dist.Fixed():
		return b.dist.Max()
	}
	return b.dist.String()
}

// random reports whether sizes are drawn.
func (b *bodies) random() bool { return b.content == nil && !b.dist.Fixed() }

// sizeOf returns the size of the body of message seq of producer k.
func (r *run) sizeOf(k int, seq int64) int32 {
	var s schedule.Schedule
	if r.planned != nil {
		s = r.schedules[k]
	}
	return r.bodies.of(s, int32(k), seq)
}
