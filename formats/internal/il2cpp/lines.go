// Package il2cpp leads from the C++ that Unity's il2cpp generates back to the C# it was made of: places by
// LineNumberMappings.json, names by MethodMap.tsv. Both lie in il2cppOutput/Symbols of a build.
//
// [Over] lays them over the ranges of a native artifact while it is exploded, so that rows hold places in C#.
//
// Invariants:
//   - a place without a mapping stays a place in C++;
//   - a mapping never reaches over the beginning of its function;
//   - an object without these files is exploded as it is.
package il2cpp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// name of the format, in errors.
const name = "il2cpp"

const (
	// maxLines bounds the entries of a map of lines: a large game has 6 million.
	maxLines = 1 << 25
	// maxBytes bounds a map: it is held whole while its object is exploded.
	maxBytes = 2 << 30
)

// DebugIDMember is the member of a map of lines with the debug-id of its program, where a tool added it.
const DebugIDMember = "__debug-id__"

// Lines is a map of lines.
type Lines struct {
	DebugID string // of the program that it belongs to; "": it does not say
	sources []string
	files   map[string][]mapped // by path of the C++ file, ascending by line
	bases   map[string]string   // path by base name, "" where several files have it
}

// mapped is a line of C++ at which the code of a line of C# begins.
type mapped struct{ line, source, at uint32 }

// ReadLines reads LineNumberMappings.json:
//
//	{"/build/il2cppOutput/Game.cpp": {"/project/Assets/Player.cs": {"1204": 17, "1210": 18}}}
func ReadLines(in *formats.Input) (*Lines, error) {
	if in.Size > maxBytes {
		return nil, fault(0, fmt.Sprintf("at most %d bytes", int64(maxBytes)), formats.ErrLimit)
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return nil, err
	}
	r := linesReader{j: &json.Walker{Bytes: b}, to: &Lines{files: map[string][]mapped{}, bases: map[string]string{}}, numbers: map[string]uint32{}}
	if r.j.Peek() != '{' {
		return nil, fault(0, "an object of C++ files", formats.ErrCorrupt)
	}
	r.j.Object(r.file)
	if r.err == nil && r.j.Failed {
		r.err = fault(int64(r.j.Pos), "an object of C++ files, of C# files, of lines", formats.ErrCorrupt)
	}
	if r.err != nil {
		return nil, r.err
	}
	for file, all := range r.to.files {
		slices.SortStableFunc(all, func(a, b mapped) int { return cmp.Compare(a.line, b.line) })
		r.to.files[file] = slices.Clip(all)
	}
	return r.to, nil
}

type linesReader struct {
	j       *json.Walker
	to      *Lines
	numbers map[string]uint32 // of sources
	count   int
	err     error
}

// file takes the map of a C++ file.
func (r *linesReader) file(cpp string) {
	switch {
	case cpp == DebugIDMember:
		r.to.DebugID = strings.ToLower(r.j.Text())
		return
	case r.err != nil || r.j.Peek() != '{':
		r.j.Skip()
		return
	}
	own := strings.Clone(cpp)
	all := r.to.files[own]
	r.j.Object(func(cs string) {
		if r.err != nil || r.j.Peek() != '{' {
			r.j.Skip()
			return
		}
		source := r.source(cs)
		r.j.Object(func(line string) {
			n, err := strconv.ParseUint(line, 10, 32)
			at := r.j.Number()
			if err != nil || at == 0 || at > 1<<32-1 {
				return
			}
			if r.count++; r.count > maxLines {
				r.err = fault(int64(r.j.Pos), fmt.Sprintf("at most %d lines", maxLines), formats.ErrLimit)
				return
			}
			all = append(all, mapped{uint32(n), source, uint32(at)})
		})
	})
	r.to.files[own] = all
	base := baseOf(own)
	if other, twice := r.to.bases[base]; twice && other != own {
		r.to.bases[base] = ""
	} else {
		r.to.bases[base] = own
	}
}

func (r *linesReader) source(cs string) uint32 {
	n, known := r.numbers[cs]
	if !known {
		n = uint32(len(r.to.sources))
		own := strings.Clone(cs)
		r.to.sources = append(r.to.sources, own)
		r.numbers[own] = n
	}
	return n
}

// of returns the mappings of a C++ file by its path, else by its base name where one file alone has it: a debug
// file may spell the path of the build in another way.
func (l *Lines) of(cpp string) []mapped {
	if all, known := l.files[cpp]; known {
		return all
	}
	return l.files[l.bases[baseOf(cpp)]]
}

// find returns the last mapping at or before line that is not before first.
func find(all []mapped, first, line uint32) (mapped, bool) {
	i, exact := slices.BinarySearchFunc(all, line, func(m mapped, line uint32) int { return cmp.Compare(m.line, line) })
	for exact && i+1 < len(all) && all[i+1].line == line {
		i++
	}
	if !exact {
		i--
	}
	if i < 0 || all[i].line < first {
		return mapped{}, false
	}
	return all[i], true
}

// baseOf returns the last part of a path of any system.
func baseOf(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func fault(at int64, want string, err error) error {
	return &formats.Error{Format: name, Offset: at, Want: want, Err: err}
}
