package gsym

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// reader reads values. After it has failed it reads zeros.
type reader struct {
	b      []byte
	order  binary.ByteOrder
	failed bool
}

func (r *reader) take(n int) []byte {
	if len(r.b) < n {
		r.failed, r.b = true, nil
		return make([]byte, 8)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() byte    { return r.take(1)[0] }
func (r *reader) u32() uint32 { return r.order.Uint32(r.take(4)) }

// word reads an offset in strings.
func (r *reader) word(width int) uint64 {
	if width == 4 {
		return uint64(r.u32())
	}
	return r.order.Uint64(r.take(8))
}

func (r *reader) uleb() (v uint64) {
	for shift := 0; shift < 70; shift += 7 {
		c := r.u8()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.failed = true
	return 0
}

func (r *reader) sleb() (v int64) {
	for shift := 0; shift < 70; {
		c := r.u8()
		v |= int64(c&0x7f) << shift
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	r.failed = true
	return 0
}

// Codes of a table of lines. Higher ones advance both the address and the line.
const (
	codeEnd = iota
	codeFile
	codeAdvance
	codeLine
	codeBoth
)

// lines reads a table of lines; false if it is damaged. Of rows at one address the last counts.
func (x *exploder) lines(r *reader, start, end uint64) bool {
	x.rows = x.rows[:0]
	low, high := r.sleb(), r.sleb()
	if low < math.MinInt32 || high > math.MaxInt32 || high < low {
		return false
	}
	span := high - low + 1
	at := row{addr: start, file: 1, line: uint32(r.uleb())}
	for !r.failed {
		code := r.u8()
		var by uint64
		switch code {
		case codeEnd:
			return !r.failed
		case codeFile:
			at.file = uint32(r.uleb())
			continue
		case codeLine:
			at.line += uint32(r.sleb())
			continue
		case codeAdvance:
			by = r.uleb()
		default:
			at.line += uint32(low + int64(code-codeBoth)%span)
			by = uint64(int64(code-codeBoth) / span)
		}
		if at.addr+by < at.addr {
			return false
		}
		at.addr += by
		if n := len(x.rows); n > 0 && x.rows[n-1].addr == at.addr {
			x.rows[n-1] = at
		} else if at.addr < end {
			x.rows = append(x.rows, at)
		}
	}
	return false
}

// parent is a node with children that are still to be read.
type parent struct {
	node int32  // -1: none, its children are passed over
	base uint64 // that their ranges count from
}

// inlines reads the tree of inlined functions; false if it is damaged. Its root is the function itself.
func (x *exploder) inlines(r *reader, start uint64) bool {
	x.nodes, x.spans = x.nodes[:0], x.spans[:0]
	x.run.Scopes = x.run.Scopes[:1]
	var open []parent
	in := parent{node: -1, base: start}
	for {
		count := r.uleb()
		if r.failed || count > uint64(len(r.b)) {
			return false
		}
		if count == 0 { // the end of a list
			if len(open) == 0 {
				return len(x.nodes) > 0
			}
			open = open[:len(open)-1]
		} else {
			first, from := uint64(math.MaxUint64), len(x.spans)
			for range count {
				at := in.base + r.uleb()
				size := r.uleb()
				if at < in.base || at+size < at {
					return false
				}
				first = min(first, at)
				if size > 0 {
					x.spans = append(x.spans, span{start: at, end: at + size})
				}
			}
			children := r.u8() != 0
			name, ok := x.name(r.word(x.text))
			call := symbol.Site{File: uint32(r.uleb()), Line: uint32(r.uleb())}
			if r.failed || !ok {
				return false
			}
			self := int32(-1)
			if len(x.nodes) == 0 || in.node >= 0 && len(open) <= x.in.Limits.InlineDepth {
				self = x.node(in.node, name, call)
			}
			if self < 0 {
				x.spans = x.spans[:from]
			}
			for i := from; i < len(x.spans); i++ {
				x.spans[i].node = self
			}
			if children {
				open = append(open, parent{self, first})
			}
		}
		if len(open) == 0 {
			return true
		}
		in = open[len(open)-1]
	}
}

// node adds a node and its scope.
func (x *exploder) node(in int32, name uint32, call symbol.Site) int32 {
	n := node{parent: in}
	if in >= 0 {
		n.scope = int32(len(x.run.Scopes))
		if call.File = x.path(call.File); call.File == 0 {
			call.Line = 0
		}
		x.run.Scopes = append(x.run.Scopes, symbol.Scope{Parent: x.nodes[in].scope, Function: name, Call: call})
	}
	x.nodes = append(x.nodes, n)
	return int32(len(x.nodes) - 1)
}

// join joins a folder and a name as the system of the folder does.
func join(folder, base string) string {
	switch {
	case folder == "" || base == "":
		return folder + base
	case strings.Contains(folder, `\`) && !strings.Contains(folder, "/"):
		return folder + `\` + base
	}
	return folder + "/" + base
}
