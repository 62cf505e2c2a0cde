// Package r8 reads the mappings of R8 and ProGuard: as text, and as R8 partitions them.
//
// It emits classes. Retracing is formats/retrace's, text of stacks formats/report's.
//
// # Identity
//
// A mapping's canonical id is its pg_map_id, which R8 writes into the comments before the
// first class; without one, "sha256:" of all its bytes. It is known by that id, by its
// pg_map_hash, by both with the "r8-map-id-" that stands before them in frames, and by the
// object's file name.
//
// # Lines
//
// A line without indent is a class ("original -> renamed:"), an indented line a member of the class
// above. A line that begins with #, indented or not, is a comment. A comment with a JSON object is an
// annotation of the line above it. Comments say which map version holds from there on; annotations
// newer than it are marked so. An annotation that R8 does not know is a comment, and so is a text
// that begins like an annotation and is no JSON: a warning names it. Of several source files of a class the first holds.
// Blanks around an arrow may be missing. A byte order mark before the first line is passed over.
//
//   - A class that occurs twice is the last one, as in R8: the earlier is forgotten whole.
//   - A bad line is counted and named by line, column and reason. Above 1 % of bad lines the
//     mapping is rejected. Members below a bad class line have no class: they count as bad too.
//   - A class above Limits.ClassLines or Limits.ClassBytes is dropped and named.
//
// Invariants:
//   - memory holds one class, one window of the text, and 50 bytes for each class with a source
//     file, at most Limits.Files of them;
//   - bytes that are no UTF-8 stay unchanged;
//   - the emitted classes do not depend on the parts.
package r8

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// name of the text format, in errors too.
const name = "r8"

// version is the parser version of both formats.
const version = 2

// Format reads mappings as text.
var Format = formats.Format{Name: name, Version: version, Detect: detect, Open: open}

// partBytes is how much of a mapping one part reads.
const partBytes = 8 << 20

// detectLines is how many lines are looked at to tell a mapping.
const detectLines = 256

// detect wants a class line, and nine lines of ten to parse; or the header that R8 writes.
func detect(_ string, head []byte) bool {
	whole := len(head) < formats.HeadBytes
	head = bytes.TrimPrefix(head, mark)
	if bytes.HasPrefix(head, []byte("# compiler: R8\n")) || bytes.HasPrefix(head, []byte("# compiler: R8\r\n")) {
		return true
	}
	var classes, good, bad int
	for range detectLines {
		line, rest, ended := bytes.Cut(head, newline)
		if len(line) == 0 && !ended || !ended && !whole {
			break
		}
		head = rest
		indent, text := trim(line)
		switch {
		case len(text) == 0 || text[0] == '#':
		case indent == 0 && isClass(text):
			classes++
			good++
		case indent > 0 && bytes.Contains(text, arrow) && bytes.IndexByte(text, ' ') > 0 && classes > 0:
			good++
		default:
			bad++
		}
	}
	return classes > 0 && good >= 9*bad
}

var (
	newline = []byte{'\n'}
	arrow   = []byte("->")
	// mark is the byte order mark of UTF-8, which Windows' tools write before the first line.
	mark = []byte("\ufeff")
)

// trim gives a line without the blanks around it, and how many stood before.
func trim(line []byte) (indent int, text []byte) {
	for indent < len(line) && (line[indent] == ' ' || line[indent] == '\t') {
		indent++
	}
	end := len(line)
	for end > indent && (line[end-1] == ' ' || line[end-1] == '\t' || line[end-1] == '\r') {
		end--
	}
	return indent, line[indent:end]
}

// isClass reports whether text is a class line.
func isClass(text []byte) bool {
	_, _, reason := classLine(text)
	return reason == ""
}

func open(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	m := &mapping{in: in}
	head, err := in.View(0, min(in.Size, formats.HeadBytes))
	if err != nil {
		return nil, err
	}
	id := header(head)
	m.parts = int(max(1, (in.Size+partBytes-1)/partBytes))
	if id.canonical == "" { // all of it is read: the survey need not read it again
		sum := sha256.New()
		if m.survey, err = newSurvey(ctx, in, m.parts, sum); err != nil {
			return nil, err
		}
		id.canonical = contentID(sum)
	}
	return object(in, id, m.parts, m.explode), nil
}

// object is the one artifact of a mapping in whichever form.
func object(in *formats.Input, id identity, parts int, explode func(context.Context, int, func(*symbol.Class) error) (symbol.Quality, error)) *formats.Object {
	a := symbol.Artifact{
		ID:        symbol.NewID(symbol.R8, id.canonical),
		Kind:      symbol.R8,
		Canonical: id.canonical,
		Names:     id.names(path.Base(strings.ReplaceAll(in.Name, "!", "/"))),
	}
	return &formats.Object{Artifacts: []formats.Artifact{{
		Artifact: a, Rank: symbol.RankMapping, Parts: parts, ExplodeClasses: explode, Check: check}}}
}

// maxBad is the share of bad lines, in percent, that a mapping may have.
const maxBad = 1

// check rejects a mapping with too many bad lines.
func check(q symbol.Quality) error {
	if q.BadLines*100 <= q.Lines*maxBad {
		return nil
	}
	want := fmt.Sprintf("at most %d %% of bad lines: %d of %d are", maxBad, q.BadLines, q.Lines)
	if len(q.Warnings) > 0 {
		want += ", the first at " + q.Warnings[0]
	}
	return &formats.Error{Format: name, Want: want, Err: formats.ErrCorrupt}
}

// identity is what a mapping calls itself.
type identity struct {
	canonical string
	ids       []string // map id and hash
}

// maxID bounds an id; R8's are 7 to 64 digits, but a template may make others.
const maxID = 256

// header reads the comments before the first class.
func header(head []byte) identity {
	var id identity
	whole := len(head) < formats.HeadBytes
	head = bytes.TrimPrefix(head, mark)
	for len(head) > 0 {
		line, rest, ended := bytes.Cut(head, newline)
		if !ended && !whole {
			break
		}
		head = rest
		_, text := trim(line)
		if len(text) == 0 {
			continue
		}
		if text[0] != '#' {
			break
		}
		key, value, ok := strings.Cut(string(text[1:]), ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "pg_map_id":
			if mapID(value) && id.canonical == "" {
				id.canonical = strings.ToLower(value)
			}
		case "pg_map_hash":
			if v := strings.TrimPrefix(value, "SHA-256 "); mapID(v) {
				id.ids = append(id.ids, strings.ToLower(v))
			}
		}
		if len(id.ids) == 2 {
			break
		}
	}
	return id
}

func mapID(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsAny(s, " \t\x00")
}

// contentID is the id of content that was hashed.
func contentID(sum hash.Hash) string { return hashPrefix + hex.EncodeToString(sum.Sum(nil)) }

const hashPrefix = "sha256:"

// framePrefix stands before a map id where it takes a source file's place in a frame.
const framePrefix = "r8-map-id-"

// names are all that the mapping is known by.
func (id identity) names(file string) []symbol.Name {
	var names []symbol.Name
	if strings.HasPrefix(id.canonical, hashPrefix) {
		names = append(names, symbol.Name{Kind: symbol.NameHash, Text: id.canonical})
	} else {
		id.ids = append([]string{id.canonical}, id.ids...)
	}
	seen := map[string]bool{}
	for _, s := range id.ids {
		if !seen[s] {
			seen[s] = true
			names = append(names, symbol.Name{Kind: symbol.NameMapID, Text: s}, symbol.Name{Kind: symbol.NameMapID, Text: framePrefix + s})
		}
	}
	if file != "" && file != "." && file != "/" {
		names = append(names, symbol.Name{Kind: symbol.NameFile, Text: file})
	}
	return names
}
