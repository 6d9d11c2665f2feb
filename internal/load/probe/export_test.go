package probe

import "net"

// PipeServer answers on connections that tests make.
type PipeServer struct{ s *Server }

func NewPipeServer(opt ServerOptions) *PipeServer { return &PipeServer{newServer(opt)} }

// Serve answers on c until it ends.
func (p *PipeServer) Serve(c net.Conn) {
	if p.s.admit(c) {
		go p.s.serveConn(c)
	}
}
