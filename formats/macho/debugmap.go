package macho

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/machofile"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// maxMisses is how many files of one folder are asked for in vain, one behind the other, and maxAllMisses
// how many of all: whoever hands in an image alone has none of the thousands that its debug map names. Whoever
// hands in a library with it has none of those in front of the library's own.
const maxMisses, maxAllMisses = 4, 64

// openObjectFiles opens those object files of the debug map that are
// companions of the image, and counts their units.
func (o *object) openObjectFiles(ctx context.Context) error {
	if o.in.Companion == nil {
		return nil
	}
	files, err := o.file.DebugMap(ctx)
	if err != nil {
		return err
	}
	opened := map[string]*formats.Input{} // by path; nil: not found
	misses, all := map[string]int{}, 0    // by folder
	libraries := map[string]*library{}    // by path
	named := map[[2]string]int{}          // how often an object file was
	var lacking []string
	for i := range files {
		f := &files[i]
		if len(f.Functions) == 0 {
			continue
		}
		in, asked := opened[f.Path]
		if folder := path.Dir(f.Path); !asked && misses[folder] < maxMisses && all < maxAllMisses {
			in, err = o.in.Companion(ctx, formats.Ref{Name: f.Path})
			if err != nil && !errors.Is(err, formats.ErrNoCompanion) && !formats.Rejects(err) {
				return err
			}
			if err == nil && in.Release != nil {
				o.closers = append(o.closers, in.Release)
			}
			opened[f.Path] = in
			if in != nil {
				misses[folder], all = 0, 0
			} else {
				misses[folder]++
				all++
			}
		}
		file := [2]string{f.Path, f.Member}
		if named[file]++; named[file] > maxNamesakes {
			in = nil // a small debug map could name a large file without end
		}
		ok, err := o.addObjectFile(ctx, f, in, libraries)
		if err != nil {
			return err
		}
		if !ok {
			lacking = append(lacking, "oso:"+f.Name())
		}
	}
	if len(o.units) > 0 {
		slices.Sort(lacking)
		o.lacking = slices.Compact(lacking)
	}
	return nil
}

// addObjectFile adds the units of a file of the debug map. It returns false if in,
// which may be nil, does not have it or is damaged: then the symbol table answers.
// libraries are the static libraries read so far.
func (o *object) addObjectFile(ctx context.Context, f *machofile.ObjectFile, in *formats.Input, libraries map[string]*library) (bool, error) {
	if in == nil {
		return false, nil
	}
	soft := func(err error) (bool, error) {
		if formats.Rejects(err) {
			return false, nil
		}
		return false, err
	}
	l := libraries[f.Path]
	if l == nil {
		in, err := sliceFor(in, o.file.Arch())
		if in == nil || err != nil {
			return soft(err)
		}
		l = &library{in: in}
		if f.Member != "" {
			l = readLibrary(in)
			libraries[f.Path] = l
		}
	}
	in = l.in
	file, moved, err := o.objectFile(f, in, l)
	if file == nil || err != nil {
		return soft(err)
	}
	n, err := dwarf.CountUnits(ctx, file, name, in.Limits)
	if n == 0 || err != nil {
		return soft(err)
	}
	if o.parts()+n > o.in.Limits.Units {
		return false, &formats.Error{Format: name, Section: "debug map", Want: "fewer units", Err: formats.ErrLimit}
	}
	o.units = append(o.units, &units{file: file, count: n, moved: moved})
	return true, nil
}

// maxNamesakes is how many members of one name are looked at: static libraries that were merged have several.
const maxNamesakes = 16

// objectFile opens in as the object file or, of a library's members with its name, the member with most of its
// functions. It returns nil if there is none.
func (o *object) objectFile(f *machofile.ObjectFile, in *formats.Input, l *library) (*machofile.File, *moves, error) {
	var file *machofile.File
	var moved *moves
	try := func(in *formats.Input) (all bool, err error) {
		c, err := machofile.Open(in)
		if err != nil || !c.Relocatable() || c.Arch() != o.file.Arch() {
			return false, err
		}
		v, err := findMoves(c, f.Functions)
		if err == nil && (file == nil || len(v.all) > len(moved.all)) {
			file, moved = c, v
		}
		return err == nil && len(v.all) == len(f.Functions), err
	}
	if f.Member == "" {
		_, err := try(in)
		return file, moved, err
	}
	tried := 0
	err := l.each(f.Member, func(m *formats.Input) (bool, error) {
		all, err := try(m)
		if tried++; formats.Rejects(err) {
			err = nil // another may be meant
		}
		return all || tried == maxNamesakes, err
	})
	if file != nil && formats.Rejects(err) {
		err = nil
	}
	return file, moved, err
}

// move is code of an object file and where the linker put it.
type move struct{ start, end, to uint64 }

// moves are the moves of one object file: ascending, disjoint.
type moves struct{ all []move }

func findMoves(file *machofile.File, functions []machofile.MappedFunction) (*moves, error) {
	at := make(map[string]uint64, len(functions))
	err := file.Defined(func(name string, addr uint64) {
		if _, known := at[name]; !known {
			at[name] = addr
		}
	})
	if err != nil {
		return nil, err
	}
	m := &moves{}
	for _, f := range functions {
		if start, ok := at[f.Name]; ok && f.Size > 0 && start+f.Size > start {
			m.all = append(m.all, move{start, start + f.Size, f.Addr})
		}
	}
	slices.SortStableFunc(m.all, func(a, b move) int { return cmp.Compare(a.start, b.start) })
	end := uint64(0)
	m.all = slices.DeleteFunc(m.all, func(v move) bool {
		over := v.start < end
		end = max(end, v.end)
		return over
	})
	return m, nil
}

// emit cuts an object file's runs at the borders of its functions and moves
// the pieces. It drops code that was not linked.
func (m *moves) emit(img *native.Image, emit func(*symbol.Run) error) func(*symbol.Run) error {
	var out symbol.Run
	return func(r *symbol.Run) error {
		ranges := r.Ranges
		out = symbol.Run{Rank: r.Rank, Strings: r.Strings, Table: r.Table, Scopes: r.Scopes, Ranges: out.Ranges}
		first, _ := slices.BinarySearchFunc(m.all, ranges[0].Start, func(v move, at uint64) int {
			if v.end <= at {
				return -1
			}
			return 1
		})
		for _, v := range m.all[first:] {
			if v.start >= ranges[len(ranges)-1].End {
				break
			}
			out.Ranges = out.Ranges[:0]
			for len(ranges) > 1 && ranges[0].End <= v.start { // moves ascend, as ranges do
				ranges = ranges[1:]
			}
			for _, g := range ranges {
				if g.Start >= v.end {
					break
				}
				g.Start, g.End = max(g.Start, v.start), min(g.End, v.end)
				if g.Start < g.End {
					g.Start, g.End = g.Start-v.start+v.to-img.Base, g.End-v.start+v.to-img.Base
					out.Ranges = append(out.Ranges, g)
				}
			}
			if len(out.Ranges) == 0 || v.to < img.Base {
				continue
			}
			if err := emit(&out); err != nil {
				return err
			}
		}
		return nil
	}
}
