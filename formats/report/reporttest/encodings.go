package reporttest

import (
	"encoding/json"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/symlake/symlake/formats/report"
)

// encodings reads the fixture as systems other than its own pass it on, and looks for the same frames.
func (s suite) encodings(t *testing.T, want []string) {
	text := s.fixture.Text
	wide := func(order unicode.Endianness, mark unicode.BOMPolicy) string {
		out, err := unicode.UTF16(order, mark).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	inputs := map[string]string{
		"mark":            "\ufeff" + text,
		"utf-16le":        wide(unicode.LittleEndian, unicode.UseBOM),
		"utf-16be":        wide(unicode.BigEndian, unicode.UseBOM),
		"utf-16le, plain": wide(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-16be, plain": wide(unicode.BigEndian, unicode.IgnoreBOM),
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			all, out := s.decode(t, strings.NewReader(input))
			s.same(t, want, s.frames(t, all))
			if out != text {
				t.Errorf("%q came out as %q", text, out)
			}
		})
	}
	if strings.HasPrefix(strings.TrimLeft(text, " \n["), "{") { // spaces and escapes mean something in JSON
		return
	}
	t.Run("cr", func(t *testing.T) {
		all, _ := s.decode(t, strings.NewReader(strings.ReplaceAll(text, "\n", "\r")))
		s.same(t, want, s.frames(t, all))
	})
	t.Run("no-break spaces", func(t *testing.T) {
		all, _ := s.decode(t, strings.NewReader(strings.ReplaceAll(text, " ", "\u00a0")))
		s.same(t, want, s.frames(t, all))
	})
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(quoted) > report.MaxLineBytes {
		return
	}
	for name, input := range map[string]string{"bare": string(quoted[1 : len(quoted)-1]), "string": string(quoted), "member": `  "stack": ` + string(quoted) + ",\n"} {
		t.Run("escapes, "+name, func(t *testing.T) {
			all, _ := s.decode(t, strings.NewReader(input))
			rest := want
			for _, frame := range s.frames(t, all) { // Java takes a quote above a frame for an exception
				if len(rest) > 0 && frame == rest[0] {
					rest = rest[1:]
				}
			}
			if len(rest) > 0 {
				s.same(t, want, s.frames(t, all))
			}
		})
	}
}
