package dart

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// quotes begin what Dart's own messages put in quotes: a type, or a member.
var quotes = [][]byte{[]byte("Instance of '"), []byte("type '"), []byte("Class '"), []byte("method '"), []byte("getter '"),
	[]byte("setter '"), []byte("constructor '"), []byte("field '"), []byte("Field '"), []byte("function '")}

// heads stand before the name of an exception's class, which a colon or the
// end of the line follows.
var heads = [][]byte{[]byte("nhandled exception: "), []byte("nhandled Exception: "), []byte("FlutterError: "), []byte("The following "), []byte("Tried calling: ")}

var (
	unhandled = []byte("nhandled exception:")
	wasThrown = []byte(" was thrown")
)

// kept looks at a line of text: it may be of a header, or hold names.
func (r *lines) kept(span [2]int) {
	if r.announced != nil {
		_, _ = r.header.parse(r.announced)
		r.announced = nil
	}
	made := r.b.Report()
	at := span[0]
	log := scan.LogPrefix(made.Text[at:span[1]])
	at += log
	b := made.Text[at:span[1]]
	after := r.thrown
	r.thrown = bytes.HasSuffix(b, unhandled)
	add := func(from, to int) {
		if from < to && len(made.Words) < report.MaxFrames {
			made.Words = append(made.Words, report.Word{Span: [2]int{at + from, at + to}, Name: r.b.Intern(b[from:to])})
		}
	}
	if after {
		if end := identifier(b, 0); end == len(b) || end > 0 && b[end] == ':' {
			add(0, end)
		}
	}
	if bytes.IndexByte(b, '\'') >= 0 {
		for _, q := range quotes {
			for from := 0; ; {
				i := bytes.Index(b[from:], q)
				if i < 0 {
					break
				}
				from += i + len(q)
				end := bytes.IndexByte(b[from:], '\'')
				if end < 0 {
					break
				}
				identifiers(b, from, from+end, add)
				from += end
			}
		}
	}
	if bytes.Contains(b, []byte(": ")) || bytes.Contains(b, wasThrown) {
		for _, h := range heads {
			i := bytes.Index(b, h)
			if i < 0 {
				continue
			}
			from := i + len(h)
			end := identifier(b, from)
			if rest := b[end:]; len(rest) == 0 || bytes.IndexByte([]byte(":("), rest[0]) >= 0 || bytes.HasPrefix(rest, wasThrown) {
				add(from, end)
			}
		}
	}
}

// identifier is the end of the name of Dart that begins at p; p if there is none.
func identifier(b []byte, p int) int {
	if p < len(b) && '0' <= b[p] && b[p] <= '9' {
		return p
	}
	for p < len(b) && isName(b[p]) {
		p++
	}
	return p
}

func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c == '@'
}

// identifiers visits the names in a type such as "Map<a, List<b?>>".
func identifiers(b []byte, from, to int, visit func(from, to int)) {
	for p := from; p < to; {
		end := min(identifier(b, p), to)
		if end == p {
			p++
			for p < to && isName(b[p]) && isName(b[p-1]) { // a number
				p++
			}
			continue
		}
		visit(p, end)
		p = end
	}
}
