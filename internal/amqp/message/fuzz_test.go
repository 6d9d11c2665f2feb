package message

import "testing"

// FuzzParseTemplate: a template that is taken prints as it was written, and reads the same again; a message-id made of it too.
func FuzzParseTemplate(f *testing.F) {
	for _, s := range []string{"", "a{seq}b", "{producer}-{seq}", "{random:a|b|c}", "{{}}", "{", "}", "{random:}", "ulong:{seq}", "binary:x", "{random:|}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := ParseTemplate(s); err == nil {
			if v.String() != s {
				t.Errorf("%q is printed as %q", s, v.String())
			}
			if _, err := ParseTemplate(v.String()); err != nil {
				t.Errorf("%q was taken, and then: %v", s, err)
			}
		}
		if v, err := ParseMessageID(s); err == nil {
			if _, err := compile(v, 1); err != nil {
				t.Errorf("message-id %q was taken, and then: %v", s, err)
			}
		}
	})
}
