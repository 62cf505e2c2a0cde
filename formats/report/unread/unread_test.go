package unread_test

import (
	"io"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/report/unread"
)

func TestLooks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                   "empty",
		"\ufeff \r\n":                        "empty",
		"\x1f\x8b\x08\x00":                   "compressed by gzip",
		"PK\x03\x04":                         "a zip archive",
		"\x7fELF\x02":                        "an ELF file",
		"\xcf\xfa\xed\xfe\x0c":               "a Mach-O file",
		"a\x00b\x01":                         "no text",
		"hello\nworld":                       "text that begins with \"hello\"",
		strings.Repeat("é", 100):             "text that begins with \"" + strings.Repeat("é", 60) + "…\"",
		`{"user":{"id":1},"stack":["x"]}`:    "JSON with user, stack",
		`[ {"a":1}, {"b":2} ]`:               "JSON with a",
		`{"a":"cut`:                          "JSON with a",
		`[]`:                                 "JSON without a member",
		`{"version":3,"mappings":"AAAA"}`:    "a source map",
		"<!DOCTYPE html><p>":                 "a page of HTML",
		"<?xml version=\"1.0\"?>":            "XML",
		"# compiler: R8\n":                   "an R8 mapping",
		"com.a.B -> a.b:\n    int x -> a\n":  "an R8 mapping",
		strings.Repeat("QUJD", 50):           "one word of base64",
		"[main] INFO started\n":              "text that begins with \"[main] INFO started\"",
		"MODULE Linux x86_64 ABC libcart.so": "a Breakpad symbol file",
	} {
		if got := unread.Looks([]byte(in)); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// TestNearest spoils lines of well-known forms a little.
func TestNearest(t *testing.T) {
	t.Parallel()
	forms := unread.Forms(all.Dialects)
	if len(forms) < 10 {
		t.Fatalf("%d forms have an example", len(forms))
	}
	for in, want := range map[string]string{
		"x\n#04 pc=0001f3a8  /data/app/libcart.so (BuildId: abc)\n": "tombstone",
		"at com.shop.Cart.add[Cart.java:12]\n":                      "java",
		"at checkout <https://shop.example/app.js:1:421>\n":         "javascript",
		"3: game 0x0000000104a30000 0x104a2c000 + 16384\n":          "apple-crash",
		"The quick brown fox":                                       "",
		"2024-01-02 10:11:12 INFO started in 12 ms":                 "",
	} {
		got, ok := unread.Nearest([]byte(in), forms)
		if got.Name != want || ok != (want != "") {
			t.Errorf("%q is near %q, want %q", in, got.Name, want)
		}
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	s := unread.NewSample(strings.NewReader("hello" + strings.Repeat(" ", 1<<20)))
	if n, err := io.Copy(io.Discard, s); n != 5+1<<20 || err != nil {
		t.Fatal(n, err)
	}
	if got := s.Looks(); got != `text that begins with "hello"` {
		t.Error(got)
	}
}
