package scenario

import (
	"errors"
	"fmt"
	"strings"
)

// ParseFlags reads options as one types them, "--rate 5k --durable": long names
// only, since a scenario knows no program's abbreviations. A word after an option
// is its value unless it begins with a dash; --name=value is unambiguous.
func ParseFlags(text string) ([]Flag, error) {
	words, err := Split(text)
	if err != nil {
		return nil, err
	}
	var all []Flag
	for i := 0; i < len(words); i++ {
		name, ok := strings.CutPrefix(words[i], "--")
		if !ok {
			return nil, fmt.Errorf("%q: options are given by their long names, such as --rate 5k", words[i])
		}
		name, value, has := strings.Cut(name, "=")
		if !isName(name) {
			return nil, fmt.Errorf("%q is no option", words[i])
		}
		if !has && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value, has = words[i], true
		}
		all = append(all, Flag{Name: name, Value: value, Bare: !has})
	}
	return all, nil
}

// Split cuts a text into words like a shell does, with '…', "…" and \; it
// replaces nothing.
func Split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	in, quote, escaped := false, rune(0), false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if in {
				words = append(words, word.String())
			}
			word.Reset()
			in = false
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

// ParseParameter reads NAME=VALUE,VALUE….
func ParseParameter(text string) (Parameter, error) {
	name, values, ok := strings.Cut(text, "=")
	if !ok || name == "" || values == "" {
		return Parameter{}, fmt.Errorf("%q: NAME=VALUE,VALUE... is needed", text)
	}
	return Parameter{Name: name, Values: strings.Split(values, ",")}, nil
}

// ParseVariant reads LABEL=URL or LABEL=OPTIONS. route says to which programs an
// option goes; it may be nil if there are none.
func ParseVariant(text string, route func(Flag, *Variant) error) (Variant, error) {
	label, rest, ok := strings.Cut(text, "=")
	if !ok || !isName(label) {
		return Variant{}, fmt.Errorf("%q: LABEL=URL or LABEL='OPTIONS' is needed", text)
	}
	v := Variant{Label: label}
	if strings.Contains(rest, "://") && !strings.HasPrefix(rest, "-") || strings.HasPrefix(rest, "${") {
		v.URL = rest
		return v, nil
	}
	all, err := ParseFlags(rest)
	if err != nil {
		return v, fmt.Errorf("variant %s: %w", label, err)
	}
	for _, f := range all {
		if err := route(f, &v); err != nil {
			return v, fmt.Errorf("variant %s: %w", label, err)
		}
	}
	return v, nil
}
