package sourcemap

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
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
	t := newText(name, in, off)
	l := &layout{}
	if parents == 0 {
		if err := prefix(t); err != nil {
			return nil, nil, err
		}
	}
	if err := l.read(t, parents); err != nil {
		return nil, nil, err
	}
	if parents == 0 && t.peek() != 0 {
		return nil, nil, t.fail("nothing behind the map")
	}
	return l, t, t.failure()
}

// prefix passes over a byte order mark and the line that keeps a map from being run as a script.
func prefix(t *text) error {
	if len(t.rest()) < 4 && !t.readOn() && len(t.rest()) == 0 {
		return t.fail("a map")
	}
	rest := t.rest()
	if bytes.HasPrefix(rest, []byte("\ufeff")) {
		rest = rest[3:]
		t.advance(3)
	}
	if !bytes.HasPrefix(rest, []byte(")]}")) {
		return nil
	}
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		return t.fail("a line end behind )]}")
	}
	t.advance(end)
	return nil
}

// isCompilers reports whether a map leads from Hermes bytecode to the bundle
// that was compiled: the other half is the packager's map.
func (l *layout) isCompilers() bool {
	return l.hermes && l.nSources == 1 && l.functions == (span{}) && l.sections == nil && len(l.segments) == 0
}

// lacksFunctions reports whether no part of the map names functions.
func (l *layout) lacksFunctions() bool {
	if l.hermes || l.scopes != (span{}) || l.functions != (span{}) {
		return false
	}
	for i := range l.sections {
		if !l.sections[i].layout.lacksFunctions() {
			return false
		}
	}
	return true
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
		l.sources, err = spanOf(t, func() error {
			return t.array(0, func(i int) error {
				if l.nSources = i + 1; l.nSources > t.in.Limits.Files {
					return tooMuch("sources", t.offset(), "at most "+strconv.Itoa(t.in.Limits.Files)+" sources")
				}
				return skipText(t, true)
			})
		})
	case "names":
		l.names, err = spanOf(t, func() error {
			return t.array(0, func(i int) error { l.nNames = i + 1; return skipText(t, false) })
		})
	case "sourcesContent":
		if t.null() {
			return nil
		}
		l.content, err = spanOf(t, func() error { return t.array(0, func(int) error { return skipText(t, true) }) })
	case "mappings":
		var m marks
		l.mappings, m, err = mappingsSpan(t)
		l.lines, l.ordered = uint32(m.semicolons)+1, !l.mappings.escaped && !m.backward
	case "rangeMappings":
		l.ranges, err = stringSpan(t)
	case "scopes":
		l.scopes, err = stringSpan(t)
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
		l.functions, err = spanOf(t, func() error {
			if t.null() {
				return nil
			}
			return t.array(0, func(i int) error { l.nFunctions = i + 1; return t.skip(1) })
		})
	case "x_hermes_function_offsets":
		l.hermes = true
		l.offsets, err = spanOf(t, func() error { return t.skip(0) })
	case "x_facebook_offsets":
		l.modules, err = spanOf(t, func() error { return t.skip(0) })
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

// spanOf reads a value and returns where it stood.
func spanOf(t *text, read func() error) (span, error) {
	t.peek()
	from := t.offset()
	err := read()
	return span{from: from, to: t.offset()}, err
}

// stringSpan passes over a string and returns where it stood.
func stringSpan(t *text) (s span, err error) {
	if t.peek() != '"' {
		return s, t.fail("a string")
	}
	s.from = t.offset()
	s.escaped, err = t.skipString()
	s.to = t.offset()
	return s, err
}

// mappingsSpan does the same with mappings, and looks them over.
func mappingsSpan(t *text) (s span, m marks, err error) {
	m.begins = true
	if t.peek() != '"' {
		return s, m, t.fail("a string")
	}
	s.from = t.offset()
	if !t.inMemory() { // bytes that the window drops are looked over first
		for t.advance(1); ; {
			rest := t.rest()
			i := bytes.IndexAny(rest, `"\`)
			if i >= 0 {
				m.read(rest[:i])
				t.advance(i)
				break
			}
			m.read(rest)
			if t.advance(len(rest)); !t.readOn() {
				return s, m, t.fail("the end of a string")
			}
		}
		if t.rest()[0] == '"' {
			t.advance(1)
			s.to = t.offset()
			return s, m, m.check(t)
		}
		t.seek(s.from)
	}
	if s.escaped, err = t.skipString(); err != nil {
		return s, m, err
	}
	s.to = t.offset()
	if !s.escaped {
		m.read(t.back(int(s.to - s.from))[1 : s.to-s.from-1])
		return s, m, m.check(t)
	}
	decoded, err := stringAt(t, s) // also a ';' may be escaped
	if err != nil {
		return s, m, err
	}
	m.semicolons = strings.Count(decoded, ";")
	return s, m, m.check(t)
}

// stringAt reads the string that stands in a span.
func stringAt(t *text, s span) (string, error) {
	t.seek(s.from)
	return t.string(t.in.Limits.SectionBytes)
}

// skipText passes over a string, or null where that may stand for one.
func skipText(t *text, orNull bool) error {
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
