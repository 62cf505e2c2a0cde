package msvc

import "strconv"

// flags are what a form leaves out. Names in names that are texts already are in full.
type flags uint8

const (
	noAccess flags = 1 << iota
	noMember
	noConvention
	noResult
	noArguments
)

// printer writes a tree behind the reader's texts. Types are written around what they declare: a left and a right part.
type printer struct {
	*reader
	start  int // of the result in text
	max    int // of text
	varies bool
	failed bool
}

func (p *printer) put(s string) {
	p.text = append(p.text, s...)
	p.failed = p.failed || len(p.text) > p.max
}

func (p *printer) copy(from, to int32) {
	p.text = append(p.text, p.text[from:to]...)
	p.failed = p.failed || len(p.text) > p.max
}

func (p *printer) signed(v int64)     { p.text = strconv.AppendInt(p.text, v, 10) }
func (p *printer) natural(v uint64)   { p.text = strconv.AppendUint(p.text, v, 10) }
func (p *printer) last() byte         { return p.text[len(p.text)-1] }
func (p *printer) at(x ref) *node     { return &p.nodes[x] }
func (p *printer) of(x ref) signature { return p.signatures[p.nodes[x].number] }

// space writes one behind a word.
func (p *printer) space() {
	if len(p.text) == p.start {
		return
	}
	if c := p.last(); isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '>' {
		p.text = append(p.text, ' ')
	}
}

func (p *printer) open(depth int) bool {
	p.failed = p.failed || depth > 4*maxDepth
	return !p.failed
}

// join writes a list.
func (p *printer) join(x ref, f flags, depth int, between string) {
	for i, kid := range p.kids(x) {
		if i > 0 {
			p.put(between)
		}
		p.print(kid, f, depth+1)
	}
}

// print writes a whole part.
func (p *printer) print(x ref, f flags, depth int) {
	if !p.open(depth) {
		return
	}
	n := p.at(x)
	if n.rendered && (f == 0 || !n.varies) && f&noArguments == 0 {
		p.varies = p.varies || n.varies
		p.copy(n.fullFrom, n.fullTo)
		return
	}
	switch n.kind {
	case kNamed, kOperator:
		if n.a != 0 && f&noArguments != 0 {
			if n.on {
				p.bare(n.a, depth+1)
			} else {
				p.print(n.a, f, depth+1)
			}
			return
		}
		p.copy(n.from, n.to)
		p.arguments(x, f, depth)
	case kLiteral:
		p.put(`operator ""`)
		p.copy(n.from, n.to)
		p.arguments(x, f, depth)
	case kStructor:
		if n.on {
			p.put("~")
		}
		p.print(n.a, f, depth+1)
		p.arguments(x, f, depth)
	case kConversion:
		p.put("operator")
		p.arguments(x, f, depth)
		p.put(" ")
		p.print(p.at(x).a, f, depth+1)
	case kVcall, kGuard, kBase, kInitializer:
		p.special(x, f, depth)
	case kQualified:
		p.join(x, f, depth, "::")
	case kCode:
		p.varies = true
		p.before(n.a, f, depth+1)
		p.space()
		p.print(p.at(x).b, f, depth+1)
		p.after(p.at(x).a, f, f&noResult == 0, depth+1)
	case kData:
		p.data(x, f, depth)
	case kTable:
		p.vtable(x, f, depth)
	case kString:
		p.copy(n.from, n.to)
	case kJust:
		p.print(n.b, f, depth+1)
	case kInteger:
		if n.on {
			p.put("-")
		}
		p.natural(uint64(n.number))
	case kConstant:
		p.constant(x, f, depth)
	default:
		p.leftOf(x, f, depth)
		p.rightOf(x, f, depth)
	}
}

// vtable writes a table of virtual functions or bases.
func (p *printer) vtable(x ref, f flags, depth int) {
	n := p.at(x)
	p.qualifiers(n.quals, false)
	if n.quals&(qConst|qVolatile|qRestrict) != 0 {
		p.put(" ")
	}
	p.print(n.b, f, depth+1)
	if p.at(x).n > 0 {
		p.put("{for `")
		p.join(x, f, depth, "'s `")
		p.put("'}")
	}
}

// special writes what a compiler made: a thunk, a guard, a descriptor, an initializer.
func (p *printer) special(x ref, f flags, depth int) {
	n := p.at(x)
	switch n.kind {
	case kVcall:
		p.put("`vcall'{")
		p.natural(uint64(n.number))
		p.put(", {flat}}")
	case kGuard:
		p.put("`local static ")
		if n.on {
			p.put("thread ")
		}
		p.put("guard'")
		if n.number != 0 {
			p.put("{")
			p.natural(uint64(n.number))
			p.put("}")
		}
	case kBase:
		p.put("`RTTI Base Class Descriptor at (")
		p.list4(p.numbers[n.number], 4)
		p.put(")'")
	case kInitializer:
		p.put("`dynamic ")
		if n.on {
			p.put("atexit destructor for ")
		} else {
			p.put("initializer for ")
		}
		if p.at(n.a).kind == kData {
			p.put("`")
		} else {
			p.put("'")
		}
		p.print(n.a, f, depth+1)
		p.put("''")
	}
}

// bare writes the qualified name of a symbol.
func (p *printer) bare(x ref, depth int) {
	switch n := p.at(x); {
	case n.kind == kCode, n.kind == kJust, n.kind == kData && n.code != 0:
		p.print(n.b, Bare.flags(), depth)
	default:
		p.print(x, Bare.flags(), depth)
	}
}

func (p *printer) arguments(x ref, f flags, depth int) {
	if !p.at(x).listed || f&noArguments != 0 {
		return
	}
	p.put("<")
	p.join(x, f, depth, ", ")
	p.put(">")
}

func (p *printer) list4(values [4]int64, count int64) {
	for i, v := range values[:count] {
		if i > 0 {
			p.put(", ")
		}
		p.signed(v)
	}
}

// data writes a variable.
func (p *printer) data(x ref, f flags, depth int) {
	n := p.at(x)
	if n.code >= 1 && n.code <= 3 {
		p.varies = true
		if f&noAccess == 0 {
			p.put([...]string{1: "private: ", 2: "protected: ", 3: "public: "}[n.code])
		}
		if f&noMember == 0 {
			p.put("static ")
		}
	}
	t, name := n.a, n.b
	if t != 0 {
		p.leftOf(t, f, depth+1)
	}
	p.space()
	p.print(name, f, depth+1)
	if t != 0 {
		p.rightOf(t, f, depth+1)
	}
}

// constant writes a template argument that is an address or a member.
func (p *printer) constant(x ref, f flags, depth int) {
	n := p.at(x)
	symbol, offsets, at := n.a, n.on, n.number
	if offsets {
		p.put("{")
	} else if n.code == byPointer {
		p.put("&")
	}
	if symbol != 0 {
		p.print(symbol, f, depth+1)
		if offsets {
			p.put(", ")
		}
	}
	if offsets {
		values := p.numbers[at]
		p.list4(values, values[3])
		p.put("}")
	}
}
