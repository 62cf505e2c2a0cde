package msvc

import "strings"

// symbol reads a whole symbol.
func (r *reader) symbol() ref {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	switch {
	case r.accept('.'): // a type's name in RTTI
		t := r.typeOf(asResult)
		if r.failed || r.pos < len(r.in) {
			return r.fail()
		}
		return r.described(t, "`RTTI Type Descriptor Name'")
	case r.begins("??@"):
		return r.hashed()
	case !r.accept('?'):
		return r.fail()
	}
	if x, known := r.intrinsic(); known || r.failed {
		return x
	}
	return r.declared()
}

// hashed reads a name that is a hash. A table of RTTI has a mark behind its hash.
func (r *reader) hashed() ref {
	from := r.pos
	n := strings.IndexByte(r.left()[3:], '@')
	if n < 0 {
		return r.fail()
	}
	r.pos += 3 + n + 1
	r.acceptText("??_R4@")
	return r.named(kJust, r.push(node{kind: kNamed, from: int32(from), to: int32(r.pos)}))
}

// named makes a symbol with a name of one part.
func (r *reader) named(k kind, part ref) ref {
	from := len(r.open)
	r.open = append(r.open, part)
	name := r.push(node{kind: kQualified})
	if r.failed {
		return 0
	}
	r.list(name, from)
	return r.push(node{kind: k, b: name})
}

// described returns a symbol with a type and a description.
func (r *reader) described(t ref, what string) ref {
	x := r.named(kData, r.made(kNamed, what))
	if x != 0 {
		r.nodes[x].a = t
	}
	return x
}

// intrinsic reads symbols that compilers make and that are no functions or data; known is false for all others.
func (r *reader) intrinsic() (x ref, known bool) {
	s := r.left()
	if len(s) < 3 || s[0] != '?' || s[1] != '_' {
		return 0, false
	}
	at, size := r.pos, 3
	switch s[2] {
	case 'R', '_':
		size = 4
	}
	if len(s) < size {
		return 0, false
	}
	r.pos += size
	switch s[2:size] {
	case "7":
		return r.table("`vftable'"), true
	case "8":
		return r.table("`vbtable'"), true
	case "S":
		return r.table("`local vftable'"), true
	case "R4":
		return r.table("`RTTI Complete Object Locator'"), true
	case "9":
		return r.vcall(), true
	case "B":
		return r.guard(false), true
	case "_J":
		return r.guard(true), true
	case "C":
		return r.constant(), true
	case "R0":
		t := r.typeOf(asResult)
		if r.failed || !r.acceptText("@8") {
			return r.fail(), true
		}
		return r.described(t, "`RTTI Type Descriptor'"), true
	case "R1":
		return r.base(), true
	case "R2":
		return r.untyped("`RTTI Base Class Array'"), true
	case "R3":
		return r.untyped("`RTTI Class Hierarchy Descriptor'"), true
	case "_E":
		return r.initializer(false), true
	case "_F":
		return r.initializer(true), true
	case "A", "P": // no compiler is known to write them
		return r.fail(), true
	}
	r.pos = at
	return 0, false
}

// table reads a table of virtual functions, and for which bases it is.
func (r *reader) table(what string) ref {
	name := r.scopes(r.made(kNamed, what))
	if r.failed || !r.accept('6') && !r.accept('7') {
		return r.fail()
	}
	q := r.qualifiers()
	from := len(r.open)
	for r.pos < len(r.in) && !r.accept('@') {
		x := r.typeName()
		if r.failed {
			return 0
		}
		r.open = append(r.open, x)
	}
	x := r.push(node{kind: kTable, b: name, quals: q})
	if x != 0 {
		r.list(x, from)
	}
	return x
}

// vcall reads a thunk that calls a virtual function.
func (r *reader) vcall() ref {
	part := r.push(node{kind: kVcall})
	name := r.scopes(part)
	if r.failed || !r.acceptText("$B") {
		return r.fail()
	}
	r.nodes[part].number = r.unsigned()
	if r.failed || !r.accept('A') {
		return r.fail()
	}
	return r.function(name, signature{class: cNoParameters, thunk: true, convention: r.convention()})
}

// function makes a symbol of a function without a type.
func (r *reader) function(name ref, s signature) ref {
	r.signatures = append(r.signatures, s)
	t := r.push(node{kind: kFunction, number: int64(len(r.signatures) - 1)})
	return r.push(node{kind: kCode, a: t, b: name})
}

// guard reads the variable that says whether a static variable of a function has its value.
func (r *reader) guard(threads bool) ref {
	part := r.push(node{kind: kGuard, on: threads})
	name := r.scopes(part)
	if r.failed || !r.acceptText("4IA") && !r.accept('5') {
		return r.fail()
	}
	if r.pos < len(r.in) {
		r.nodes[part].number = r.unsigned()
	}
	return r.push(node{kind: kJust, b: name})
}

// untyped reads data of RTTI.
func (r *reader) untyped(what string) ref {
	name := r.scopes(r.made(kNamed, what))
	if r.failed || !r.accept('8') {
		return r.fail()
	}
	return r.push(node{kind: kJust, b: name})
}

// base reads the description of a base class.
func (r *reader) base() ref {
	numbers := [4]int64{r.unsigned(), r.signed(), r.unsigned(), r.unsigned()}
	r.numbers = append(r.numbers, numbers)
	part := r.push(node{kind: kBase, number: int64(len(r.numbers) - 1)})
	if r.failed {
		return 0
	}
	name := r.scopes(part)
	r.accept('8')
	return r.push(node{kind: kJust, b: name})
}

// initializer reads a function that makes or destroys a variable's value.
func (r *reader) initializer(atExit bool) ref {
	member := r.accept('?')
	of := r.declared()
	if r.failed {
		return 0
	}
	part := r.push(node{kind: kInitializer, on: atExit})
	if r.failed {
		return 0
	}
	if r.nodes[of].kind == kData {
		// Older versions of clang left out the question mark and one of the at signs.
		if !r.accept('@') || member && !r.accept('@') {
			return r.fail()
		}
		t := r.encodedFunction()
		r.nodes[part].a = of
		x := r.named(kCode, part)
		if x != 0 {
			r.nodes[x].a = t
		}
		return x
	}
	if member {
		return r.fail()
	}
	r.nodes[part].a = r.nodes[of].b
	x := r.named(kCode, part)
	if x != 0 {
		r.nodes[x].a = r.nodes[of].a
	}
	return x
}

// declared reads a function or a variable.
func (r *reader) declared() ref {
	name := r.symbolName()
	if r.failed {
		return 0
	}
	if c := r.peek(); '0' <= c && c <= '4' {
		r.pos++
		t := r.variable()
		if r.failed || r.nodes[r.lastPart(name)].kind == kConversion {
			return r.fail()
		}
		return r.push(node{kind: kData, a: t, b: name, code: c - '0' + 1})
	}
	t := r.encodedFunction()
	if r.failed {
		return 0
	}
	if last := r.lastPart(name); r.nodes[last].kind == kConversion {
		if r.nodes[t].a == 0 {
			return r.fail()
		}
		r.nodes[last].a = r.nodes[t].a
	}
	return r.push(node{kind: kCode, a: t, b: name})
}

// variable reads the type of a variable. Qualifiers of what a pointer points to stand at the end.
func (r *reader) variable() ref {
	t := r.typeOf(asIs)
	if r.failed {
		return 0
	}
	if r.nodes[t].kind != kPointer {
		r.nodes[t].quals = r.qualifiers()
		return t
	}
	r.nodes[t].quals |= r.extended()
	q := r.qualifiers()
	if r.nodes[t].b != 0 {
		r.typeName()
	}
	r.nodes[r.nodes[t].a].quals |= q
	return t
}

// encodedFunction reads what follows a function's name: where it stands, how it adjusts this, its type.
func (r *reader) encodedFunction() ref {
	var s signature
	if r.acceptText("$$J0") {
		s.class = cExternC
	}
	s.class |= r.class()
	switch {
	case r.failed:
		return 0
	case s.class&cAdjustStatic != 0:
		s.thunk = true
		s.offsets[0] = int64(uint32(r.signed()))
	case s.class&cAdjustVirtual != 0:
		s.thunk = true
		if s.class&cAdjustExtended != 0 {
			s.offsets[2], s.offsets[3] = r.short(), r.short()
		}
		s.offsets[1] = r.short()
		s.offsets[0] = int64(uint32(r.signed()))
	}
	if s.class&cNoParameters != 0 { // a function of C around a name
		s.convention = noConventionCode
		r.signatures = append(r.signatures, s)
		return r.push(node{kind: kFunction, number: int64(len(r.signatures) - 1)})
	}
	return r.functionType(s, s.class&(cGlobal|cStatic) == 0)
}

// class reads where a function stands.
func (r *reader) class() class {
	const static, virtual, adjust = cStatic, cVirtual, cAdjustStatic
	access := [3]class{cPrivate, cProtected, cPublic}
	c := r.take()
	switch {
	case c == '9':
		return cExternC | cNoParameters
	case c == 'Y' || c == 'Z':
		return cGlobal
	case 'A' <= c && c <= 'X': // each has a form for far functions behind it
		of := access[(c-'A')/8]
		switch (c - 'A') % 8 / 2 {
		case 1:
			return of | static
		case 2:
			return of | virtual
		case 3:
			if of == cPrivate { // LLVM does not say "virtual" here
				return of | adjust
			}
			return of | virtual | adjust
		}
		return of
	case c == '$':
		of := cVirtual | cAdjustVirtual
		if r.accept('R') {
			of |= cAdjustExtended
		}
		if c = r.take(); '0' <= c && c <= '5' {
			return of | access[(c-'0')/2]
		}
	}
	r.failed = true
	return 0
}
