package lookup

import (
	"strings"
	"testing"
)

// Names come out of raw stacks: all of them are asked for in
// lower case, and a name of content only as content.
func FuzzSpellings(f *testing.F) {
	for _, s := range []string{"", "libc.so", "a/b!c.so", `\`, "!", "/", "..", "go:x", "0123456789abcdef0", "550a1c6f-d9e2-0f4b-8a77-13c4d5e6f708-1", strings.Repeat("-f", 40), "K" + "\u212a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		content := IsContent(strings.ToLower(strings.TrimSpace(name)))
		for i, s := range spellings(name) {
			if s.text == "" || s.text != strings.ToLower(s.text) {
				t.Fatalf("%q: spelling %q", name, s.text)
			}
			if s.content != content {
				t.Fatalf("%q: spelling %d, %q, names content: %v", name, i, s.text, s.content)
			}
		}
	})
}
