package sourcemap

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// span is where a value stands in the input.
type span struct {
	from, to int64 // to: behind it; from == to: it is not there
	escaped  bool  // a string with escapes
}

// layout is what the first pass over a map finds: where its parts are. Nothing
// of the size of the map is kept.
type layout struct {
	file       string
	debugIDs   []string // in canonical form, the preferred one first
	sections   []section
	root       string
	sources    span
	names      span
	content    span // sourcesContent; of several the last
	mappings   span
	ranges     span // rangeMappings
	scopes     span
	functions  span // x_facebook_sources
	offsets    span // x_hermes_function_offsets
	modules    span // x_facebook_offsets
	ignored    []uint32
	nSources   int
	nNames     int
	nFunctions int
	lines      uint32    // that mappings speak of
	ordered    bool      // no segment of mappings begins before another one of its line
	segments   []segment // x_facebook_segments
	hermes     bool      // the compiler of Hermes wrote it, or it was composed with that one's
}

// section is a part of an index map.
type section struct {
	line, column uint32
	at           int64
	layout       *layout
}

// segment is a script of its own in a map of several.
type segment struct {
	number uint32
	at     int64
	layout *layout
}

// most is the largest line, column or index of the specification.
const most = 1<<31 - 1

// readLayout reads the map that begins at off. parents is how many maps it stands in.
func readLayout(in *formats.Input, off int64, parents int) (*layout, *text, error) {
	t := newText(in, off)
	l := &layout{}
	if parents == 0 {
		if err := t.prefix(); err != nil {
			return nil, nil, err
		}
	}
	if err := l.read(t, parents); err != nil {
		return nil, nil, err
	}
	if parents == 0 && t.peek() != 0 {
		return nil, nil, t.fail("nothing behind the map")
	}
	return l, t, t.err
}

// prefix passes over a byte order mark and the line that keeps a map from being run as a script.
func (t *text) prefix() error {
	if len(t.buf) < 4 && !t.more(t.at) && len(t.buf) == 0 {
		return t.fail("a map")
	}
	rest := t.buf[t.at:]
	if bytes.HasPrefix(rest, []byte("\ufeff")) {
		rest = rest[3:]
		t.at += 3
	}
	if !bytes.HasPrefix(rest, []byte(")]}")) {
		return nil
	}
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		return t.fail("a line end behind )]}")
	}
	t.at += end
	return nil
}

func (l *layout) read(t *text, parents int) error {
	if parents > t.in.Limits.Nesting {
		return tooMuch(t.section, t.offset(), "maps less nested")
	}
	at := t.offset()
	version, index := false, false
	var seen []string
	err := t.object(0, func(key string) error {
		if known(key) {
			if slices.Contains(seen, key) {
				return t.fail("one " + key)
			}
			seen = append(seen, key)
		}
		switch key {
		case "version":
			at := t.offset()
			if w, err := t.word(); err != nil || string(w) != "3" {
				return t.failAt(at, "version 3")
			}
			version = true
			return nil
		case "sections":
			index = true
			return l.readSections(t, parents)
		}
		return l.field(t, key, parents)
	})
	switch {
	case err != nil:
		return err
	case !version:
		return t.failAt(at, "a version")
	case index && l.mappings != (span{}):
		return t.failAt(at, "sections or mappings")
	case index:
		return nil
	case l.mappings == span{}:
		return t.failAt(at, "mappings")
	case l.sources == span{}:
		return t.failAt(at, "sources")
	}
	for _, i := range l.ignored {
		if int(i) >= l.nSources {
			return t.failAt(at, "an ignored source below "+strconv.Itoa(l.nSources)+", not "+strconv.Itoa(int(i)))
		}
	}
	return nil
}

// known are the keys that may stand once.
func known(key string) bool {
	switch key {
	case "version", "sections", "mappings", "sources", "names", "rangeMappings", "scopes", "x_facebook_sources", "x_facebook_segments":
		return true
	}
	return false
}

func (l *layout) field(t *text, key string, parents int) (err error) {
	switch key {
	case "file":
		if t.null() {
			return nil
		}
		l.file, err = t.name()
		l.file = strings.Clone(l.file)
		return err
	case "sourceRoot":
		if t.null() {
			return nil
		}
		l.root, err = t.name()
		return err
	case "debugId", "debug_id":
		return l.debugID(t, key == "debugId")
	case "sources":
		l.sources, err = t.span(func() error {
			return t.array(0, func(i int) error {
				if l.nSources = i + 1; l.nSources > t.in.Limits.Files {
					return tooMuch("sources", t.offset(), "at most "+strconv.Itoa(t.in.Limits.Files)+" sources")
				}
				return t.skipText(true)
			})
		})
	case "names":
		l.names, err = t.span(func() error {
			return t.array(0, func(i int) error { l.nNames = i + 1; return t.skipText(false) })
		})
	case "sourcesContent":
		if t.null() {
			return nil
		}
		l.content, err = t.span(func() error { return t.array(0, func(int) error { return t.skipText(true) }) })
	case "mappings":
		l.mappings, err = t.stringSpan(&l.lines)
		l.ordered = !l.mappings.escaped && !t.backward
	case "rangeMappings":
		l.ranges, err = t.stringSpan(nil)
	case "scopes":
		l.scopes, err = t.stringSpan(nil)
	case "ignoreList", "x_google_ignoreList":
		first := len(l.ignored) == 0
		return t.array(0, func(i int) error {
			v, err := t.number(most)
			if err == nil && first {
				l.ignored = append(l.ignored, uint32(v))
			}
			if i >= t.in.Limits.Files {
				return tooMuch("ignoreList", t.offset(), "fewer sources")
			}
			return err
		})
	case "x_facebook_sources":
		l.functions, err = t.span(func() error {
			if t.null() {
				return nil
			}
			return t.array(0, func(i int) error { l.nFunctions = i + 1; return t.skip(1) })
		})
	case "x_hermes_function_offsets":
		l.hermes = true
		l.offsets, err = t.span(func() error { return t.skip(0) })
	case "x_facebook_offsets":
		l.modules, err = t.span(func() error { return t.skip(0) })
	case "x_facebook_segments":
		if t.null() {
			return nil
		}
		return l.readSegments(t, parents)
	default:
		return t.skip(0)
	}
	return err
}

// span reads a value and says where it stood.
func (t *text) span(read func() error) (span, error) {
	t.peek()
	from := t.offset()
	err := read()
	return span{from: from, to: t.offset()}, err
}

// stringSpan passes over a string; lines, if not nil, is how many lines it
// has when ';' parts them.
func (t *text) stringSpan(lines *uint32) (span, error) {
	if t.peek() != '"' {
		return span{}, t.fail("a string")
	}
	s := span{from: t.offset()}
	marks := marks{begins: true}
	counting := func(b []byte) {
		marks.read(b)
		t.backward = marks.backward
	}
	if t.in.Mapped == nil && lines != nil { // what the window drops is counted first
		for t.at++; ; {
			i := bytes.IndexAny(t.buf[t.at:], `"\`)
			if i >= 0 {
				counting(t.buf[t.at : t.at+i])
				t.at += i
				break
			}
			counting(t.buf[t.at:])
			if t.at = len(t.buf); !t.more(t.at) {
				return s, t.fail("the end of a string")
			}
		}
		if t.buf[t.at] == '"' {
			t.at++
			s.to = t.offset()
			return s, setLines(t, lines, marks.semicolons)
		}
		t.seek(s.from)
	}
	at := t.at
	var err error
	if s.escaped, err = t.skipString(); err != nil {
		return s, err
	}
	s.to = t.offset()
	switch {
	case lines == nil:
		return s, nil
	case s.escaped: // also ';' may be
		decoded, err := t.stringAt(s)
		if err != nil {
			return s, err
		}
		marks.semicolons = strings.Count(decoded, ";")
	default:
		counting(t.buf[at+1 : t.at-1])
	}
	return s, setLines(t, lines, marks.semicolons)
}

func setLines(t *text, lines *uint32, semicolons int) error {
	if semicolons >= symbol.MaxLine {
		return tooMuch("mappings", t.offset(), "at most "+strconv.Itoa(symbol.MaxLine)+" lines")
	}
	*lines = uint32(semicolons) + 1
	return nil
}

// skipText passes over a string, or null where that may stand for one.
func (t *text) skipText(orNull bool) error {
	if orNull && t.null() {
		return nil
	}
	_, err := t.skipString()
	return err
}

// maxDebugIDs bounds the debug ids of a map. Tools write one, or the same one by two names.
const maxDebugIDs = 16

// debugID notes an id that is a UUID. Other texts name nothing, nor do ids above maxDebugIDs.
func (l *layout) debugID(t *text, preferred bool) error {
	if c := t.peek(); c != '"' {
		return t.skip(0)
	}
	s, err := t.string(1 << 10)
	if err != nil {
		return err
	}
	id := uuid(s)
	if id == "" || len(l.debugIDs) >= maxDebugIDs || slices.Contains(l.debugIDs, id) {
		return nil
	}
	if preferred {
		l.debugIDs = append([]string{id}, l.debugIDs...)
	} else {
		l.debugIDs = append(l.debugIDs, id)
	}
	return nil
}

// uuid gives an id of 32 hex digits in lower case with dashes; "" for what is none.
func uuid(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 {
		return ""
	}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
