package lookuptest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// CartID is the build-id that most tests give an image.
const CartID = "6f1c0a55e2d94b0f8a7713c4d5e6f708090a0b0c"

// Image is a made-up artifact: functions of 64 bytes, each with three ranges (its own
// lines around an inlined call) and, but for every seventh, a hole of 16 bytes at its end.
type Image struct {
	symbol.Artifact
	Functions int
	Recorded  []symbol.Name // in the record: the artifact's and APP@BUILD
	Salt      string        // of function names: tells loads apart
	Depth     int           // of the inlined call's chain
	// Unwind is the call frame information; its rules are indices into Rules.
	Unwind []symbol.UnwindRange
	Rules  []string
}

// ImageBase is the image base of every Image.
const ImageBase = 0x10000

// NewImage makes an image of n functions, without rows.
func NewImage(canonical, file string, functions int) *Image {
	im := &Image{Functions: functions, Depth: 2, Artifact: symbol.Artifact{
		ID: symbol.NewID(symbol.ELF, canonical), Kind: symbol.ELF, Canonical: canonical, Arch: "arm64",
		Base: ImageBase, End: uint64(functions)*64 + 128,
		Anchors: map[string]uint64{".text": 64},
	}}
	im.Names = []symbol.Name{{Kind: symbol.NameBuildID, Text: canonical}, {Kind: symbol.NameFile, Text: file}}
	im.Recorded = slices.Clone(im.Names)
	return im
}

func (im *Image) function(i int) string {
	name := fmt.Sprintf("cart%s%d", im.Salt, i)
	if im.Kind == symbol.PE {
		return "_" + name + "@8"
	}
	return fmt.Sprintf("_Z%d%sv", len(name), name)
}

func inlined(k int) string { return fmt.Sprintf("_ZN5boost7inline%dEi", k) }

func (im *Image) load() (dictionary.Table, []symbol.Run) {
	t := dictionary.Table{Strings: []string{""}, Runs: []uint32{0}}
	index := map[string]uint32{}
	str := func(s string) uint32 {
		at, ok := index[s]
		if !ok {
			at = uint32(len(t.Strings))
			index[s] = at
			t.Strings, t.Runs = append(t.Strings, s), append(t.Runs, 0)
		}
		t.Runs[at]++
		return at
	}
	var runs []symbol.Run
	for i := range im.Functions {
		start := uint64(i) * 64
		file := str(fmt.Sprintf("src/file%d.cpp", i/50))
		header := str("include/boost/inline.hpp")
		r := symbol.Run{Rank: symbol.RankDWARF, Scopes: []symbol.Scope{{Parent: -1, Function: str(im.function(i))}}}
		for d := 1; d < im.Depth; d++ {
			call := symbol.Site{File: header, Line: uint32(d), Column: 9}
			if d == 1 {
				call = symbol.Site{File: file, Line: uint32(10*i + 2), Column: 3}
			}
			r.Scopes = append(r.Scopes, symbol.Scope{Parent: int32(d - 1), Function: str(inlined(d)), Call: call})
		}
		end := start + 48
		if i%7 == 0 {
			end = start + 64
		}
		r.Ranges = []symbol.Range{
			{Start: start, End: start + 16, At: symbol.Site{File: file, Line: uint32(10*i + 1)}},
			{Start: start + 16, End: start + 32, Scope: int32(im.Depth - 1), At: symbol.Site{File: header, Line: uint32(100 + i%10), Column: 5}},
			{Start: start + 32, End: end, At: symbol.Site{File: file, Line: uint32(10*i + 3)}},
		}
		runs = append(runs, r)
	}
	for i := range runs {
		runs[i].Strings = t.Strings
	}
	return t, runs
}

// Want is the answer by the rule above, not by anything stored.
func (im *Image) Want(pos uint64) (status symbol.Status, frames []symbol.Frame) {
	i, off := int(pos/64), pos%64
	switch {
	case pos >= im.End:
		return symbol.Outside, nil
	case i >= im.Functions || off >= 48 && i%7 != 0:
		return symbol.Hole, nil
	}
	file := fmt.Sprintf("src/file%d.cpp", i/50)
	outer := symbol.Frame{Linkage: im.function(i), File: file, Line: uint32(10*i + 3)}
	switch {
	case off < 16:
		outer.Line = uint32(10*i + 1)
	case off < 32:
		outer.Line, outer.Column = uint32(10*i+2), 3
		at := symbol.Site{Line: uint32(100 + i%10), Column: 5}
		for d := im.Depth - 1; d > 0; d-- {
			frames = append(frames, symbol.Frame{Linkage: inlined(d), File: "include/boost/inline.hpp", Line: at.Line, Column: at.Column})
			at = symbol.Site{Line: uint32(d), Column: 9}
		}
		if im.Depth == 1 {
			outer.Line, outer.Column = at.Line, at.Column
			outer.File = "include/boost/inline.hpp"
		}
	}
	return symbol.Found, append(frames, outer)
}

// Check compares an answer with the rule.
func (im *Image) Check(t testing.TB, pos uint64, a symbol.Answer) {
	t.Helper()
	status, frames := im.Want(pos)
	FailIf(t, a.Status != status, "position %#x: %s (%v), want %s", pos, a.Status, a.Err, status)
	FailIf(t, (a.Err == nil) != (status == symbol.Found), "position %#x: %s with reason %v", pos, a.Status, a.Err)
	got := slices.Clone(a.Frames)
	for i := range got {
		FailIf(t, got[i].Function == "", "position %#x: frame %d has no function", pos, i)
		got[i].Function = ""
	}
	FailIf(t, !slices.Equal(got, frames), "position %#x:\n got %+v\nwant %+v", pos, got, frames)
}
