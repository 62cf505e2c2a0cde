package json

import (
	stdjson "encoding/json"
	"strings"
	"testing"
)

// The strings of a list are the lines of a text, and lines that are added become strings of their own.
func TestList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ list, text, after, want string }{
		{`["a\tb","\u0041\/c"]`, "a\tb\nA/c", "a\tb\nx\"\ny", `["a\tb","x\"","y"]`},
		{"[\n  \"a\",\n  \"b\"\n]", "a\nb", "a\nb2\nb\n", "[\n  \"a\",\n  \"b2\",\n  \"b\"\n]"},
		{`["\u0061"]`, "a", "a\nb", `["\u0061","b"]`},
		{`["a","b\n"]`, "", "", ""},
		{`["a",1]`, "", "", ""},
		{`["a","b`, "", "", ""},
	} {
		end, ok := ListEnd([]byte(c.list), strings.IndexByte(c.list, '"')+1)
		var d *Text
		from := strings.IndexByte(c.list, '"') + 1
		if ok {
			d = DecodeList([]byte(c.list)[from:end])
		}
		if d == nil {
			if c.text != "" {
				t.Errorf("%s: no text", c.list)
			}
			continue
		}
		if string(d.Bytes) != c.text {
			t.Errorf("%s: %q", c.list, d.Bytes)
		}
		got := c.list[:from] + string(RequoteList([]byte(c.list)[from:end], d.Bytes, []byte(c.after))) + c.list[end:]
		if got != c.want {
			t.Errorf("%s became %s, want %s", c.list, got, c.want)
		}
		for p := range d.Bytes {
			if raw := from + d.Raw(p); raw >= end || raw < from {
				t.Errorf("%s: byte %d stands at %d", c.list, p, raw)
			}
		}
	}
}

// A list that is decoded and written anew is the list, and any text that it gets leaves it a list of strings.
func FuzzList(f *testing.F) {
	f.Add(`"a","b"]`, "x\ny")
	f.Add("\"\\u00e9\" ,\n \"\\\"\"]", "\xff\n")
	f.Fuzz(func(t *testing.T, list, after string) {
		if len(list) == 0 || list[0] != '"' || !stdjson.Valid([]byte("["+list)) {
			return
		}
		end, ok := ListEnd([]byte(list), 1)
		if !ok {
			return
		}
		raw := []byte(list)[1:end]
		d := DecodeList(raw)
		if d == nil {
			return
		}
		var was, again, now []string
		if err := stdjson.Unmarshal([]byte("["+list), &was); err != nil {
			t.Fatal(err)
		}
		if err := stdjson.Unmarshal([]byte(`["`+string(RequoteList(raw, d.Bytes, d.Bytes))+`"]`), &again); err != nil {
			t.Fatal(err)
		}
		if strings.Join(was, "\n") != strings.Join(again, "\n") {
			t.Errorf("%q became %q", was, again)
		}
		if err := stdjson.Unmarshal([]byte(`["`+string(RequoteList(raw, d.Bytes, []byte(after)))+`"]`), &now); err != nil {
			t.Errorf("%q with %q: %s", list, after, err)
		}
	})
}
