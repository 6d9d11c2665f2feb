package timestamp

// parserRuns bounds what a Parser remembers.
const parserRuns = 256

// Parser parses stamps like [Parse] and remembers the texts of the runs it
// saw, so that parsing the millions of stamps of one run does not allocate.
// The zero value is ready. A Parser is not safe for concurrent use: each
// receiver has its own.
type Parser struct {
	lastKind byte
	lastRun  []byte // binary form of the run of the last stamp
	lastName string
	names    map[string]string // kind and binary form → text
}

// Parse is the function [Parse].
func (p *Parser) Parse(body []byte) (Stamp, error) {
	run, err := check(body)
	if err != nil {
		return Stamp{}, err
	}
	name, err := p.name(body[5], run)
	if err != nil {
		return Stamp{}, err
	}
	return read(body, name)
}

func (p *Parser) name(kind byte, run []byte) (string, error) {
	if p.lastName != "" && kind == p.lastKind && string(run) == string(p.lastRun) {
		return p.lastName, nil
	}
	var key [1 + MaxRun]byte
	key[0] = kind
	n := 1 + copy(key[1:], run)
	name, ok := p.names[string(key[:n])]
	if !ok {
		var err error
		if name, err = runName(kind, run); err != nil {
			return "", err
		}
		if p.names == nil || len(p.names) >= parserRuns {
			p.names = make(map[string]string)
		}
		p.names[string(key[:n])] = name
	}
	p.lastKind, p.lastRun, p.lastName = kind, append(p.lastRun[:0], run...), name
	return name, nil
}
