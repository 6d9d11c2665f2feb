package join

import "amqpperf/format"

// remap translates the codes of one log's dictionary into those of another
// dictionary. Dictionaries only grow, so a translation once found stays right.
type remap struct {
	codes []int32 // by source code, −2 = not yet translated
}

const untranslated = -2

// code returns the code in dst of row i of src, −1 for NULL.
func (m *remap) code(dst, src *format.Strings, i int) int32 {
	c := src.Codes[i]
	if c < 0 {
		return -1
	}
	for int(c) >= len(m.codes) {
		m.codes = append(m.codes, untranslated)
	}
	if m.codes[c] == untranslated {
		m.codes[c] = intern(dst, src.Values[c])
	}
	return m.codes[c]
}

func (m *remap) append(dst, src *format.Strings, i int) {
	dst.Codes = append(dst.Codes, m.code(dst, src, i))
}

// intern returns the code of a value, adding it if need be. It searches
// linearly: it is called once per distinct value and log.
func intern(s *format.Strings, value string) int32 {
	for i, v := range s.Values {
		if v == value {
			return int32(i)
		}
	}
	s.Values = append(s.Values, value)
	return int32(len(s.Values) - 1)
}
