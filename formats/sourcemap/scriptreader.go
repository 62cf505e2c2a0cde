package sourcemap

import "slices"

// scriptReader reads the functions of a script piece by piece.
type scriptReader struct {
	*functionList
	regexps  int         // the sum of their offsets
	declared map[int]int // where identifiers in names are declared that their piece does not; itself: not known yet
}

// functionsOf parses a script and gives its functions; nil: it cannot be parsed, or has none.
func functionsOf(script []byte, most int) *functionList {
	if !isModest(script) {
		return nil
	}
	l := functionsInPieces(script, pieceBytes, most)
	if l == nil {
		l = functionsOfWhole(script, most)
	}
	if l == nil || len(l.list) == 0 {
		return nil
	}
	l.sort()
	return l
}

// functionsInPieces parses a script piece by piece; nil: it cannot be, or not so.
func functionsInPieces(script []byte, bytes, most int) *functionList {
	r := &scriptReader{newFunctionList(script, most), 0, map[int]int{}}
	regexps, err := cut(script, bytes, r.read)
	if err != nil || r.regexps != regexps {
		return nil
	}
	for i := range r.parts {
		p := &r.parts[i]
		for at, ok := r.declared[int(p.at)]; ok && at != int(p.at); at, ok = r.declared[int(p.at)] {
			p.at = int32(at)
		}
	}
	return r.functionList
}

// functionsOfWhole parses a script at once.
func functionsOfWhole(script []byte, most int) *functionList {
	r := &scriptReader{newFunctionList(script, most), 0, map[int]int{}}
	p, b := &piece{}, wholeOf(script)
	p.fill(script, &b)
	if _, err := r.read(p); err != nil {
		return nil
	}
	return r.functionList
}

// read adds the functions of a piece, and gives the identifiers that it does not declare.
func (r *scriptReader) read(p *piece) (free []int, err error) {
	c, err := p.parse(r.most-len(r.list), r.room)
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
	k := len(r.parts)
	for i := range c.functions {
		r.add(&c.functions[i], p)
	}
	for _, n := range r.parts[k:] {
		leave(int(n.at))
	}
	r.regexps, r.room = r.regexps+c.regexps, c.room
	return c.free, nil
}
