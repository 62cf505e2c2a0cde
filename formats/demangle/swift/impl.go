package swift

var parameterConventions = [128]string{
	'i': "@in", 'c': "@in_constant", 'l': "@inout", 'b': "@inout_aliasable", 'n': "@in_guaranteed", 'X': "@in_cxx", 'x': "@owned",
	'g': "@guaranteed", 'e': "@deallocating", 'y': "@unowned", 'v': "@pack_owned", 'p': "@pack_guaranteed", 'm': "@pack_inout",
}

var resultConventions = [128]string{
	'r': "@out", 'o': "@owned", 'd': "@unowned", 'u': "@unowned_inner_pointer", 'a': "@autoreleased", 'k': "@pack_out",
	'l': "@guaranteed_address", 'g': "@guaranteed", 'm': "@inout",
}

var calleeConventions = [128]string{
	'y': "@callee_unowned", 'g': "@callee_guaranteed", 'x': "@callee_owned", 't': "@convention(thin)",
}

var functionConventions = [128]string{
	'B': "block", 'C': "c", 'M': "method", 'O': "objc_method", 'K': "closure", 'W': "witness_method",
}

// choice reads a letter of a table; "" if the next byte is none.
func (p *parser) choice(table *[128]string) string {
	c := p.next()
	if int(c) < len(table) && table[c] != "" {
		return table[c]
	}
	p.back()
	return ""
}

func (s *slot) add(r ref) {
	s.parts[s.n] = r
	s.n++
}

// implFunction reads the type of a function as the compiler's middle sees it:
// with the ownership of its parameters.
func (p *parser) implFunction() ref {
	var few [16]ref
	parts := few[:0]
	if p.accept('s') {
		lists, retroactive, ok := p.popArguments()
		if !ok {
			return 0
		}
		sig := p.pop(kSignature)
		if sig == 0 {
			return 0
		}
		parts = append(parts, p.some(kImplPattern, sig, lists[0], retroactive))
	}
	if p.accept('I') {
		lists, retroactive, ok := p.popArguments()
		if !ok || len(lists) != 1 {
			return 0
		}
		parts = append(parts, p.some(kImplInvocation, lists[0], retroactive))
	}
	sig := p.pop(kSignature)
	if sig != 0 && p.accept('P') {
		sig = p.rekind(sig, kPseudoSignature)
	}
	if p.accept('e') {
		parts = append(parts, p.text(kText, "@escaping"))
	}
	if p.accept('A') {
		parts = append(parts, p.text(kText, "@isolated(any)"))
	}
	if word, ok := differentiable(p.peek()); ok {
		p.next()
		parts = append(parts, p.text(kText, word))
	}
	callee := p.choice(&calleeConventions)
	if callee == "" {
		return 0
	}
	parts = append(parts, p.text(kText, callee))
	convention, ok := p.implConvention()
	if !ok {
		return 0
	}
	if convention != "" {
		parts = append(parts, p.text(kText, convention))
	}
	switch {
	case p.accept('A'):
		parts = append(parts, p.text(kText, "@yield_once"))
	case p.accept('I'):
		parts = append(parts, p.text(kText, "@yield_once_2"))
	case p.accept('G'):
		parts = append(parts, p.text(kText, "@yield_many"))
	}
	if p.accept('h') {
		parts = append(parts, p.text(kText, "@Sendable"))
	}
	if p.accept('H') {
		parts = append(parts, p.text(kText, "@async"))
	}
	if p.accept('T') {
		parts = append(parts, p.leaf(kImplSendingResult))
	}
	if sig != 0 {
		parts = append(parts, sig)
	}
	slots, ok := p.implSlots()
	if !ok || len(slots) > len(p.stack) {
		return 0
	}
	types := p.stack[len(p.stack)-len(slots):]
	for i := range slots {
		if p.kind(types[i]) != kType {
			return 0
		}
		slots[i].add(types[i])
		parts = append(parts, p.list(slots[i].kind, slots[i].parts[:slots[i].n]))
	}
	p.stack = p.stack[:len(p.stack)-len(slots)]
	return p.typed(p.list(kImplFunction, parts))
}

// implConvention reads the calling convention of the function, if not
// Swift's.
func (p *parser) implConvention() (string, bool) {
	clang := false
	if p.accept('z') {
		if c := p.peek(); c == 'B' || c == 'C' {
			clang = true
		} else {
			p.back()
		}
	}
	name := p.choice(&functionConventions)
	if name == "" {
		return "", true
	}
	if !clang {
		return "@convention(" + name + ")", true
	}
	t := p.clangType()
	if t == 0 {
		return "", false
	}
	return "@convention(" + name + ", mangledCType: \"" + p.nodes[t].text + "\")", true
}

// implSlots reads the conventions of parameters, results, yields and the
// error, in this order.
func (p *parser) implSlots() ([]slot, bool) {
	slots := p.slots[:0]
	for {
		word := p.choice(&parameterConventions)
		if word == "" {
			break
		}
		s := slot{kind: kImplParameter}
		s.add(p.text(kText, word))
		s.add(p.implAttribute('w', "@noDerivative "))
		for _, a := range [...]struct {
			letter byte
			word   string
		}{{'T', "sending "}, {'I', "isolated "}, {'L', "sil_implicit_leading_param "}} {
			if p.peek() == a.letter {
				s.add(p.implAttribute(a.letter, a.word))
			}
		}
		slots = append(slots, s)
	}
	for {
		word := p.choice(&resultConventions)
		if word == "" {
			break
		}
		s := slot{kind: kImplResult}
		s.add(p.text(kText, word))
		s.add(p.implAttribute('w', "@noDerivative "))
		slots = append(slots, s)
	}
	for p.accept('Y') {
		s := slot{kind: kImplYield}
		word := p.choice(&parameterConventions)
		if word == "" {
			return nil, false
		}
		s.add(p.text(kText, word))
		slots = append(slots, s)
	}
	if p.accept('z') {
		s := slot{kind: kImplError}
		word := p.choice(&resultConventions)
		if word == "" {
			return nil, false
		}
		s.add(p.text(kText, word))
		slots = append(slots, s)
	}
	p.slots = slots
	return slots, p.accept('_')
}

// implAttribute reads an optional letter, which stands for a word.
func (p *parser) implAttribute(letter byte, word string) ref {
	if !p.accept(letter) {
		word = ""
	}
	return p.text(kText, word)
}

// clangType reads a C type in the mangling of C++.
func (p *parser) clangType() ref {
	s, ok := p.take(p.natural())
	if !ok {
		return 0
	}
	return p.text(kClangType, s)
}
