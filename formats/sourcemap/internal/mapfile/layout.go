package mapfile

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// Span is where a value stands in the input.
type Span struct {
	From, To int64 // to: behind it; from == to: it is missing
	escaped  bool  // a string with escapes
}

// Layout is what the first pass over a map finds: where its parts are. Nothing
// of the size of the map is kept.
type Layout struct {
	File          string
	DebugIDs      []string // in canonical form, the preferred one first
	Sections      []section
	Root          string
	Sources       Span
	Names         Span
	Content       Span // sourcesContent; of several the last
	Mappings      Span
	ranges        Span // rangeMappings
	Scopes        Span
	Functions     Span // x_facebook_sources
	HermesOffsets Span // x_hermes_function_offsets
	ModuleOffsets Span // x_facebook_offsets
	Ignored       []uint32
	SourceCount   int
	NameCount     int
	nFunctions    int
	Lines         uint32    // that mappings speak of
	ordered       bool      // no segment of mappings begins before another one of its line
	Segments      []segment // x_facebook_segments
	Hermes        bool      // the compiler of Hermes wrote it, or it was composed with that one's
}

// section is a part of an index map.
type section struct {
	line, column uint32
	at           int64
	layout       *Layout
}

// segment is a script of its own in a map of several.
type segment struct {
	Number uint32
	at     int64
	Layout *Layout
}

// MostNumber is the largest line, column or index of the specification.
const MostNumber = 1<<31 - 1

// Read reads the map that begins at off. parents is how many maps it stands in.
func Read(in *formats.Input, off int64, parents int) (*Layout, *json.Reader, error) {
	t := json.NewReader(Name, in, off)
	l := &Layout{}
	if parents == 0 {
		if err := prefix(t); err != nil {
			return nil, nil, err
		}
	}
	if err := l.read(t, parents); err != nil {
		return nil, nil, err
	}
	if parents == 0 && t.Peek() != 0 {
		return nil, nil, t.Fail("nothing behind the map")
	}
	return l, t, t.Failure()
}

// prefix passes over a byte order mark and the line that keeps a map from being run as a script.
func prefix(t *json.Reader) error {
	if len(t.Rest()) < 4 && !t.ReadOn() && len(t.Rest()) == 0 {
		return t.Fail("a map")
	}
	rest := t.Rest()
	if bytes.HasPrefix(rest, []byte("\ufeff")) {
		rest = rest[3:]
		t.Advance(3)
	}
	if !bytes.HasPrefix(rest, []byte(")]}")) {
		return nil
	}
	end := bytes.IndexByte(rest, '\n')
	if end < 0 {
		return t.Fail("a line end behind )]}")
	}
	t.Advance(end)
	return nil
}

// IsCompilers reports whether a map leads from Hermes bytecode to the bundle
// that was compiled: the other half is the packager's map.
func (l *Layout) IsCompilers() bool {
	return l.Hermes && l.SourceCount == 1 && l.Functions == (Span{}) && l.Sections == nil && len(l.Segments) == 0
}

// HasRanges reports whether a map marks linear segments. Such a map may answer for lines behind its mappings.
func (l *Layout) HasRanges() bool {
	if l.ranges != (Span{}) {
		return true
	}
	for i := range l.Sections {
		if l.Sections[i].layout.HasRanges() {
			return true
		}
	}
	return false
}

// LacksFunctions reports whether no part of the map names functions.
func (l *Layout) LacksFunctions() bool {
	if l.Hermes || l.Scopes != (Span{}) || l.Functions != (Span{}) {
		return false
	}
	for i := range l.Sections {
		if !l.Sections[i].layout.LacksFunctions() {
			return false
		}
	}
	return true
}

func (l *Layout) read(t *json.Reader, parents int) error {
	if parents > t.In.Limits.Nesting {
		return TooMuch(t.Section, t.Offset(), "maps less nested")
	}
	at := t.Offset()
	version, index := false, false
	var seen []string
	err := t.Object(0, func(key string) error {
		if known(key) {
			if slices.Contains(seen, key) {
				return t.Fail("one " + key)
			}
			seen = append(seen, key)
		}
		switch key {
		case "version":
			at := t.Offset()
			if w, err := t.Word(); err != nil || string(w) != "3" {
				return t.FailAt(at, "version 3")
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
		return t.FailAt(at, "a version")
	case index && l.Mappings != (Span{}):
		return t.FailAt(at, "sections or mappings")
	case index:
		return nil
	case l.Mappings == Span{}:
		return t.FailAt(at, "mappings")
	case l.Sources == Span{}:
		return t.FailAt(at, "sources")
	}
	for _, i := range l.Ignored {
		if int(i) >= l.SourceCount {
			return t.FailAt(at, "an ignored source below "+strconv.Itoa(l.SourceCount)+", not "+strconv.Itoa(int(i)))
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

func (l *Layout) field(t *json.Reader, key string, parents int) (err error) {
	switch key {
	case "file":
		if t.Null() {
			return nil
		}
		l.File, err = t.Name()
		l.File = strings.Clone(l.File)
		return err
	case "sourceRoot":
		if t.Null() {
			return nil
		}
		l.Root, err = t.Name()
		return err
	case "debugId", "debug_id":
		return l.debugID(t, key == "debugId")
	case "sources":
		l.Sources, err = spanOf(t, func() error {
			return t.Array(0, func(i int) error {
				if l.SourceCount = i + 1; l.SourceCount > t.In.Limits.Files {
					return TooMuch("sources", t.Offset(), "at most "+strconv.Itoa(t.In.Limits.Files)+" sources")
				}
				return SkipText(t, true)
			})
		})
	case "names":
		l.Names, err = spanOf(t, func() error {
			return t.Array(0, func(i int) error { l.NameCount = i + 1; return SkipText(t, false) })
		})
	case "sourcesContent":
		if t.Null() {
			return nil
		}
		l.Content, err = spanOf(t, func() error { return t.Array(0, func(int) error { return SkipText(t, true) }) })
	case "mappings":
		var m marks
		l.Mappings, m, err = mappingsSpan(t)
		l.Lines, l.ordered = uint32(m.semicolons)+1, !l.Mappings.escaped && !m.backward
	case "rangeMappings":
		l.ranges, err = stringSpan(t)
	case "scopes":
		l.Scopes, err = stringSpan(t)
	case "ignoreList", "x_google_ignoreList":
		first := len(l.Ignored) == 0
		return t.Array(0, func(i int) error {
			v, err := t.Number(MostNumber)
			if err == nil && first {
				l.Ignored = append(l.Ignored, uint32(v))
			}
			if i >= t.In.Limits.Files {
				return TooMuch("ignoreList", t.Offset(), "fewer sources")
			}
			return err
		})
	case "x_facebook_sources":
		l.Functions, err = spanOf(t, func() error {
			if t.Null() {
				return nil
			}
			return t.Array(0, func(i int) error { l.nFunctions = i + 1; return t.Skip(1) })
		})
	case "x_hermes_function_offsets":
		l.Hermes = true
		l.HermesOffsets, err = spanOf(t, func() error { return t.Skip(0) })
	case "x_facebook_offsets":
		l.ModuleOffsets, err = spanOf(t, func() error { return t.Skip(0) })
	case "x_facebook_segments":
		if t.Null() {
			return nil
		}
		return l.readSegments(t, parents)
	default:
		return t.Skip(0)
	}
	return err
}

// spanOf reads a value and returns where it stood.
func spanOf(t *json.Reader, read func() error) (Span, error) {
	t.Peek()
	from := t.Offset()
	err := read()
	return Span{From: from, To: t.Offset()}, err
}

// stringSpan passes over a string and returns where it stood.
func stringSpan(t *json.Reader) (s Span, err error) {
	if t.Peek() != '"' {
		return s, t.Fail("a string")
	}
	s.From = t.Offset()
	s.escaped, err = t.SkipString()
	s.To = t.Offset()
	return s, err
}

// mappingsSpan does the same with mappings, and looks them over.
func mappingsSpan(t *json.Reader) (s Span, m marks, err error) {
	m.begins = true
	if t.Peek() != '"' {
		return s, m, t.Fail("a string")
	}
	s.From = t.Offset()
	if !t.InMemory() { // bytes that the window drops are looked over first
		for t.Advance(1); ; {
			rest := t.Rest()
			i := bytes.IndexAny(rest, `"\`)
			if i >= 0 {
				m.read(rest[:i])
				t.Advance(i)
				break
			}
			m.read(rest)
			if t.Advance(len(rest)); !t.ReadOn() {
				return s, m, t.Fail("the end of a string")
			}
		}
		if t.Rest()[0] == '"' {
			t.Advance(1)
			s.To = t.Offset()
			return s, m, m.check(t)
		}
		t.SeekTo(s.From)
	}
	if s.escaped, err = t.SkipString(); err != nil {
		return s, m, err
	}
	s.To = t.Offset()
	if !s.escaped {
		m.read(t.Back(int(s.To - s.From))[1 : s.To-s.From-1])
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
func stringAt(t *json.Reader, s Span) (string, error) {
	t.SeekTo(s.From)
	return t.String(t.In.Limits.SectionBytes)
}

// SkipText passes over a string, or null where that may stand for one.
func SkipText(t *json.Reader, orNull bool) error {
	if orNull && t.Null() {
		return nil
	}
	_, err := t.SkipString()
	return err
}

// maxDebugIDs bounds the debug ids of a map. Tools write one, or the same one by two names.
const maxDebugIDs = 16

// debugID notes an id that is a UUID. Other texts name nothing, nor do ids above maxDebugIDs.
func (l *Layout) debugID(t *json.Reader, preferred bool) error {
	if c := t.Peek(); c != '"' {
		return t.Skip(0)
	}
	s, err := t.String(1 << 10)
	if err != nil {
		return err
	}
	id := UUID(s)
	if id == "" || len(l.DebugIDs) >= maxDebugIDs || slices.Contains(l.DebugIDs, id) {
		return nil
	}
	if preferred {
		l.DebugIDs = append([]string{id}, l.DebugIDs...)
	} else {
		l.DebugIDs = append(l.DebugIDs, id)
	}
	return nil
}

// UUID returns an id of 32 hex digits in lower case with dashes; "" for other texts.
func UUID(s string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 {
		return ""
	}
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
