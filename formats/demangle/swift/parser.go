package swift

import (
	"slices"
)

// parser reads the manglings since Swift 4: operators behind their operands,
// which stand on a stack of nodes. What a rule does not find on the stack it
// takes for absent, as the grammar has many optional operands; none on the
// stack ends the name.
type parser struct {
	tree
	cursor
	stack   []ref
	subst   []ref  // what later parts of the name may refer to, in order
	scratch []ref  // an operand list while it is put together
	slots   []slot // of a function type, while it is read
	name    []byte
	word    [maxWords]string
	words   int
	labels  bool // since Swift 5, labels of parameters stand before the type, not in it
	depth   int  // of the rules that recurse
	// oldTypes reads a type of a mangling before Swift 4: contexts and generics lead back to types.
	oldTypes func(*parser) ref
}

// global makes the root. On top of the stack stand the attributes, outermost
// last read; what follows a partial application is its own content.
func (p *parser) global(suffix ref) ref {
	first := len(p.stack)
	for first > 0 && p.is(p.stack[first-1], fAttribute) {
		first--
	}
	content := p.scratch[:0]
	for _, r := range p.stack[:first] {
		if p.kind(r) == kType {
			r = p.kid(r, 0)
		}
		content = append(content, r)
	}
	for _, a := range p.stack[first:] {
		if k := p.kind(a); k == kPartialApply || k == kPartialApplyObjC {
			content = append(content[:0], p.list(k, content))
		} else {
			content = slices.Insert(content, 0, a)
		}
	}
	if suffix != 0 {
		content = append(content, suffix)
	}
	if p.scratch = content; len(content) == 0 {
		return 0
	}
	return p.list(kGlobal, content)
}

// put pushes a node to the stack.
func (p *parser) put(r ref) {
	if len(p.stack) >= maxNodes {
		p.over = true
		return
	}
	p.stack = append(p.stack, r)
}

// popAny takes the top of the stack, of any kind.
func (p *parser) popAny() ref {
	n := len(p.stack)
	if n == 0 {
		return 0
	}
	r := p.stack[n-1]
	p.stack = p.stack[:n-1]
	return r
}

// pop takes the top of the stack if it is of a kind.
func (p *parser) pop(k kind) ref {
	if n := len(p.stack); n > 0 && p.nodes[p.stack[n-1]].kind == k {
		return p.popAny()
	}
	return 0
}

// popFlag takes the top of the stack if it is of a class of kinds.
func (p *parser) popFlag(f flag) ref {
	if n := len(p.stack); n > 0 && p.is(p.stack[n-1], f) {
		return p.popAny()
	}
	return 0
}

// remember adds a node to the substitutions.
func (p *parser) remember(r ref) ref {
	if r != 0 {
		p.subst = append(p.subst, r)
	}
	return r
}

// maxWords is how many words of earlier identifiers a name may refer to: one
// for each letter.
const maxWords = 26

// slot is a parameter or result of an implementation function while its type
// still stands on the stack.
type slot struct {
	kind  kind
	parts [6]ref
	n     int
}

// deeper counts the rules that are open; false if they are too many.
func (p *parser) deeper() bool {
	p.depth++
	return p.depth <= maxDepth && !p.over
}
