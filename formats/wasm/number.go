package wasm

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/internal/wasmfile"
	"github.com/symlake/symlake/formats/symbol"
)

// numbered emits runs, and behind each the numbers of the functions that begin in it: the function that has the first
// byte of a body, with its first known line there.
func (t *tables) numbered(emit func(*symbol.Run) error) func(*symbol.Run) error {
	defined, base := t.functions.Defined, t.image.Base
	first := uint32(len(t.functions.Imported))
	numbers := symbol.Run{Ranges: make([]symbol.Range, 1), Scopes: []symbol.Scope{{Parent: -1}}}
	return func(r *symbol.Run) error {
		if err := emit(r); err != nil {
			return err
		}
		i, _ := slices.BinarySearchFunc(defined, r.Ranges[0].Start+base, func(f wasmfile.Function, low uint64) int { return cmp.Compare(f.Start, low) })
		numbers.Rank, numbers.Strings, numbers.Table = r.Rank, r.Strings, r.Table
		for k := range r.Ranges {
			for ; i < len(defined) && defined[i].Start < r.Ranges[k].End+base; i++ {
				function, at := beginning(r, k, defined[i].End-base)
				if numbers.Scopes[0].Function = function; function == 0 {
					continue
				}
				pos := symbol.WasmFunction(first + uint32(i))
				numbers.Ranges[0] = symbol.Range{Start: pos, End: pos + 1, At: at}
				if err := emit(&numbers); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// beginning returns the outermost function of range k, and its first known line there or in the ranges behind it, up to end.
func beginning(r *symbol.Run, k int, end uint64) (function uint32, at symbol.Site) {
	function, at = outermost(r, k)
	for next := k + 1; at.Line == 0 && next < len(r.Ranges) && r.Ranges[next].Start < end; next++ {
		if other, site := outermost(r, next); other == function && site.Line > 0 {
			at = site
		}
	}
	return function, at
}

// outermost returns the outermost function of range k, and the place in it.
func outermost(r *symbol.Run, k int) (function uint32, at symbol.Site) {
	scope, at := r.Ranges[k].Scope, r.Ranges[k].At
	for r.Scopes[scope].Parent >= 0 {
		scope, at = r.Scopes[scope].Parent, r.Scopes[scope].Call
	}
	return r.Scopes[scope].Function, at
}

// imports emits the imported functions by their numbers.
func (t *tables) imports(emit func(*symbol.Run) error) error {
	list := t.functions.Imported
	run := symbol.Run{Table: new(int), Strings: append(make([]string, 0, len(list)+1), ""), Ranges: make([]symbol.Range, 1), Scopes: []symbol.Scope{{Parent: -1}}}
	for i := range list {
		text, rank := t.functions.Import(i)
		run.Scopes[0].Function = uint32(len(run.Strings))
		run.Rank, run.Strings = rank, append(run.Strings, text)
		pos := symbol.WasmFunction(uint32(i))
		run.Ranges[0] = symbol.Range{Start: pos, End: pos + 1}
		if err := emit(&run); err != nil {
			return err
		}
	}
	return nil
}
