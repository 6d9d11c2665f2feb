// Package jsonpath looks values up in a JSON report by a path, for tests of several packages. A path is a JSON pointer
// (RFC 6901) without the escapes, "/metrics/response/quantiles/99.9/value_ns", since keys of ours contain dots.
package jsonpath

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ErrAbsent says that the document has nothing at the path.
var ErrAbsent = errors.New("no such value")

// Lookup returns the value at a path: nil, bool, string, json.Number, []any or map[string]any. A document of several JSON
// values, one after the other, is treated as their array, and so is one of a single value if the path begins with a number.
func Lookup(document []byte, path string) (any, error) {
	var values []any
	for d := newDecoder(document); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("not JSON: %w", err)
		}
		values = append(values, v)
	}
	elements := strings.Split(strings.TrimPrefix(path, "/"), "/")
	var at any = values
	if len(values) == 1 {
		at = values[0]
		if _, isObject := at.(map[string]any); isObject && elements[0] == "0" {
			elements = elements[1:]
		}
	}
	for i, e := range elements {
		next, ok := step(at, e)
		if !ok {
			return nil, fmt.Errorf("/%s: %w", strings.Join(elements[:i+1], "/"), ErrAbsent)
		}
		at = next
	}
	return at, nil
}

// Number returns the number at a path as a float64.
func Number(document []byte, path string) (float64, error) {
	v, err := Lookup(document, path)
	if err != nil {
		return 0, err
	}
	n, ok := v.(json.Number)
	if !ok {
		return 0, fmt.Errorf("%s is %v, no number", path, v)
	}
	return n.Float64()
}

func newDecoder(document []byte) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	return d
}

func step(at any, element string) (any, bool) {
	switch v := at.(type) {
	case map[string]any:
		next, ok := v[element]
		return next, ok
	case []any:
		if element == "length" {
			return json.Number(strconv.Itoa(len(v))), true
		}
		if i, err := strconv.Atoi(element); err == nil && 0 <= i && i < len(v) {
			return v[i], true
		}
		// An array of objects is also a table by id or name.
		for _, row := range v {
			if m, ok := row.(map[string]any); ok && (m["id"] == element || m["name"] == element) {
				return m, true
			}
		}
	}
	return nil, false
}
