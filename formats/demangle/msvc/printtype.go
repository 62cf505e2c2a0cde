package msvc

func (p *printer) qualifiers(q quals, before bool) {
	for i, text := range [...]string{" const", " volatile", " __restrict"} {
		if q&(1<<i) == 0 {
			continue
		}
		if !before {
			text = text[1:]
		}
		p.put(text)
		before = true
	}
}

// leftOf writes the part of a type before the declared name.
func (p *printer) leftOf(x ref, f flags, depth int) {
	if !p.open(depth) {
		return
	}
	n := p.at(x)
	switch n.kind {
	case kPrimitive:
		switch {
		case n.to > n.from:
			p.copy(n.from, n.to)
		case n.on:
			p.put(extendedPrimitives[n.code-'A'])
		default:
			p.put(primitives[n.code-'A'])
		}
		p.qualifiers(n.quals, true)
	case kTag:
		p.put(tags[n.code])
		p.print(n.a, f, depth+1)
		p.qualifiers(p.at(x).quals, true)
	case kPointer:
		p.pointer(x, f, depth)
	case kArray:
		p.leftOf(n.a, f, depth+1)
		p.qualifiers(p.at(x).quals, true)
	case kFunction:
		p.varies = true
		p.before(x, f, depth)
	default: // kCustom, and names where a type is due
		if n.kind == kCustom {
			x = n.a
		}
		p.print(x, f, depth+1)
	}
}

// pointer writes a pointer. A function's convention stands inside of its parentheses, in every form; what it returns is
// written with it.
func (p *printer) pointer(x ref, f flags, depth int) {
	n := p.at(x)
	to := n.a
	if p.at(to).kind == kFunction {
		p.before(to, noConvention, depth+1)
	} else {
		p.leftOf(to, f, depth+1)
	}
	p.space()
	if n.quals&qUnaligned != 0 {
		p.put("__unaligned ")
	}
	switch p.at(to).kind {
	case kArray:
		p.put("(")
	case kFunction:
		p.put("(")
		p.put(conventions[p.of(to).convention])
		p.put(" ")
	}
	if n.b != 0 {
		p.print(n.b, f, depth+1)
		p.put("::")
	}
	marks := [...]string{byPointer: "*", byReference: "&", byRvalue: "&&"}
	if n.quals&qHandle != 0 {
		marks = [...]string{byPointer: "^", byReference: "%", byRvalue: "&&"}
	}
	p.put(marks[n.code])
	p.qualifiers(n.quals, false)
}

// rightOf writes the part of a type behind the declared name.
func (p *printer) rightOf(x ref, f flags, depth int) {
	if !p.open(depth) {
		return
	}
	n := p.at(x)
	switch n.kind {
	case kPointer:
		switch to := n.a; p.at(to).kind {
		case kFunction:
			p.put(")")
			p.after(to, f, true, depth+1)
		case kArray:
			p.put(")")
			p.rightOf(to, f, depth+1)
		default:
			p.rightOf(to, f, depth+1)
		}
	case kArray:
		p.put("[")
		for i, d := range p.kids(x) {
			if i > 0 {
				p.put("][")
			}
			if v := p.at(d).number; v != 0 {
				p.natural(uint64(v))
			}
		}
		p.put("]")
		p.rightOf(p.at(x).a, f, depth+1)
	case kFunction:
		p.after(x, f, f&noResult == 0, depth)
	}
}

// before writes what stands before a function's name.
func (p *printer) before(x ref, f flags, depth int) {
	s, result := p.of(x), p.at(x).a
	if s.thunk {
		p.put("[thunk]: ")
	}
	if f&noAccess == 0 {
		switch {
		case s.class&cPublic != 0:
			p.put("public: ")
		case s.class&cProtected != 0:
			p.put("protected: ")
		case s.class&cPrivate != 0:
			p.put("private: ")
		}
	}
	if f&noMember == 0 {
		if s.class&(cGlobal|cStatic) == cStatic {
			p.put("static ")
		}
		if s.class&cVirtual != 0 {
			p.put("virtual ")
		}
		if s.class&cExternC != 0 {
			p.put(`extern "C" `)
		}
	}
	if f&noResult == 0 && result != 0 {
		p.leftOf(result, f, depth+1)
		p.put(" ")
	}
	if f&noConvention == 0 {
		p.space()
		p.put(conventions[s.convention])
	}
}

// after writes what stands behind a function's name; whole: with the right part of its result.
func (p *printer) after(x ref, f flags, whole bool, depth int) {
	s := p.of(x)
	o := s.offsets
	switch {
	case s.class&cAdjustStatic != 0:
		p.put("`adjustor{")
		p.list4(o, 1)
		p.put("}'")
	case s.class&cAdjustExtended != 0:
		p.put("`vtordispex{")
		p.list4([4]int64{o[2], o[3], o[1], o[0]}, 4)
		p.put("}'")
	case s.class&cAdjustVirtual != 0:
		p.put("`vtordisp{")
		p.list4([4]int64{o[1], o[0]}, 2)
		p.put("}'")
	}
	if s.class&cNoParameters == 0 {
		p.put("(")
		p.join(x, f, depth, ", ")
		switch {
		case s.variadic && p.at(x).n > 0:
			p.put(", ...")
		case s.variadic:
			p.put("...")
		case p.at(x).n == 0:
			p.put("void")
		}
		p.put(")")
	}
	q := p.at(x).quals
	p.qualifiers(q, true)
	if q&qUnaligned != 0 {
		p.put(" __unaligned")
	}
	if s.noexcept {
		p.put(" noexcept")
	}
	switch s.reference {
	case byReference:
		p.put(" &")
	case byRvalue:
		p.put(" &&")
	}
	if result := p.at(x).a; whole && result != 0 {
		p.rightOf(result, f, depth+1)
	}
}
