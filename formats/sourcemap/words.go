package sourcemap

import (
	"path"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// words are the strings of one map, as indices into a run's strings; 0: null, or "".
type words struct {
	sources []uint32
	names   []uint32
}

// readFiles reads the sources into the run's strings.
func (e *emitter) readFiles(t *text, l *layout) (*words, error) {
	e.expect(l.nSources + l.nNames)
	w := &words{sources: make([]uint32, 0, l.nSources)}
	t.section = "sources"
	t.seek(l.sources.from)
	resolved := int64(0) // bytes, with the root before each
	return w, t.array(0, func(int) error {
		if t.null() {
			w.sources = append(w.sources, 0)
			return nil
		}
		s, err := t.name()
		if err != nil {
			return err
		}
		s = symbol.ShortName(resolve(l.root, s), t.in.Limits.NameBytes)
		const share = 64 // times the list; sound maps have short roots
		if resolved += int64(len(s)); resolved > 16<<20+share*(l.sources.to-l.sources.from) {
			return tooMuch(t.section, t.offset(), "a shorter source root")
		}
		w.sources = append(w.sources, e.intern(s))
		return nil
	})
}

// readWords reads sources and names into the run's strings.
func (e *emitter) readWords(t *text, l *layout) (*words, error) {
	w, err := e.readFiles(t, l)
	if err != nil || l.names == (span{}) {
		return w, err
	}
	t.section = "names"
	t.seek(l.names.from)
	w.names = make([]uint32, 0, l.nNames)
	return w, t.array(0, func(i int) error {
		if i >= t.in.Limits.Symbols {
			return tooMuch(t.section, t.offset(), "fewer names")
		}
		s, err := t.name()
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
