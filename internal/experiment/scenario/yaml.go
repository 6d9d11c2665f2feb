package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile is the size in bytes above which no file is a scenario, maxDepth how
// deep one may be nested.
const (
	maxFile  = 1 << 20
	maxDepth = 16
)

// node is a value of the file: exactly one of text, items and entries is meant, by kind.
type node struct {
	file    string
	pos     Pos
	kind    kind
	text    string
	isBool  bool
	items   []node
	entries []entry
}

type entry struct {
	key string
	pos Pos
	val node
}

type kind int

const (
	null kind = iota
	scalar
	list
	mapping
)

func (k kind) String() string {
	return [...]string{"nothing", "a value", "a list", "a mapping"}[k]
}

func (n node) errorf(format string, args ...any) error {
	return &Error{File: n.file, Pos: n.pos, Msg: fmt.Sprintf(format, args...)}
}

// parse reads one YAML document. The library's faults become errors: files of
// others must not end a program.
func parse(file string, text []byte) (root node, err error) {
	if len(text) > maxFile {
		return root, &Error{File: file, Msg: fmt.Sprintf("%d bytes: no scenario is larger than %d", len(text), maxFile)}
	}
	defer func() {
		if r := recover(); r != nil {
			err = &Error{File: file, Msg: fmt.Sprintf("not YAML that can be read: %v", r)}
		}
	}()
	f, err := parser.ParseBytes(text, 0)
	if err != nil {
		return root, fromLibrary(file, err)
	}
	var body ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return root, &Error{File: file, Pos: position(d.Body), Msg: "a second document: a scenario is one"}
		}
		body = d.Body
	}
	if body == nil {
		return root, &Error{File: file, Msg: "it is empty"}
	}
	return convert(file, body, 0)
}

func fromLibrary(file string, err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil && e.GetToken().Position != nil {
		p := e.GetToken().Position
		return &Error{File: file, Pos: Pos{p.Line, p.Column}, Msg: e.GetMessage()}
	}
	return &Error{File: file, Msg: err.Error()}
}

func position(n ast.Node) Pos {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return Pos{t.Position.Line, t.Position.Column}
	}
	return Pos{}
}

func convert(file string, n ast.Node, depth int) (node, error) {
	out := node{file: file, pos: position(n)}
	if depth > maxDepth {
		return out, out.errorf("nested more than %d deep", maxDepth)
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return out, nil
	case *ast.MappingValueNode:
		return convertMapping(out, []*ast.MappingValueNode{n}, depth)
	case *ast.MappingNode:
		return convertMapping(out, n.Values, depth)
	case *ast.SequenceNode:
		out.kind = list
		for _, v := range n.Values {
			item, err := convert(file, v, depth+1)
			if err != nil {
				return out, err
			}
			out.items = append(out.items, item)
		}
		return out, nil
	case *ast.StringNode:
		out.kind, out.text = scalar, n.Value
		return out, nil
	case *ast.LiteralNode:
		out.kind, out.text = scalar, n.Value.Value
		return out, nil
	case *ast.BoolNode:
		out.kind, out.text, out.isBool = scalar, fmt.Sprint(n.Value), true
		return out, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		// As typed: it is the program's option that says what it means.
		out.kind, out.text = scalar, n.GetToken().Value
		return out, nil
	}
	return out, out.errorf("%s: anchors, aliases and tags have no use in a scenario", strings.ToLower(n.Type().String()))
}

func convertMapping(out node, values []*ast.MappingValueNode, depth int) (node, error) {
	out.kind = mapping
	for i, v := range values {
		key, err := convert(out.file, v.Key, depth+1)
		if err != nil {
			return out, err
		}
		if i == 0 {
			out.pos = key.pos
		}
		if key.kind != scalar {
			return out, key.errorf("a key is a word")
		}
		for _, e := range out.entries {
			if e.key == key.text {
				return out, key.errorf("%s is there twice (line %d)", key.text, e.pos.Line)
			}
		}
		val, err := convert(out.file, v.Value, depth+1)
		if err != nil {
			return out, err
		}
		if val.kind == null {
			val.pos = key.pos
		}
		out.entries = append(out.entries, entry{key.text, key.pos, val})
	}
	return out, nil
}

// fields calls the function of each key of a mapping; a key without one is an error.
func (n node) fields(what string, known map[string]func(node) error) error {
	if n.kind != mapping {
		return n.errorf("%s is a mapping, not %s", what, n.kind)
	}
	for _, e := range n.entries {
		do := known[e.key]
		if do == nil {
			return &Error{File: n.file, Pos: e.pos, Msg: fmt.Sprintf("%s has no key %q: it may have %s", what, e.key, words(known))}
		}
		if err := do(e.val); err != nil {
			return err
		}
	}
	return nil
}

func text(to *string) func(node) error {
	return func(n node) error {
		if n.kind != scalar || n.text == "" {
			return n.errorf("a text is needed, not %s", n.what())
		}
		*to = n.text
		return nil
	}
}

func (n node) what() string {
	if n.kind == scalar && n.text == "" {
		return "an empty one"
	}
	return n.kind.String()
}

func texts(to *[]string) func(node) error {
	return func(n node) error {
		items := n.items
		if n.kind == scalar {
			items = []node{n}
		}
		if n.kind != scalar && n.kind != list {
			return n.errorf("a text or a list is needed, not %s", n.kind)
		}
		for _, i := range items {
			var t string
			if err := text(&t)(i); err != nil {
				return err
			}
			*to = append(*to, t)
		}
		return nil
	}
}

func duration(to *time.Duration) func(node) error {
	return func(n node) error {
		d, err := time.ParseDuration(n.text)
		if n.kind != scalar || err != nil || d < 0 {
			return n.errorf("a duration is needed, such as 10s or 1m30s, not %q", n.text)
		}
		*to = d
		return nil
	}
}

func boolean(to *bool) func(node) error {
	return func(n node) error {
		if !n.isBool {
			return n.errorf("true or false is needed, not %q", n.text)
		}
		*to = n.text == "true"
		return nil
	}
}
