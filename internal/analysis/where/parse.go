package where

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// deepest bounds parentheses and negations within each other.
const deepest = 200

// Parse reads an expression. An error is an *Error with the position.
func Parse(src string) (*Predicate, error) {
	p := &parser{lexer: lexer{src: src}}
	if len(src) > longest {
		return nil, p.fail(0, "longer than %d bytes", longest)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenEnd {
		return nil, p.fail(0, "the expression is empty")
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.fail(p.tok.pos, "%s where && or || or the end is expected", p.tok)
	}
	slices.Sort(p.reads)
	return &Predicate{src: src, root: n, reads: slices.Compact(p.reads)}, nil
}

type parser struct {
	lexer
	tok   token
	depth int
	reads []string
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) is(op string) bool { return p.tok.kind == tokenOperator && p.tok.text == op }

func (p *parser) word(w string) bool {
	return p.tok.kind == tokenName && strings.EqualFold(p.tok.text, w)
}

func (p *parser) or() (node, error) {
	return p.chain("||", p.and, func(l, r node) node { return &orNode{l, r, nil} })
}

func (p *parser) and() (node, error) {
	return p.chain("&&", p.not, func(l, r node) node { return &andNode{l, r, nil} })
}

func (p *parser) chain(op string, part func() (node, error), join func(l, r node) node) (node, error) {
	left, err := part()
	for err == nil && p.is(op) {
		if err = p.advance(); err != nil {
			return nil, err
		}
		var right node
		if right, err = part(); err == nil {
			left = join(left, right)
		}
	}
	return left, err
}

func (p *parser) not() (node, error) {
	if p.depth++; p.depth > deepest {
		return nil, p.fail(p.tok.pos, "more than %d levels of ! and parentheses", deepest)
	}
	defer func() { p.depth-- }()
	switch {
	case p.is("!"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.not()
		return &notNode{n}, err
	case p.is("("):
		open := p.tok.pos
		if err := p.advance(); err != nil {
			return nil, err
		}
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.is(")") {
			return nil, p.fail(p.tok.pos, "%s where ) is expected, for the ( at column %d", p.tok, open+1)
		}
		return n, p.advance()
	}
	return p.test()
}

// operand is one side of a comparison: a column, or a literal.
type operand struct {
	column *column
	tok    token
	truth  bool // of true and false
}

func (p *parser) operand() (operand, error) {
	o := operand{tok: p.tok}
	switch p.tok.kind {
	case tokenName:
		switch strings.ToLower(p.tok.text) {
		case "true", "false":
			o.truth = strings.EqualFold(p.tok.text, "true")
			return o, p.advance()
		case "null":
			return o, p.fail(p.tok.pos, "nothing compares with NULL: write NAME is null")
		}
		if o.column = find(columns(), strings.ToLower(p.tok.text)); o.column == nil {
			hint := "the names are " + strings.Join(Names(), ", ")
			if n := nearest(p.tok.text); n != "" {
				hint = "do you mean " + n + "?"
			}
			return o, p.fail(p.tok.pos, "there is no column %.40q: %s (strings stand in double quotes)", p.tok.text, hint)
		}
		p.reads = append(p.reads, o.column.reads...)
	case tokenString, tokenInteger, tokenDuration, tokenSize:
	default:
		return o, p.fail(p.tok.pos, "%s where a column or a value is expected", p.tok)
	}
	return o, p.advance()
}

func (p *parser) test() (node, error) {
	left, err := p.operand()
	if err != nil {
		return nil, err
	}
	if p.word("is") {
		return p.null(left)
	}
	op, pos := p.tok.text, p.tok.pos
	if p.tok.kind != tokenOperator || !slices.Contains(comparisons(), op) {
		if left.column != nil && left.column.kind == kindBool {
			return &boolNode{left.column, true}, nil
		}
		return nil, p.fail(p.tok.pos, "%s where a comparison (== != < <= > >= is) is expected", p.tok)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	right, err := p.operand()
	if err != nil {
		return nil, err
	}
	return p.compare(left, op, right, pos)
}

func comparisons() []string { return []string{"==", "!=", "<", "<=", ">", ">="} }

// null reads the rest of NAME is [not] null.
func (p *parser) null(left operand) (node, error) {
	if left.column == nil {
		return nil, p.fail(left.tok.pos, "%s is a value: only a column can be null", left.tok)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	negated := p.word("not")
	if negated {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if !p.word("null") {
		return nil, p.fail(p.tok.pos, "%s where null is expected", p.tok)
	}
	var n node = &nullNode{column: left.column}
	if negated {
		n = &notNode{n}
	}
	return n, p.advance()
}

// compare makes the node of a comparison, the column at its left.
func (p *parser) compare(left operand, op string, right operand, pos int) (node, error) {
	if left.column == nil {
		if right.column == nil {
			return nil, p.fail(left.tok.pos, "neither %s nor %s is a column", left.tok, right.tok)
		}
		left, right, op = right, left, mirrored(op)
	}
	c := left.column
	if (c.kind == kindString || c.kind == kindBool) && op != "==" && op != "!=" {
		return nil, p.fail(pos, "%s is %s: compare it with == or !=", c.name, c.kind)
	}
	if right.column != nil {
		if !alike(c.kind, right.column.kind) {
			return nil, p.fail(pos, "%s is %s and %s is %s", c.name, c.kind, right.column.name, right.column.kind)
		}
		switch c.kind {
		case kindString:
			return &sameStringNode{c, right.column, op == "=="}, nil
		case kindBool:
			return &sameBoolNode{c, right.column, op == "=="}, nil
		}
		return &numberNode{left: c, right: right.column, op: opOf(op)}, nil
	}
	return p.literal(c, op, right)
}

func (p *parser) literal(c *column, op string, right operand) (node, error) {
	t := right.tok
	bad := func(want string) (node, error) {
		return nil, p.fail(t.pos, "%s is %s: compare it with %s", c.name, c.kind, want)
	}
	truth := t.kind == tokenName
	switch c.kind {
	case kindString:
		if t.kind != tokenString {
			return bad(`a string such as "q1"`)
		}
		return &stringNode{column: c, value: t.text, equal: op == "=="}, nil
	case kindBool:
		if !truth {
			return bad("true or false")
		}
		return &boolNode{c, right.truth == (op == "==")}, nil
	case kindSpan:
		if t.kind != tokenDuration && (t.kind != tokenInteger || t.n != 0) {
			return bad("a duration such as 5ms")
		}
	case kindInstant:
		if t.kind == tokenString {
			at, err := time.Parse(time.RFC3339Nano, t.text)
			if err != nil {
				return bad(`a time such as "2026-05-01T12:00:00Z"`)
			}
			t.n = at.UnixNano()
		} else if t.kind != tokenInteger {
			return bad(`a time such as "2026-05-01T12:00:00Z", or ns since the epoch (--from and --to count from the start)`)
		}
	case kindSize:
		if t.kind != tokenInteger && t.kind != tokenSize {
			return bad("a number such as 1000 or 1KiB")
		}
	default:
		if t.kind != tokenInteger {
			return bad("a whole number")
		}
	}
	return &numberNode{left: c, value: t.n, op: opOf(op)}, nil
}

func alike(a, b kind) bool {
	number := func(k kind) bool { return k == kindInteger || k == kindSize }
	return a == b || (number(a) && number(b))
}

// mirrored turns a comparison around.
func mirrored(op string) string {
	switch op[0] {
	case '<':
		return ">" + op[1:]
	case '>':
		return "<" + op[1:]
	}
	return op
}

// String returns the expression as it was typed.
func (p *Predicate) String() string { return p.src }

var _ fmt.Stringer = (*Predicate)(nil)
