package json

import (
	"strings"
	"testing"
)

// TestWalkerOddities reads members beside oddities.
func TestWalkerOddities(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"a":NaN,"key":"value"}`,
		`{"a":-Infinity,"b":+1,"c":.5,"d":0x1F,"key":"value"}`,
		`{"a":1e400,"b":123456789012345678901234567890,"key":"value"}`,
		`{"a":1,,"key":"value",}`,
		`{"a":[1 2,3,],"key":"value"}`,
		`{"a":[1,"key":"value"}}`,
		`{"a":[1},"key":"value"}`,
		`{"a","key":"value"}`,
		`{"a":,"key":"value"}`,
		`{"a":"\x\u12","key":"value"}`,
		"{\"a\":\"tab\tand \x01\",\"key\":\"value\"}",
		"{\"a\":\"\xff\xfe\",\"key\":\"value\"}",
		`{"a":"\ud800","key":"value"}`,
		"{ // why\n\"a\":1 /* } */,\"key\":\"value\"}",
		"\ufeff{\u00a0\"key\":\u2003\"value\"}",
		"\x1e{\"key\":\"value\"}",
		`{"a":{"b":[{"c":1` + "\x00" + `}]},"key":"value"}`,
		`{"key":"cut","key":"value","b":{"c":[1,2,"cu`,
		`{"a":what,"b":'x',"key":"value"}`,
	} {
		got := ""
		j := &Walker{Bytes: []byte(text)}
		var value func(depth int)
		value = func(depth int) {
			switch j.Peek() {
			case '{':
				j.Object(func(key string) {
					if key == "key" {
						got = j.Text()
					} else {
						value(depth + 1)
					}
				})
			case '[':
				j.Array(func(int) { value(depth + 1) })
			}
		}
		value(0)
		if got != "value" && text != `{"a":[1,"key":"value"}}` {
			t.Errorf("%s: %q, want %q", text, got, "value")
		}
	}
}

// TestWalkerText reads strings with odd letters.
func TestWalkerText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"a\n\u00e9"`:       "a\né",
		`"\ud83d\ude00"`:    "😀",
		`"\ud83d x"`:        "\ufffd x",
		`"C:\Users\x"`:      `C:\Users\x`,
		"\"tab\t\\q\xff\"":  "tab\t\\q\ufffd",
		`"\u12"`:            `\u12`,
		"\"line\nend\\\"\"": "line\nend\"",
	} {
		if got := (&Walker{Bytes: []byte(text)}).Text(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	j := &Walker{Bytes: []byte(`["whole","cut of`)}
	var inside []string
	j.Array(func(int) {
		from, to := j.Inside()
		inside = append(inside, string(j.Bytes[from:to]))
	})
	if got := strings.Join(inside, "|"); got != "whole|cut of" {
		t.Errorf("strings %q", got)
	}
}

// FuzzWalker: a walk over any text ends, and stays within the text.
func FuzzWalker(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"c"}],/* x */"d":"\ud800",}`))
	f.Add([]byte("[1 2}:,]\"\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		j := &Walker{Bytes: text}
		var value func(depth int)
		value = func(depth int) {
			switch c := j.Peek(); {
			case depth > 50:
				j.Skip()
			case c == '{':
				j.Object(func(string) { value(depth + 1) })
			case c == '[':
				j.Array(func(int) { value(depth + 1) })
			case c == '"':
				if from, to := j.Inside(); from > to || to > len(text) {
					t.Fatalf("a string from %d to %d", from, to)
				}
			default:
				j.Number()
			}
		}
		if value(0); j.Pos > len(text) {
			t.Fatalf("at %d of %d", j.Pos, len(text))
		}
	})
}
