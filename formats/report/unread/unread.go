// Package unread describes an input in which no dialect found a frame, and names the nearest form of report.
package unread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/report"
)

// sampleBytes from the beginning of an input are enough to describe it.
const sampleBytes = 16 << 10

// Sample is a reader that keeps the beginning of the text it reads.
type Sample struct {
	from io.Reader
	head []byte
}

// NewSample returns a reader of from.
func NewSample(from io.Reader) *Sample { return &Sample{from: from} }

// Read implements io.Reader.
func (s *Sample) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	if room := sampleBytes - len(s.head); room > 0 {
		s.head = append(s.head, b[:min(n, room)]...)
	}
	return n, err
}

// Looks says in a few words what the input looks like, and what to do with it where that is known. The words go behind
// "the input is".
func (s *Sample) Looks() string { return Looks(s.head) }

// Nearest returns the form with the line that is most like a line of the input.
func (s *Sample) Nearest(forms []Form) (Form, bool) { return Nearest(s.head, forms) }

// LookedFor names the dialects, as the reports that a reader has looked for.
func LookedFor(dialects []report.Dialect) string {
	names := make([]string, len(dialects))
	for i := range dialects {
		names[i] = dialects[i].Name
	}
	return "reports of " + strings.Join(names, ", ")
}

// magics are the first bytes of files that are no stacks.
var magics = []struct{ bytes, looks string }{
	{"\x1f\x8b", "compressed by gzip: run `gunzip -c` before"},
	{"PK\x03\x04", "a zip archive: unpack it before, or load it with `symlake ingest`"},
	{"\x28\xb5\x2f\xfd", "compressed by zstd: run `zstd -dc` before"},
	{"\xfd7zXZ\x00", "compressed by xz: run `xz -dc` before"},
	{"BZh", "compressed by bzip2: run `bunzip2 -c` before"},
	{"\x7fELF", "an ELF file: load it with `symlake ingest`, or name it with --symbols"},
	{"\xcf\xfa\xed\xfe", "a Mach-O file: load it with `symlake ingest`, or name it with --symbols"},
	{"\xce\xfa\xed\xfe", "a Mach-O file: load it with `symlake ingest`, or name it with --symbols"},
	{"\xca\xfe\xba\xbe", "a Mach-O file: load it with `symlake ingest`, or name it with --symbols"},
	{"MODULE ", "a Breakpad symbol file: load it with `symlake ingest`, or name it with --symbols"},
	{"MZ", "a program of Windows"},
	{"\x89PNG", "a picture: paste the text instead"},
	{"\xff\xd8\xff", "a picture: paste the text instead"},
	{"%PDF", "a PDF document: paste the text instead"},
	{"SQLite format 3", "a database of SQLite"},
	{"PAR1", "a Parquet file: use --input"},
	{"bplist", "a binary property list: convert it with `plutil -convert json`"},
}

// Looks says in a few words what the beginning of an input looks like.
func Looks(head []byte) string {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.looks
		}
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	switch {
	case len(text) == 0:
		return "empty"
	case isBinary(head):
		return "no text: it has bytes of zero and other control characters"
	case text[0] == '{' || text[0] == '[' && len(text) > 1 && bytes.IndexByte([]byte(" \r\n\t{[]"), text[1]) >= 0:
		return looksJSON(text)
	case hasPrefixFold(text, "<!doctype html"), hasPrefixFold(text, "<html"):
		return "a page of HTML: copy the stack's text out of it"
	case text[0] == '<':
		return "XML: copy the stack's text out of it"
	case bytes.HasPrefix(text, []byte("# compiler: ")), isMapping(text):
		return "an R8 mapping: load it with `symlake ingest`, or name it with --symbols"
	case isBase64(text):
		return "one word of base64: run `base64 -d` before"
	}
	return fmt.Sprintf("text that begins with %q", shortened(text))
}

// isBinary reports whether head has control characters that no text has.
func isBinary(head []byte) bool {
	return bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b\b", r) })
}

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && strings.EqualFold(string(b[:len(prefix)]), prefix)
}

// isMapping reports whether the first lines of a text rename classes.
func isMapping(text []byte) bool {
	for i, line := range bytes.SplitN(text, []byte{'\n'}, 20) {
		if i < 19 && bytes.HasSuffix(bytes.TrimSpace(line), []byte{':'}) && bytes.Contains(line, []byte(" -> ")) {
			return true
		}
	}
	return false
}

// isBase64 reports whether a text is one long word of base64's letters.
func isBase64(text []byte) bool {
	const least = 120
	return len(text) >= least && !bytes.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/=-_\r\n", r))
	})
}

// mostMembers of an object are named.
const mostMembers = 8

// looksJSON names the members of the first object in a text.
func looksJSON(text []byte) string {
	names := memberNames(text)
	switch {
	case slices.Contains(names, "mappings") && slices.Contains(names, "version"):
		return "a source map: load it with `symlake ingest`, or name it with --symbols"
	case len(names) == 0:
		return "JSON without a member"
	}
	return "JSON with " + strings.Join(names, ", ")
}

// memberNames returns the names of the members of the first object in a text, as far as the text goes, up to
// mostMembers.
func memberNames(text []byte) (names []string) {
	in := json.NewDecoder(bytes.NewReader(text))
	for t, err := in.Token(); t != json.Delim('{'); t, err = in.Token() {
		if err != nil {
			return nil
		}
	}
	for len(names) < mostMembers && in.More() {
		t, err := in.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			break
		}
		names = append(names, name)
		var value json.RawMessage
		if in.Decode(&value) != nil { // the text was cut
			break
		}
	}
	return names
}

// shortened returns the first line of a text, up to 60 letters of it.
func shortened(text []byte) string {
	const most = 60
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	line = bytes.TrimSpace(bytes.ToValidUTF8(line, []byte("?")))
	if utf8.RuneCount(line) <= most {
		return string(line)
	}
	return string([]rune(string(line))[:most]) + "…"
}
