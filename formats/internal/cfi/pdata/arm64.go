package pdata

import (
	"fmt"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/unwind"
)

// op is a step of a prolog. Steps stand as unwind information has them: the last one of the prolog first.
type op struct {
	kind   kind
	quiet  bool  // no instruction stands for it
	reg    uint8 // the first saved register; none: it is of no use here
	second uint8
	offset int64  // of the saved registers, or of the frame pointer, from the stack pointer
	size   int64  // that the stack grows by before
	mask   uint16 // of ARM: more registers, a bit each, from the stack pointer on
	bytes  uint8  // of its instruction; 0: four
}

type kind uint8

const (
	opNone kind = iota
	opSave
	opNext // two more registers behind those saved before
	opPush // registers of ARM
	opFrame
	opMachine
	opContext
	opUnknown
)

const (
	x29, x30 = 29, 30
	none     = unwind.None
)

func alloc(size int64) op { return op{size: size} }

// pair saves two registers at an offset from the stack pointer.
func pair(first, second uint8, offset int64) op {
	return op{kind: opSave, reg: first, second: second, offset: offset}
}

// push saves two registers and moves the stack pointer.
func push(first, second uint8, size int64) op {
	return op{kind: opSave, reg: first, second: second, size: size}
}

// sequence is a prolog or an epilog: ops[:own] are its own, further ones belong to the function around it.
type sequence struct {
	ops []op
	own int
	// back is the length in bytes of the instruction that returns behind an epilog's steps; the last step may return.
	back uint64
}

// length returns the bytes of a step's instruction.
func (o *op) length() uint64 {
	if o.bytes != 0 {
		return uint64(o.bytes)
	}
	return 4
}

// arm64 adds the rules of a function. want names the damage.
func (r *reader) arm64(fn *pefile.Function) (want string, err error) {
	if kind := fn.Unwind & 3; kind != 0 {
		if kind == 3 {
			return "unwind information of kind 0, 1 or 2, not 3", nil
		}
		return r.packed(fn, kind == 2)
	}
	return r.full(fn, 4, func(b []byte) sequence {
		q := r.decode(b, codeARM64)
		q.back = 4
		return q
	})
}

// information is the head of unwind information of ARM or ARM64.
type information struct {
	scopes, words uint32 // epilogs, and groups of four steps
	one           bool   // there is one epilog, at the function's end, and scopes is the place of its steps
	fragment      bool   // of ARM: the prolog ran elsewhere
	at            uint32 // where the epilogs begin
}

// head reads the head of a function's unwind information.
func (r *reader) head(fn *pefile.Function, unit uint32) (h information, want string, err error) {
	b, err := r.window.At(fn.Unwind, 8)
	if b == nil && err == nil {
		b, err = r.window.At(fn.Unwind, 4)
	}
	if b == nil || err != nil {
		return h, fmt.Sprintf("unwind information at %#x", fn.Unwind), err
	}
	v := native.Fields{B: b}.U32(0)
	h = information{scopes: v >> 22 & 31, words: v >> 27, one: v>>21&1 == 1, at: fn.Unwind + 4}
	if unit == 2 {
		h.fragment, h.scopes, h.words = v>>22&1 == 1, v>>23&31, v>>28
	}
	if v>>18&3 != 0 {
		return h, fmt.Sprintf("unwind information of version 0 at %#x, not %d", fn.Unwind, v>>18&3), nil
	}
	if h.scopes == 0 && h.words == 0 {
		if len(b) < 8 {
			return h, fmt.Sprintf("unwind information at %#x", fn.Unwind), nil
		}
		v = native.Fields{B: b}.U32(4)
		h.scopes, h.words, h.at = v&0xffff, v>>16&0xff, h.at+4
	}
	return h, "", nil
}

// full adds the rules of a function of ARM or ARM64 with unwind information of its own. unit is the bytes of the smallest
// instruction.
func (r *reader) full(fn *pefile.Function, unit uint32, decode func(b []byte) sequence) (want string, err error) {
	h, want, err := r.head(fn, unit)
	if want != "" || err != nil {
		return want, err
	}
	scopes, words, one := h.scopes, h.words, h.one
	first := uint32(0)
	if one {
		first, scopes = scopes, 0
	}
	r.work -= int64(scopes) + 4*int64(words) + 1
	if r.work < 0 {
		return "", nil
	}
	b, err := r.window.At(h.at, 4*int64(scopes)+4*int64(words))
	if b == nil || err != nil {
		if scopes+words == 0 {
			s := newState(r.arch)
			return "", r.add(fn, 0, uint64(fn.End-fn.Start), s.rules())
		}
		return fmt.Sprintf("%d epilogs and %d steps at %#x", scopes, 4*words, h.at), err
	}
	codes := b[4*scopes:]
	q := decode(codes)
	if h.fragment {
		q.own = 0
	}
	e := emitter{r: r, fn: fn, end: uint64(fn.End - fn.Start)}
	if want, err = e.prolog(q); want != "" || err != nil {
		return want, err
	}
	for i := range int(scopes) {
		scope := native.Fields{B: b[4*i:]}.U32(0)
		place := scope >> 22
		if unit == 2 {
			place = scope >> 24
		}
		if int(place) >= len(codes) {
			return fmt.Sprintf("an epilog whose steps are below %d, not at %d", len(codes), place), nil
		}
		if want, err = e.epilog(uint64(scope&0x3ffff)*uint64(unit), decode(codes[place:])); want != "" || err != nil {
			return want, err
		}
	}
	if one && int(first) < len(codes) {
		q := decode(codes[first:])
		if n := e.length(q); n <= e.end {
			if want, err = e.epilog(e.end-n, q); want != "" || err != nil {
				return want, err
			}
		}
	}
	return "", e.finish()
}

// decode reads steps up to the end of the last function.
func (r *reader) decode(b []byte, code func(b []byte) (op, int)) sequence {
	q := sequence{own: -1}
	r.ops = r.ops[:0]
	for len(b) > 0 {
		if n, ends := ending(b[0]); ends && r.arch.Word == 4 {
			q.back = n
			break
		}
		if b[0] == endAll && r.arch.Word == 8 {
			break
		}
		if b[0] == endPart && r.arch.Word == 8 {
			if q.own < 0 {
				q.own = len(r.ops)
			}
			b = b[1:]
			continue
		}
		o, n := code(b)
		if n > len(b) {
			break
		}
		b = b[n:]
		r.ops = append(r.ops, o)
	}
	r.work -= int64(len(r.ops))
	if q.ops = r.ops; q.own < 0 {
		q.own = len(q.ops)
	}
	return q
}

// states runs the steps of a sequence from the first one of the prolog on. states[i] are the rules when i of its own instructions have run.
func (r *reader) run(q sequence) (states []unwind.Rules, want string) {
	s := newState(r.arch)
	r.states, r.lengths = r.states[:0], r.lengths[:0]
	last := op{}
	for i := len(q.ops) - 1; i >= 0; i-- {
		o := &q.ops[i]
		if i < q.own && !o.quiet {
			r.states, r.lengths = append(r.states, *s.rules()), append(r.lengths, o.length())
		}
		s.sp += o.size
		switch o.kind {
		case opNext:
			if last.kind != opSave || last.second != last.reg+1 || last.second+2 >= x29 {
				last = op{} // of floating-point registers, or damage
				continue
			}
			last.reg, last.second, last.offset = last.reg+2, last.second+2, last.offset+16
			s.save(last.reg, last.offset)
			s.save(last.second, last.offset+8)
			continue
		case opSave:
			if int(o.reg) >= len(r.arch.Names) || o.reg > x30 || o.second > x30 && o.second != none {
				return nil, "registers that there are"
			}
			s.save(o.reg, o.offset)
			if o.second != none {
				s.save(o.second, o.offset+int64(r.arch.Word))
			}
		case opPush:
			s.push(o.mask)
		case opFrame:
			s.frame(o.reg, o.offset)
		case opMachine: // the caller's stack pointer and its place
			s.sp = 0
			s.r.RA = unwind.Rule{How: unwind.Saved, Offset: 8}
			s.r.Regs[r.arch.SP] = unwind.Rule{How: unwind.Saved}
		case opContext: // all registers of another place
			const registers, place = 8, 0x108
			s.sp = 0
			for n := uint8(19); n <= x29; n++ {
				s.save(n, registers+8*int64(n))
			}
			s.r.Regs[r.arch.SP] = unwind.Rule{How: unwind.Saved, Offset: registers + 8*31}
			s.r.RA = unwind.Rule{How: unwind.Saved, Offset: place}
		case opUnknown:
			return nil, "steps of known kinds"
		}
		last = *o
	}
	r.states = append(r.states, *s.rules())
	return r.states, ""
}

// emitter adds the rules of a function in ascending order.
type emitter struct {
	r    *reader
	fn   *pefile.Function
	at   uint64 // up to here rules are added
	end  uint64
	body unwind.Rules
}

// length returns the bytes of an epilog, with its return.
func (e *emitter) length(q sequence) uint64 {
	n := q.back
	for i := range q.own {
		if o := &q.ops[i]; !o.quiet {
			n += o.length()
		}
	}
	return n
}

func (e *emitter) prolog(q sequence) (want string, err error) {
	states, want := e.r.run(q)
	if want != "" {
		return want, nil
	}
	for i, n := range e.r.lengths {
		if err := e.r.add(e.fn, e.at, e.at+n, &states[i]); err != nil {
			return "", err
		}
		e.at += n
	}
	e.body = states[len(states)-1]
	return "", nil
}

// epilog adds the rules of the body up to an epilog, and of the epilog.
func (e *emitter) epilog(start uint64, q sequence) (want string, err error) {
	states, want := e.r.run(q)
	if want != "" || start < e.at {
		return want, nil
	}
	if err := e.r.add(e.fn, e.at, start, &e.body); err != nil {
		return "", err
	}
	e.at = start
	for i := len(states) - 1; i >= 0; i-- {
		n := q.back
		if i > 0 {
			n = e.r.lengths[i-1]
		}
		if err := e.r.add(e.fn, e.at, e.at+n, &states[i]); err != nil {
			return "", err
		}
		e.at += n
	}
	return "", nil
}

func (e *emitter) finish() error { return e.r.add(e.fn, e.at, e.end, &e.body) }
