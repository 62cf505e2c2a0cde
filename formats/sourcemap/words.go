package sourcemap

import (
	"path"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/symbol"
)

// words are the strings of one map, as indices into a run's strings; 0: null, or "".
type words struct {
	sources []uint32
	names   []uint32
}

// readFiles reads the sources into the run's strings.
func (e *emitter) readFiles(t *json.Reader, l *mapfile.Layout) (*words, error) {
	e.expect(l.SourceCount + l.NameCount)
	w := &words{sources: make([]uint32, 0, l.SourceCount)}
	t.Section = "sources"
	t.SeekTo(l.Sources.From)
	resolved := int64(0) // bytes, with the root before each
	return w, t.Array(0, func(int) error {
		if t.Null() {
			w.sources = append(w.sources, 0)
			return nil
		}
		s, err := t.Name()
		if err != nil {
			return err
		}
		s = symbol.ShortName(resolve(l.Root, s), t.In.Limits.NameBytes)
		const share = 64 // times the list; sound maps have short roots
		if resolved += int64(len(s)); resolved > 16<<20+share*(l.Sources.To-l.Sources.From) {
			return mapfile.TooMuch(t.Section, t.Offset(), "a shorter source root")
		}
		w.sources = append(w.sources, e.intern(s))
		return nil
	})
}

// readWords reads sources and names into the run's strings.
func (e *emitter) readWords(t *json.Reader, l *mapfile.Layout) (*words, error) {
	w, err := e.readFiles(t, l)
	if err != nil || l.Names == (mapfile.Span{}) {
		return w, err
	}
	t.Section = "names"
	t.SeekTo(l.Names.From)
	w.names = make([]uint32, 0, l.NameCount)
	return w, t.Array(0, func(i int) error {
		if i >= t.In.Limits.Symbols {
			return mapfile.TooMuch(t.Section, t.Offset(), "fewer names")
		}
		s, err := t.Name()
		w.names = append(w.names, e.intern(s))
		return err
	})
}

// resolve puts the source root before a source, and takes "." and ".." out of
// the path, as the libraries that others look up with do.
func resolve(root, source string) string {
	switch {
	case source == "":
		return ""
	case root != "" && !strings.HasPrefix(source, "/") && scheme(source) == 0:
		source = strings.TrimSuffix(root, "/") + "/" + source
	}
	if !strings.Contains(source, "./") && !strings.Contains(source, "//") && !strings.HasSuffix(source, "/..") {
		return source
	}
	file, rest := source, ""
	if i := strings.IndexAny(source, "?#"); i >= 0 {
		file, rest = source[:i], source[i:]
	}
	if at := scheme(file); at > 0 { // SCHEME://HOST stays
		slash := strings.IndexByte(file[at:], '/')
		if slash < 0 {
			return source
		}
		return file[:at+slash] + path.Clean(file[at+slash:]) + rest
	}
	return path.Clean(file) + rest
}

// scheme is the length of what stands before the host of a URL; 0: it is none.
func scheme(s string) int {
	i := strings.Index(s, "://")
	if i <= 0 || strings.IndexFunc(s[:i], func(r rune) bool {
		return r != '+' && r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) >= 0 {
		return 0
	}
	return i + 3
}

// sources is one map ready to answer: its words, and what it knows of functions.
type sources struct {
	*words
	ignored   []symbol.Flags
	functions []mapfile.FunctionMap
	hints     []int
	named     []uint32 // 0, and the names
}

// readSources reads all of a map but its mappings.
func (e *emitter) readSources(t *json.Reader, l *mapfile.Layout) (*sources, error) {
	w, err := e.readWords(t, l)
	if err != nil {
		return nil, err
	}
	s := &sources{words: w, named: append([]uint32{0}, w.names...), ignored: make([]symbol.Flags, len(w.sources))}
	for _, i := range l.Ignored {
		s.ignored[i] = symbol.Ignored
	}
	if l.Functions != (mapfile.Span{}) && l.Scopes == (mapfile.Span{}) {
		if s.functions, err = mapfile.ReadFunctionMaps(t, l.Functions, len(w.sources), e.intern); err != nil {
			return nil, err
		}
		s.hints = make([]int, len(s.functions))
	}
	return s, nil
}

// site is the place that a segment maps to.
func (s *sources) site(m *mapfile.Mapping) symbol.Site {
	return symbol.Site{File: s.sources[m.Source], Line: m.Line + 1, Column: m.Original}
}

// node is the node of the function around the place, by the function map.
func (s *sources) node(e *emitter, m *mapfile.Mapping) int32 {
	if int(m.Source) >= len(s.functions) {
		return 0
	}
	return e.named(s.functions[m.Source].At(m.Line, m.Original, &s.hints[m.Source]))
}

// answer says in at and mark what a segment maps to.
func (s *sources) answer(m *mapfile.Mapping, at *symbol.Site, mark *symbol.Mark) {
	at.File, at.Line, at.Column = s.sources[m.Source], m.Line+1, m.Original
	mark.Flags, mark.Compiled = s.ignored[m.Source], 0
	if m.Linear {
		mark.Flags |= symbol.Linear
	}
	mark.Name = s.named[m.Name+1] // no branch: whether a segment has a name is chance
}
