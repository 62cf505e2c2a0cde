package source

// maxDepth bounds how deep expressions, statements and types nest.
const maxDepth = 4000

// parser reads a source front to back, and keeps its functions. It knows the grammar as far as functions and their names need it:
// operands and operators alternate, and precedence makes no difference. A contradiction to the grammar makes it lose its way.
type parser struct {
	src   []byte
	types bool // `<` before an operand begins types, no JSX
	at    int  // behind tok
	tok   token
	end   int32 // of the token before
	lost  bool
	dead  bool // nothing behind is read

	depth int
	as    int32 // the part that names anonymous functions here; none
	group int   // 1 between ? and : and behind case: a colon behind parentheses is theirs
	parts []part
	room  int // bytes that may be read twice
	names int // bytes that names may take

	out *found
}

// found is what the parser found, in the order of the source but for functions among parameters.
type found struct {
	functions []function
	heads     []head
	text      []byte // of names
	most      int    // functions
}

// function is a function of the source: [start, end), from its parameters on.
type function struct {
	start, end int32
	from, to   int32 // its name in text; to < 0: unknown
}

// head is a place in the head of a function that compilers map the function's own head to: the offset in the upper half,
// the complement of the function's number in the lower. Of heads at one place, the inner function's is the least.
type head uint64

func newHead(at, function int32) head {
	return head(uint64(uint32(at))<<32 | uint64(^uint32(function)))
}

func (h head) at() int { return int(h >> 32) }

func (h head) function() int32 { return int32(^uint32(h)) }

// lose says that what stands here is beyond the parser.
func (p *parser) lose() {
	p.lost = true
	p.tok.kind = kindEnd
}

// state is a place to come back to.
type state struct {
	at     int
	tok    token
	end    int32
	lost   bool
	depth  int
	as     int32
	group  int
	parts  int
	count  int
	heads  int
	length int
}

func (p *parser) save() state {
	return state{p.at, p.tok, p.end, p.lost, p.depth, p.as, p.group, len(p.parts), len(p.out.functions), len(p.out.heads), len(p.out.text)}
}

// back goes back to s, as if nothing had been read since.
func (p *parser) back(s state) {
	p.room -= max(p.at, int(p.tok.to)) - s.at
	p.at, p.tok, p.end, p.lost, p.depth, p.as, p.group = s.at, s.tok, s.end, s.lost, s.depth, s.as, s.group
	p.parts = p.parts[:s.parts]
	p.out.functions, p.out.heads, p.out.text = p.out.functions[:s.count], p.out.heads[:s.heads], p.out.text[:s.length]
}

// mayTry reports whether there is room to read something twice.
func (p *parser) mayTry() bool { return p.room > 0 && !p.lost }

func (p *parser) enter() bool {
	if p.depth++; p.depth > maxDepth {
		p.lose()
		return false
	}
	return !p.lost
}

// expect reads the token that must stand here.
func (p *parser) expect(kind byte) {
	if p.tok.kind != kind {
		p.lose()
		return
	}
	p.next()
}

// take reads the token if it is of that kind.
func (p *parser) take(kind byte) bool {
	if p.tok.kind != kind || kind == kindEnd {
		return false
	}
	p.next()
	return true
}

// peek is the token behind this one.
func (p *parser) peek() token {
	at, tok, end, lost := p.at, p.tok, p.end, p.lost
	p.next()
	t := p.tok
	p.at, p.tok, p.end, p.lost = at, tok, end, lost
	return t
}

// skipTo passes over tokens, with what brackets among them hold, until one of that kind.
func (p *parser) skipTo(kind byte) {
	depth := 0
	for !p.lost {
		switch k := p.tok.kind; k {
		case kindEnd:
			p.lose()
			return
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 {
				if k != kind {
					p.lose()
				}
				return
			}
			depth--
		case kindTemplate:
			if !p.enter() {
				return
			}
			p.template(true)
			p.depth--
			continue
		}
		p.next()
	}
}

// skipBrackets passes over brackets with all in them: types, and lists of names.
func (p *parser) skipBrackets() {
	end := byte('}')
	switch p.tok.kind {
	case '(':
		end = ')'
	case '[':
		end = ']'
	}
	p.next()
	p.skipTo(end)
	p.expect(end)
}

// begin begins a function with parameters from start on, and gives its number. The part name names it.
func (p *parser) begin(start int32, prefix string, name int32, own token) int32 {
	n := int32(len(p.out.functions))
	if len(p.out.functions) >= p.out.most {
		p.dead = true
		p.lose()
		return n
	}
	from := len(p.out.text)
	f := function{start: start, end: int32(len(p.src)), from: int32(from)}
	p.out.text = append(p.out.text, prefix...)
	p.out.text = p.appendName(p.out.text, name, own)
	f.to = int32(len(p.out.text))
	if f.to-f.from > mostName || p.names < 0 {
		p.out.text, f.to = p.out.text[:from], -1
	}
	p.names -= len(p.out.text) - from
	p.out.functions = append(p.out.functions, f)
	p.head(start, n)
	return n
}

func (p *parser) head(at, f int32) { p.out.heads = append(p.out.heads, newHead(at, f)) }

// around is what a function keeps of the code around it.
type around struct {
	as    int32
	group int
	parts int
}

// inside begins to read what runs when a function does.
func (p *parser) inside() around {
	a := around{p.as, p.group, len(p.parts)}
	p.as, p.group = none, 0
	return a
}

func (p *parser) outside(a around) {
	p.as, p.group = a.as, a.group
	p.parts = p.parts[:a.parts]
}

// body reads the statements of a function in brackets.
func (p *parser) body() {
	open, depth := p.tok.from, p.depth
	group := p.group
	p.expect('{')
	for p.tok.kind != '}' && !p.dead {
		at, s := p.tok.from, p.save()
		if !p.lost {
			p.as = none
			p.statement()
			p.parts = p.parts[:s.parts]
		}
		if p.lost || p.tok.from == at && p.tok.kind != '}' {
			p.depth, p.group = depth, group
			p.out.functions, p.out.heads = p.out.functions[:s.count], p.out.heads[:s.heads]
			p.recover(open, at)
			return
		}
	}
	p.expect('}')
}

// recover goes on behind the body that begins at open. The parser lost its way in its statement at at.
func (p *parser) recover(open, at int32) {
	end := -1
	if !p.dead {
		end = p.skipBody(int(open))
	}
	if end < 0 {
		p.dead = true
		p.unknown(at, int32(len(p.src)))
		p.lose()
		return
	}
	p.unknown(at, int32(end))
	p.lost, p.at = false, end
	p.tok.to = int32(end)
	p.next()
}

// unknown says that no function is known in [from, to).
func (p *parser) unknown(from, to int32) {
	if from < to {
		p.out.functions = append(p.out.functions, function{start: from, end: to, to: -1})
	}
}

// skipBody finds the end of the body that begins at open by its brackets alone; -1: it cannot.
func (p *parser) skipBody(open int) int {
	s := p.save()
	s.at = open // from there on it is read twice
	defer p.back(s)
	if p.room <= 0 {
		return -1
	}
	p.lost, p.at, p.tok = false, open, token{from: int32(open), to: int32(open)}
	var stack []byte
	p.next()
	operand := false // an operand came last: a slash divides
	for {
		switch k := p.tok.kind; k {
		case kindEnd:
			return -1
		case '(', '[', '{':
			stack = append(stack, closing(k))
			operand = false
		case ')', ']', '}':
			n := len(stack) - 1
			if n < 0 || closing(k) != stack[n] {
				return -1
			}
			if stack = stack[:n]; n == 0 {
				return int(p.tok.to)
			}
			operand = k != '}'
		case kindTemplate:
			p.template(true)
			operand = true
			if p.lost {
				return -1
			}
			continue
		case '/':
			if !operand {
				if p.regexp(); p.lost {
					return -1
				}
				operand = true
				continue
			}
			operand = false
		case kindWord:
			operand = !beforeOperand(p.text(p.tok))
		case kindNumber, kindString:
			operand = true
		default:
			operand = false
		}
		if p.next(); p.lost {
			return -1
		}
	}
}

// closing gives one value for the brackets of a pair.
func closing(k byte) byte {
	switch k {
	case '(', ')':
		return ')'
	case '[', ']':
		return ']'
	}
	return '}'
}

// beforeOperand: an operand follows the word.
func beforeOperand(word []byte) bool {
	switch string(word) {
	case "return", "typeof", "case", "in", "of", "instanceof", "new", "void", "delete", "throw", "yield", "await", "default", "else", "do", "extends":
		return true
	}
	return false
}
