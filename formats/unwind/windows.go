package unwind

import (
	"strconv"
	"strings"
)

// maxVariables and maxTokens bound a program of frame data.
const (
	maxVariables = 32
	maxTokens    = 512
)

// step makes the caller's registers by a record of Windows. params are the bytes of parameters that the callee's own callee took:
// its caller has them on the stack. innermost: there is no such callee.
func (r *Windows) step(a *Arch, callee *Registers, read Read, params uint32, innermost bool) (caller Registers, ok bool) {
	if a != x86 {
		return caller, false
	}
	if r.Program != "" {
		return r.run(callee, read, params)
	}
	return r.omitted(callee, read, params, innermost)
}

// Registers of x86.
const (
	ebx, esp, ebp, esi, edi, eip = 3, 4, 5, 6, 7, 8
)

// frameBytes is how far the return address lies from the stack pointer.
func (r *Windows) frameBytes(params uint32) uint32 { return r.Locals + r.Saved + params }

// omitted is a function without frame pointer.
func (r *Windows) omitted(callee *Registers, read Read, params uint32, innermost bool) (caller Registers, ok bool) {
	sp, ok := callee.Get(esp)
	if !ok {
		return caller, false
	}
	at := sp + uint64(r.frameBytes(params))
	back, ok := read(at, 4)
	if !ok {
		return caller, false
	}
	if pc, known := callee.Get(eip); innermost && known && back == pc { // system calls leave a return address behind
		at += 4
		if back, ok = read(at, 4); !ok {
			return caller, false
		}
	}
	caller.Set(eip, back)
	caller.Set(esp, at+4)
	if r.UsesBase {
		saved, ok := read(x86.cut(sp+uint64(params)+uint64(r.Saved)-8), 4)
		caller.Set(ebp, saved)
		return caller, ok
	}
	if v, known := callee.Get(ebx); known { // functions that only pass a call on leave it alone
		caller.Set(ebx, v)
	}
	base, ok := callee.Get(ebp)
	caller.Set(ebp, base)
	return caller, ok
}

// variable is one of a program.
type variable struct {
	name  string
	value uint32
	known bool
}

// program is a program of frame data at work.
type program struct {
	vars  []variable
	stack []operand
	read  Read
}

// operand is a variable by its name, a number, or neither: an unknown value.
type operand struct {
	name    string
	value   uint32
	unknown bool
}

// run runs the program.
func (r *Windows) run(callee *Registers, read Read, params uint32) (caller Registers, ok bool) {
	sp, known := callee.Get(esp)
	bp, also := callee.Get(ebp)
	if !known || !also {
		return caller, false
	}
	p := program{read: read}
	p.set("$esp", uint32(sp))
	p.set("$ebp", uint32(bp))
	if v, known := callee.Get(ebx); known {
		p.set("$ebx", uint32(v))
	}
	search := uint32(sp) + r.frameBytes(params)
	if strings.Contains(r.Program, "@") { // the frame is aligned: only its pointer tells
		search = uint32(bp) + 4
	}
	p.set(".cbParams", r.Params)
	p.set(".cbCalleeParams", params)
	p.set(".cbSavedRegs", r.Saved)
	p.set(".cbLocals", r.Locals)
	p.set(".raSearch", search)
	p.set(".raSearchStart", search)
	tokens := 0
	for word := range strings.FieldsSeq(r.Program) {
		if rest, glued := strings.CutPrefix(word, "="); glued && rest != "" { // some tools leave the space out
			if !p.do("=") {
				return caller, false
			}
			word = rest
		}
		if tokens++; tokens > maxTokens || !p.do(word) {
			return caller, false
		}
	}
	for name, register := range map[string]uint8{"$eip": eip, "$esp": esp, "$ebp": ebp, "$ebx": ebx, "$esi": esi, "$edi": edi} {
		if v := p.find(name); v != nil && v.known {
			caller.Set(register, uint64(v.value))
		}
	}
	return caller, true
}

func (p *program) find(name string) *variable {
	for i := range p.vars {
		if p.vars[i].name == name {
			return &p.vars[i]
		}
	}
	return nil
}

func (p *program) set(name string, value uint32) {
	if v := p.find(name); v != nil {
		v.value, v.known = value, true
	} else if len(p.vars) < maxVariables {
		p.vars = append(p.vars, variable{name, value, true})
	}
}

// pop takes an operand off the stack.
func (p *program) pop() (o operand, ok bool) {
	n := len(p.stack) - 1
	if n < 0 {
		return o, false
	}
	o, p.stack = p.stack[n], p.stack[:n]
	return o, true
}

// value is an operand's number.
func (p *program) value(o operand) (uint32, bool) {
	if o.name == "" {
		return o.value, !o.unknown
	}
	v := p.find(o.name)
	if v == nil || !v.known {
		return 0, false
	}
	return v.value, true
}

// do executes a word; false: the program is wrong, or needs an unknown value.
func (p *program) do(word string) bool {
	switch word {
	case "+", "-", "*", "/", "%", "@":
		right, ok := p.pop()
		left, also := p.pop()
		b, known := p.value(right)
		a, alsoKnown := p.value(left)
		if !ok || !also || !known || !alsoKnown {
			return false
		}
		v, ok := compute(word, a, b)
		p.stack = append(p.stack, operand{value: v})
		return ok
	case "=":
		right, ok := p.pop()
		left, also := p.pop()
		if !ok || !also || left.name == "" {
			return false
		}
		if right.unknown {
			if v := p.find(left.name); v != nil {
				v.known = false
			}
			return true
		}
		v, ok := p.value(right)
		p.set(left.name, v)
		return ok
	case "^":
		o, ok := p.pop()
		at, known := p.value(o)
		if !ok || !known {
			return false
		}
		v, ok := p.read(uint64(at), 4)
		p.stack = append(p.stack, operand{value: uint32(v)})
		return ok
	case ".undef":
		p.stack = append(p.stack, operand{unknown: true})
		return true
	}
	if len(p.stack) == maxStack {
		return false
	}
	if word[0] == '$' || word[0] == '.' {
		p.stack = append(p.stack, operand{name: word})
		return true
	}
	n, err := strconv.ParseInt(word, 10, 64)
	p.stack = append(p.stack, operand{value: uint32(n)})
	return err == nil
}

func compute(word string, a, b uint32) (uint32, bool) {
	switch word {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	}
	switch {
	case b == 0:
		return 0, false
	case word == "/":
		return a / b, true
	case word == "%":
		return a % b, true
	}
	return a &^ (b - 1), b&(b-1) == 0
}
