package tables

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/symlake/symlake/sinks/internal/answers"
)

// said is what a run adds to a line.
func said(form shape) []byte {
	f := newFields("", form)
	return f.append(nil, &answers.Answer{Status: 1, Lines: []answers.Line{{Function: 2, Line: 3}, {Function: 2}}}, []string{"", "found", "f\n\u00fc"})
}

// For any line, the output is one object that begins with it, or holds it; and another run gives the same.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { } `, `{"artifact":"a","address":1}`, `{"address":[1,"0x2"],"artifact":["a","b"],"frames":[{"artifact":"a"}]}` + "\r\n", `{"a":{"b":[{}, "]\"}"]} , "status":1}`,
		`{"function":"","file":"","line":0,"col":0,"status":"found","reason":null,"group":null,"inlines":[]}`, "\xff", `{"a\u0062":1e9}`, `[{"a":1}]`, `"x"`, ``, "null",
	} {
		f.Add([]byte(s))
	}
	added := said(frames)
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(bytes.TrimRight(line, "\r\n"), '\n') {
			t.Skip("two lines")
		}
		once, ok := extended(t, line, added)
		if !ok {
			return
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal(once, &object); err != nil {
			t.Fatalf("%q became %q: %v", line, once, err)
		}
		for _, name := range addedNames {
			if object[name] == nil {
				t.Fatalf("%q became %q, without %s", line, once, name)
			}
		}
		var was map[string]json.RawMessage
		if text := bytes.TrimRight(line, "\r\n"); json.Unmarshal(text, &was) != nil || was == nil {
			var raw struct{ Raw *string }
			if err := json.Unmarshal(once, &raw); err != nil || utf8.Valid(text) && (raw.Raw == nil || *raw.Raw != string(text)) {
				t.Fatalf("%q became %q", line, once)
			}
			return
		}
		if twice, ok := extended(t, once, added); !ok || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q, then %q", line, once, twice)
		}
	})
}

// extended is a line with members added; false: it has such members already.
func extended(t *testing.T, line, added []byte) ([]byte, bool) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	var r jsonRow
	if err := r.extend(w, line, added, nil, ""); err != nil {
		if err == errTaken {
			return nil, false
		}
		t.Fatal(err)
	}
	must(t, w.Flush())
	return out.Bytes(), true
}
