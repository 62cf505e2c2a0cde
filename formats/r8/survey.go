package r8

import (
	"bytes"
	"context"
	"fmt"
	"hash"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// mapping is an opened text.
type mapping struct {
	in    *formats.Input
	parts int

	mu     sync.Mutex
	survey *survey // nil: not made yet
}

// survey is what one pass over the class lines tells, so that parts can be read apart.
type survey struct {
	starts   []start // by part, then one for the end
	files    files
	facts    *facts
	warnings []string
}

// start is where a part begins: at a class line, or at the end.
type start struct {
	off     int64
	line    int // counted from 1
	version mapVersion
}

// surveyed gives the survey, made by whoever asks first.
func (m *mapping) surveyed(ctx context.Context) (*survey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.survey == nil {
		s, err := newSurvey(ctx, m.in, m.parts, nil)
		if err != nil {
			return nil, err
		}
		m.survey = s
	}
	return m.survey, nil
}

// version notes the version that the mapping declares in line n and returns it.
func (s *survey) version(text string, n int, facts *facts) mapVersion {
	v := parseVersion(text)
	if v.unknown {
		s.warnings = append(s.warnings, newerVersion(n))
	}
	facts.declare(v)
	return v
}

// newSurvey makes it, and adds all bytes of the mapping to sum, unless that is nil.
func newSurvey(ctx context.Context, in *formats.Input, parts int, sum hash.Hash) (*survey, error) {
	s := &survey{files: files{seed: maphash.MakeSeed(), most: in.Limits.Files}, starts: make([]start, 0, parts+1)}
	s.starts = append(s.starts, start{line: 1})
	facts := newFacts(in.Limits)
	l := newLines(in, 0)
	l.sum = sum
	var now mapVersion
	var original []byte // of the class above, while its source file may follow; its own copy
	var room []byte
	var a note
	for n := 1; ; n++ {
		if members := l.members(); members > 0 {
			n += members
			original = nil
		}
		line, off, long, ok, err := l.next(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			for len(s.starts) <= parts {
				s.starts = append(s.starts, start{in.Size, n, now})
			}
			s.facts = facts
			return s, nil
		}
		l.release()
		if long || len(line) == 0 {
			continue
		}
		switch sortOf(line) {
		case blankLine:
			continue
		case memberOf:
			original = nil
			continue
		case outerLine:
			for len(s.starts) < parts && off >= int64(len(s.starts))*partBytes {
				s.starts = append(s.starts, start{off, n, now})
			}
			_, text := trim(line)
			from, to, reason := classLine(text)
			room = append(room[:0], from...)
			if original = room; reason != "" {
				original = nil
			} else if err := facts.class(to); err != nil {
				return nil, err
			}
			continue
		}
		if original == nil && !bytes.Contains(line, versionWord) && bytes.IndexByte(line, '\\') < 0 {
			continue // most are about members
		}
		switch ok, _ := a.read(line); {
		case !ok:
		case a.id == idVersion:
			now = s.version(a.text, n, facts)
		case a.id == idSourceFile && original != nil && a.text != "":
			if err := s.files.put(original, a.text); err != nil {
				return nil, err
			}
			original = nil // the first holds
		}
	}
}

// The sorts of lines.
const (
	blankLine = iota
	commentLine
	memberOf  // an indented line
	outerLine // a class
)

// sortOf tells the sort of a line that is not empty.
func sortOf(line []byte) int {
	switch indent, text := trim(line); {
	case len(text) == 0:
		return blankLine
	case text[0] == '#':
		return commentLine
	case indent > 0:
		return memberOf
	}
	return outerLine
}

// versionWord stands in every comment that declares a map version, unless it is written with an escape.
var versionWord = []byte("mapping")

// newerVersion is the warning about a version that is not known. Its text may hold anything: it is not told.
func newerVersion(line int) string {
	return fmt.Sprintf("line %d: the map version is newer than 2.2: what is new in it is read as a comment", line)
}

// facts gathers what the class "" tells.
type facts struct {
	packages map[string]bool
	most     int
	version  mapVersion
}

func newFacts(l *formats.Limits) *facts {
	return &facts{packages: map[string]bool{}, most: l.Files}
}

// class notes the package of a class.
func (f *facts) class(renamed []byte) error {
	p := packageOf(renamed)
	if f.packages[string(p)] {
		return nil
	}
	if len(f.packages) >= f.most {
		return &formats.Error{Format: name, Section: "packages", Offset: int64(f.most), Want: "fewer packages", Err: formats.ErrLimit}
	}
	f.packages[string(p)] = true
	return nil
}

func (f *facts) declare(v mapVersion) {
	if v.level > f.version.level {
		f.version = v
	}
}

// packageOf is what stands before a class's simple name, without the dot.
func packageOf(class []byte) []byte {
	for i := len(class) - 1; i >= 0; i-- {
		if class[i] == '.' {
			return class[:i]
		}
	}
	return nil
}

// nameless returns the class "", which holds the facts.
func (f *facts) nameless() *symbol.Class {
	return &symbol.Class{Facts: &symbol.Facts{Version: f.version.text, Packages: slices.Sorted(maps.Keys(f.packages))}}
}

// files maps the original name of a class to its source file. Names are kept as hashes under a seed of the
// process: of a million classes two fall together once in 10^7 mappings, and no mapping can provoke it. Each source
// file is kept once.
type files struct {
	seed   maphash.Seed
	at     map[uint64]uint32
	texts  []string
	number map[string]uint32
	most   int
}

func (f *files) put(class []byte, file string) error {
	if f.at == nil {
		f.at, f.number = map[uint64]uint32{}, map[string]uint32{}
	}
	if len(f.at) >= f.most {
		return &formats.Error{Format: name, Section: "source files", Offset: int64(f.most), Want: "fewer classes with a source file", Err: formats.ErrLimit}
	}
	n, ok := f.number[file]
	if !ok {
		file = strings.Clone(file)
		n = uint32(len(f.texts))
		f.texts = append(f.texts, file)
		f.number[file] = n
	}
	f.at[maphash.Bytes(f.seed, class)] = n
	return nil
}

func (f *files) get(class string) string {
	if n, ok := f.at[maphash.String(f.seed, class)]; ok {
		return f.texts[n]
	}
	return ""
}
