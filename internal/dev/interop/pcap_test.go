package interop

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// tap stands between a client and a broker and keeps what passes, as a capture of TCP would have it.
type tap struct {
	url string

	mu   sync.Mutex
	pcap []byte
	at   uint32   // µs of the next packet; the instants mean nothing
	said [][]byte // whole directions: two for each connection, the client's first
}

// The addresses in the capture: port 5672 is where a dissector looks for AMQP.
const (
	brokerPort   = 5672
	segmentBytes = 1400
)

// newTap listens in front of the broker of a URL.
func newTap(t *testing.T, url string) *tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{url: "amqp://" + l.Addr().String()}
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, 0xa1b2c3d4)
	p.pcap = append(p.pcap, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0) // version 2.4, UTC
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, 1<<18)    // longest packet
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, 101)      // packets begin with IP
	var running sync.WaitGroup
	running.Go(func() {
		for port := uint16(50000); ; port++ {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.carry(t, client, strings.TrimPrefix(url, "amqp://"), port) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close() // ends Accept
		running.Wait()
	})
	return p
}

// carry carries one connection until both sides have ended.
func (p *tap) carry(t *testing.T, client net.Conn, broker string, port uint16) {
	server, err := net.DialTimeout("tcp", broker, 10*time.Second)
	if err != nil {
		t.Error(err)
		_ = client.Close()
		return
	}
	p.mu.Lock()
	first := len(p.said)
	p.said = append(p.said, nil, nil)
	next := [2]uint32{1000, 2000} // sequence numbers of the client and of the broker
	const syn, ack = 0x02, 0x10
	p.packet(port, 0, next[0]-1, 0, syn, nil)
	p.packet(port, 1, next[1]-1, next[0], syn|ack, nil)
	p.packet(port, 0, next[0], next[1], ack, nil)
	p.mu.Unlock()
	var both sync.WaitGroup
	copyOne := func(side int, dst, src net.Conn) {
		b := make([]byte, 64<<10)
		for {
			n, err := src.Read(b)
			p.mu.Lock() // before it is passed on, so that an answer comes after its question
			p.said[first+side] = append(p.said[first+side], b[:n]...)
			for rest := b[:n]; len(rest) > 0; {
				k := min(len(rest), segmentBytes)
				p.packet(port, side, next[side], next[1-side], ack, rest[:k])
				next[side] += uint32(k)
				rest = rest[k:]
			}
			p.mu.Unlock()
			if err == nil {
				_, err = dst.Write(b[:n])
			}
			if err != nil {
				if tcp, ok := dst.(*net.TCPConn); ok && err == io.EOF { //nolint:errorlint // of Read itself
					_ = tcp.CloseWrite()
				} else {
					_ = dst.Close()
				}
				return
			}
		}
	}
	both.Go(func() { copyOne(0, server, client) })
	both.Go(func() { copyOne(1, client, server) })
	both.Wait()
	_, _ = client.Close(), server.Close() // both have ended
}

// packet appends a TCP segment of a side (0 the client, 1 the broker) in an IPv4 packet; checksums are left out.
func (p *tap) packet(port uint16, side int, seq, ack uint32, flags byte, data []byte) {
	ports := [2]uint16{port, brokerPort}
	const ip, tcp = 20, 20
	size := ip + tcp + len(data)
	p.at++
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, 1_000_000_000+p.at/1_000_000)
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, p.at%1_000_000)
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, uint32(size)) // captured
	p.pcap = binary.LittleEndian.AppendUint32(p.pcap, uint32(size)) // on the wire
	p.pcap = append(p.pcap, 0x45, 0)
	p.pcap = binary.BigEndian.AppendUint16(p.pcap, uint16(size))
	p.pcap = append(p.pcap, 0, 0, 0x40, 0, 64, 6, 0, 0)                                     // whole, TTL 64, TCP
	p.pcap = append(p.pcap, 127, 0, 0, byte(1+side), 127, 0, 0, byte(2-side))               // from, to
	p.pcap = binary.BigEndian.AppendUint16(p.pcap, ports[side])                             // from
	p.pcap = binary.BigEndian.AppendUint16(p.pcap, ports[1-side])                           // to
	p.pcap = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(p.pcap, seq), ack) // numbers
	p.pcap = append(p.pcap, tcp/4<<4, flags, 0xff, 0xff, 0, 0, 0, 0)                        // window
	p.pcap = append(p.pcap, data...)
}

// capture returns the file, and what each direction said.
func (p *tap) capture() (pcap []byte, said [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]byte(nil), p.pcap...), append([][]byte(nil), p.said...)
}
