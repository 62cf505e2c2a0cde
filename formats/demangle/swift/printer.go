package swift

import (
	"strconv"
)

// printer writes a tree in one of the two forms.
type printer struct {
	*tree
	out         []byte
	max         int // bytes of out
	steps       int // left
	nested      int // names inside names
	simple      bool
	where       bool // show the requirements of signatures
	specialized bool // the simplified form says so once
	failed      bool // a bound was met, or the tree makes no sense

	// rules writes a node by its kind; symbol writes a name that may be mangled behind what the printer
	// has. The rules call each other through print, and names hold names.
	rules  func(p *printer, r ref, depth int, asPrefix bool) ref
	symbol func(p *printer, name string) bool
}

func (p *printer) put(s string) {
	p.out = append(p.out, s...)
	if len(p.out) > p.max {
		p.failed = true
	}
}

func (p *printer) putNumber(n uint64) { p.out = strconv.AppendUint(p.out, n, 10) }

// print writes a node. It does not write a context that can only stand behind its entity ("…in f()")
// as a prefix, but returns it.
func (p *printer) print(r ref, depth int, asPrefix bool) ref {
	for {
		if depth > maxDepth {
			p.put("<<too complex>>")
			return 0
		}
		if p.steps--; p.steps < 0 || r == 0 || p.failed {
			p.failed = true
			return 0
		}
		if p.nodes[r].kind != kType { // the most common kind
			return p.rules(p, r, depth, asPrefix)
		}
		r, depth, asPrefix = p.kid(r, 0), depth+1, false
	}
}

// form writes a node by a pattern, see forms.
func (p *printer) form(r ref, pattern string, depth int) {
	start := 0
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '%' {
			continue
		}
		p.put(pattern[start:i])
		i++
		start = i + 1
		switch c := pattern[i]; c {
		case 't':
			p.put(p.nodes[r].text)
		case 'i':
			p.putNumber(p.nodes[r].val)
		case '*':
			p.join(r, "", depth)
		case ',':
			p.join(r, ", ", depth)
		case '&':
			p.join(r, " & ", depth)
		case '.':
			p.join(r, ".", depth)
		default:
			p.print(p.kid(r, int(c-'0')), depth+1, false)
		}
	}
	p.put(pattern[start:])
}

// join writes the children of a node.
func (p *printer) join(r ref, separator string, depth int) {
	for i, kid := range p.children(r) {
		if i > 0 {
			p.put(separator)
		}
		p.print(kid, depth+1, false)
	}
}
