// Package script finds the functions of a JavaScript program: where each begins and ends, and how Metro
// names it in its function maps. A name consists of text and of identifiers of the script; the caller
// may know how its source spells those.
//
// A script is parsed in pieces: a function without the larger functions in it. So memory holds one
// piece's syntax tree. A script that cannot be parsed has no functions, which costs the names alone.
// The parser is a library; Functions refuses scripts on which it would take time or memory out of
// proportion.
package script

import "slices"

// scriptReader reads the functions of a script piece by piece.
type scriptReader struct {
	*List
	regexps  int         // the sum of their offsets
	declared map[int]int // where identifiers in names are declared that their piece does not; itself: not known yet
}

// Functions parses a script and returns its functions, at most most of them, in the order of their places:
// a function before the functions in it. nil: the script cannot be parsed, or has none.
func Functions(script []byte, most int) *List {
	if !isModest(script) {
		return nil
	}
	l := functionsInPieces(script, pieceBytes, most)
	if l == nil {
		l = functionsOfWhole(script, most)
	}
	if l == nil || len(l.Placed) == 0 {
		return nil
	}
	l.sort()
	return l
}

// functionsInPieces parses a script piece by piece; nil: it cannot be, or not so.
func functionsInPieces(script []byte, bytes, most int) *List {
	r := &scriptReader{newFunctionList(script, most), 0, map[int]int{}}
	regexps, err := cut(script, bytes, r.read)
	if err != nil || r.regexps != regexps {
		return nil
	}
	for i := range r.Parts {
		p := &r.Parts[i]
		for at, ok := r.declared[int(p.At)]; ok && at != int(p.At); at, ok = r.declared[int(p.At)] {
			p.At = int32(at)
		}
	}
	return r.List
}

// functionsOfWhole parses a script at once.
func functionsOfWhole(script []byte, most int) *List {
	r := &scriptReader{newFunctionList(script, most), 0, map[int]int{}}
	p, b := &piece{}, wholeOf(script)
	p.fill(script, &b)
	if _, err := r.read(p); err != nil {
		return nil
	}
	return r.List
}

// read adds the functions of a piece, and gives the identifiers that it does not declare.
func (r *scriptReader) read(p *piece) (free []int, err error) {
	c, err := p.parse(r.most-len(r.Placed), r.room)
	if err != nil {
		return nil, err
	}
	leave := func(at int) {
		if _, ok := slices.BinarySearch(c.free, at); !ok {
			return
		}
		if _, ok := r.declared[at]; !ok {
			r.declared[at] = at
		}
	}
	for _, l := range c.links {
		if _, ok := r.declared[l.use]; ok {
			r.declared[l.use] = l.declared
			leave(l.declared)
		}
	}
	k := len(r.Parts)
	for i := range c.functions {
		r.add(&c.functions[i], p)
	}
	for _, n := range r.Parts[k:] {
		leave(int(n.At))
	}
	r.regexps, r.room = r.regexps+c.regexps, c.room
	return c.free, nil
}
