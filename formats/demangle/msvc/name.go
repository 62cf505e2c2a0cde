package msvc

import "strings"

// Where a name of one part stands decides what of it can be referred back to.
type position uint8

const (
	ofSymbol   position = iota // the last part of a symbol's name, or a template's name
	ofTypeName                 // a type, or a scope
)

// same reports whether two nodes have equal texts.
func (r *reader) same(x, y ref) bool {
	a, b := &r.nodes[x], &r.nodes[y]
	return string(r.text[a.from:a.to]) == string(r.text[b.from:b.to])
}

// remember makes a text something to refer back to.
func (r *reader) remember(x ref) {
	if x == 0 || r.backs.nName >= 10 {
		return
	}
	for _, y := range r.backs.names[:r.backs.nName] {
		if r.same(x, y) {
			return
		}
	}
	from, to := r.nodes[x].from, r.nodes[x].to
	r.backs.names[r.backs.nName] = r.push(node{kind: kNamed, a: r.nodes[x].a, from: from, to: to}) // x may get arguments yet
	r.backs.nName++
}

// rememberWhole renders a name of one part, so that it can be referred back to.
func (r *reader) rememberWhole(x ref) {
	if r.failed || r.backs.nName >= 10 {
		return
	}
	r.render(x)
	from, to := r.nodes[x].fullFrom, r.nodes[x].fullTo
	r.remember(r.push(node{kind: kNamed, a: x, from: from, to: to}))
}

// render makes the text of a node in its full form.
func (r *reader) render(x ref) {
	if r.nodes[x].rendered || r.failed {
		return
	}
	p := printer{reader: r, start: len(r.text), max: maxText}
	p.print(x, 0, 0)
	if r.failed = r.failed || p.failed; r.failed {
		return
	}
	n := &r.nodes[x]
	n.fullFrom, n.fullTo, n.rendered, n.varies = int32(p.start), int32(len(r.text)), true, p.varies
}

// back reads a digit that refers back to a name.
func (r *reader) back() ref {
	i := r.take() - '0'
	if i >= r.backs.nName {
		return r.fail()
	}
	return r.backs.names[i]
}

// word reads an identifier up to its at sign.
func (r *reader) word() ref {
	n := strings.IndexByte(r.left(), '@')
	if n <= 0 {
		return r.fail()
	}
	x := r.push(node{kind: kNamed, from: int32(r.pos), to: int32(r.pos + n)})
	r.pos += n + 1
	return x
}

// typePart reads the last part of a type's name.
func (r *reader) typePart() ref {
	switch {
	case isDigit(r.peek()):
		return r.back()
	case r.begins("?$"):
		return r.template(ofTypeName)
	}
	x := r.word()
	r.remember(x)
	return x
}

// symbolPart reads the last part of a symbol's name.
func (r *reader) symbolPart(pos position) ref {
	switch {
	case isDigit(r.peek()):
		return r.back()
	case r.begins("?$"):
		return r.template(pos)
	case r.accept('?'):
		return r.special()
	}
	x := r.word()
	r.remember(x)
	return x
}

// scope reads a part of a name that is not the last.
func (r *reader) scope() ref {
	switch {
	case isDigit(r.peek()):
		return r.back()
	case r.begins("?$"):
		return r.template(ofTypeName)
	case r.acceptText("?A"):
		key := r.pos
		n := strings.IndexByte(r.left(), '@')
		if n < 0 {
			return r.fail()
		}
		r.pos += n + 1
		r.remember(r.push(node{kind: kNamed, from: int32(key), to: int32(key + n)}))
		return r.made(kNamed, "`anonymous namespace'")
	case r.beginsLocal():
		return r.local()
	}
	x := r.word()
	r.remember(x)
	return x
}

// beginsLocal reports whether a scope in a function begins here: a number between question marks, which does not begin
// with the letter for zero.
func (r *reader) beginsLocal() bool {
	s := r.left()
	if len(s) < 3 || s[0] != '?' {
		return false
	}
	if s[2] == '?' {
		return s[1] == '@' || isDigit(s[1])
	}
	if s[1] < 'B' || s[1] > 'P' {
		return false
	}
	i := 2
	for i < len(s) && 'A' <= s[i] && s[i] <= 'P' {
		i++
	}
	return i+1 < len(s) && s[i] == '@' && s[i+1] == '?'
}

// local reads a scope in a function. Its text has the function in full.
func (r *reader) local() ref {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	r.pos++
	number, _ := r.natural()
	r.accept('?')
	in := r.symbol()
	if r.failed {
		return 0
	}
	p := printer{reader: r, start: len(r.text), max: maxText}
	p.put("`")
	from := p.start
	p.start = len(r.text)
	p.print(in, 0, 0)
	p.put("'::`")
	p.natural(number)
	p.put("'")
	r.failed = r.failed || p.failed
	return r.push(node{kind: kNamed, a: in, on: true, from: int32(from), to: int32(len(r.text))})
}

// template reads a name with template arguments.
func (r *reader) template(pos position) ref {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	r.pos += 2
	outer := r.backs
	r.backs.nName, r.backs.nParam = 0, 0
	x := r.symbolPart(ofSymbol)
	if !r.failed {
		r.arguments(x)
	}
	r.backs = outer
	if r.failed {
		return 0
	}
	if pos == ofTypeName {
		if k := r.nodes[x].kind; k == kConversion || k == kStructor {
			return r.fail()
		}
		r.rememberWhole(x)
	}
	return x
}

// typeName reads a type's qualified name.
func (r *reader) typeName() ref {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	x := r.typePart()
	if r.failed {
		return 0
	}
	return r.scopes(x)
}

// symbolName reads a symbol's qualified name.
func (r *reader) symbolName() ref {
	x := r.symbolPart(ofSymbol)
	if r.failed {
		return 0
	}
	name := r.scopes(x)
	if r.failed {
		return 0
	}
	if r.nodes[x].kind == kStructor {
		list := r.kids(name)
		if len(list) < 2 {
			return r.fail()
		}
		r.nodes[x].a = list[len(list)-2]
	}
	return name
}

// scopes reads the scopes around a part, from the inside out, and makes a name of all.
func (r *reader) scopes(last ref) ref {
	from := len(r.open)
	r.open = append(r.open, last)
	for !r.accept('@') {
		x := r.scope()
		if r.failed {
			return 0
		}
		r.open = append(r.open, x)
	}
	for i, j := from, len(r.open)-1; i < j; i, j = i+1, j-1 {
		r.open[i], r.open[j] = r.open[j], r.open[i]
	}
	name := r.push(node{kind: kQualified})
	if name != 0 {
		r.list(name, from)
	}
	return name
}

func (r *reader) kids(x ref) []ref {
	n := &r.nodes[x]
	return r.lists[n.at : n.at+n.n]
}

// lastPart is the last part of a qualified name.
func (r *reader) lastPart(name ref) ref {
	list := r.kids(name)
	return list[len(list)-1]
}
