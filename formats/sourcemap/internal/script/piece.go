package script

import (
	"errors"
	"slices"
	"sort"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// piece is a part of a script that can be parsed by itself: a function's body, or the rest of the script. Where a
// piece of its own was cut out, identifiers stand that are to be looked up from there, behind a number: 0,a,b.
type piece struct {
	text  []byte
	parts []part // ascending
	holes []mark // ascending: those with identifiers
}

// part is some of the script in a piece; text in no part is not the script's.
type part struct{ at, to, from int } // bytes [at, to) of the piece, which stand at from in the script

// mark is the number that stands in a hole.
type mark struct {
	at   int
	uses []int
}

// link leads from an identifier, by its offset, to where it is declared, or used first.
type link struct{ use, declared int }

// parsed holds the contents of a piece; offsets count in the script.
type parsed struct {
	functions []function // the identifiers in their names are bytes of the piece
	links     []link     // from the identifiers in its holes
	free      []int      // the first uses of the identifiers that are not declared in the piece, ascending
	regexps   int        // the sum of their offsets
	room      int        // that names leave
}

var errPiece = errors.New("a piece of a script")

// fill makes a body the piece: as a function of the same kind, unless it is the script itself.
func (p *piece) fill(script []byte, b *body) {
	uses := 0
	for _, h := range b.holes {
		uses += len(h.free)
	}
	p.text = slices.Grow(p.text[:0], b.size()+4*uses+64)
	p.parts = slices.Grow(p.parts[:0], len(b.holes)+uses+2)
	p.holes = p.holes[:0]
	whole := b.to == len(script) // behind a function's body is its bracket
	if !whole {
		p.text = append(p.text, '!')
		if b.await {
			p.text = append(p.text, "async "...)
		}
		p.text = append(p.text, "function"...)
		if b.yield {
			p.text = append(p.text, '*')
		}
		p.text = append(p.text, '(')
		p.add(script, b.params.from, b.params.to)
		p.text = append(p.text, "){"...)
	}
	from := b.from
	for _, h := range b.holes {
		p.add(script, from, h.from)
		if len(h.free) > 0 {
			p.holes = append(p.holes, mark{len(p.text), h.free})
			p.text = append(p.text, '0')
			for _, at := range h.free {
				p.text = append(p.text, ',')
				p.add(script, at, wordEnd(script, at))
			}
		}
		from = h.to
	}
	p.add(script, from, b.to)
	if !whole {
		p.text = append(p.text, '}')
	}
}

func wordEnd(script []byte, at int) int {
	for at < len(script) && inWord[script[at]] {
		at++
	}
	return at
}

func (p *piece) add(script []byte, from, to int) {
	at := len(p.text)
	p.text = append(p.text, script[from:to]...)
	p.parts = append(p.parts, part{at, len(p.text), from})
}

// offset is where a byte of the piece stands in the script; -1: nowhere.
func (p *piece) offset(at int) int {
	if at < 0 {
		return -1
	}
	i := sort.Search(len(p.parts), func(i int) bool { return p.parts[i].to > at })
	if i == len(p.parts) || at < p.parts[i].at {
		return -1
	}
	return p.parts[i].from + at - p.parts[i].at
}

// parse finds the piece's functions: most of them at most, with names of up to room bytes.
func (p *piece) parse(most, room int) (*parsed, error) {
	in := parse.NewInputBytes(p.text)
	tree, err := js.Parse(in, js.Options{})
	if err != nil {
		return nil, err
	}
	w := &walker{script: in.Bytes(), most: most, room: room, holes: p.holes}
	w.stmts(tree.List)
	undeclared := tree.Scope.Undeclared // and no more of the tree is needed
	in.Reset()
	if w.full || len(w.holes) > 0 || !w.scan(in) {
		return nil, errPiece
	}
	c := &parsed{
		functions: make([]function, 0, len(w.keyword)+len(w.arrow)+len(w.method)),
		links:     make([]link, 0, len(w.links)),
		free:      make([]int, 0, len(undeclared)),
		room:      w.room,
	}
	for _, at := range w.regexps {
		c.regexps += p.offset(at)
	}
	for _, list := range [][]function{w.keyword, w.arrow, w.method} {
		for _, f := range list {
			if f.start = p.offset(f.start); f.start < 0 {
				continue // the piece's own
			}
			if f.end > 0 {
				f.end = p.offset(f.end-1) + 1
			}
			c.functions = append(c.functions, f)
		}
	}
	for _, l := range w.links {
		if at := p.offset(l.declared); at >= 0 {
			c.links = append(c.links, link{l.use, at})
		}
	}
	// A private name stands in no hole: it is no expression, and its own class declares it.
	for _, v := range undeclared {
		if at := p.offset(w.offset(v.Data)); at >= 0 && v.Decl == js.NoDecl && v.Link == nil && v.Data[0] != '#' {
			c.free = append(c.free, at)
		}
	}
	slices.Sort(c.free)
	return c, nil
}
