package sourcemap

import (
	"path"
	"strings"
)

// words are the strings of one map: where its sources and names stand in a
// run's strings.
type words struct {
	sources, names uint32 // of the first; none of them is 0
	nSources       int
	nNames         int
	blank          []bool // by source: it is null
}

// readFiles reads the sources into the run's strings.
func (e *emitter) readFiles(t *text, l *layout) (*words, error) {
	w := &words{sources: uint32(len(e.run.Strings))}
	t.section = "sources"
	t.seek(l.sources.from)
	err := t.array(0, func(int) error {
		if t.null() {
			w.blank = append(w.blank, true)
			e.run.Strings = append(e.run.Strings, "")
			return nil
		}
		s, err := t.string(t.in.Limits.NameBytes)
		w.blank = append(w.blank, s == "")
		e.run.Strings = append(e.run.Strings, resolve(l.root, s))
		return err
	})
	w.nSources = len(w.blank)
	return w, err
}

// readWords reads sources and names into the run's strings.
func (e *emitter) readWords(t *text, l *layout) (*words, error) {
	w, err := e.readFiles(t, l)
	if err != nil {
		return nil, err
	}
	w.names = uint32(len(e.run.Strings))
	if l.names == (span{}) {
		return w, nil
	}
	t.section = "names"
	t.seek(l.names.from)
	err = t.array(0, func(i int) error {
		if i >= t.in.Limits.Symbols {
			return tooMuch(t.section, t.offset(), "fewer names")
		}
		s, err := t.string(t.in.Limits.NameBytes)
		e.run.Strings = append(e.run.Strings, s)
		return err
	})
	w.nNames = len(e.run.Strings) - int(w.names)
	return w, err
}

// file is the string of a source.
func (w *words) file(source int32) uint32 {
	if w.blank[source] {
		return 0
	}
	return w.sources + uint32(source)
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
