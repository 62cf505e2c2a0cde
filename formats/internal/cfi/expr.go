package cfi

import (
	"fmt"

	"github.com/symlake/symlake/formats/unwind"
)

// The operations of DWARF's expressions that have operands, or that are no operation of package unwind.
const (
	exprDeref     = 0x06
	exprOver      = 0x14
	exprPick      = 0x15
	exprPlusConst = 0x23
	exprLiteral   = 0x30 // to 0x4f
	exprBase      = 0x70 // to 0x8f: a register and an offset
	exprBaseX     = 0x92
	exprDerefSize = 0x94
	exprNop       = 0x96
	exprFrame     = 0x9c
)

// operations without operands.
var operations = map[byte]unwind.Op{0x12: unwind.OpDup, 0x13: unwind.OpDrop, 0x16: unwind.OpSwap, 0x17: unwind.OpRot, 0x19: unwind.OpAbs,
	0x1a: unwind.OpAnd, 0x1b: unwind.OpDiv, 0x1c: unwind.OpSub, 0x1d: unwind.OpMod, 0x1e: unwind.OpMul, 0x1f: unwind.OpNeg, 0x20: unwind.OpNot,
	0x21: unwind.OpOr, 0x22: unwind.OpAdd, 0x24: unwind.OpShl, 0x25: unwind.OpShr, 0x26: unwind.OpSar, 0x27: unwind.OpXor,
	0x29: unwind.OpEq, 0x2a: unwind.OpGe, 0x2b: unwind.OpGt, 0x2c: unwind.OpLe, 0x2d: unwind.OpLt, 0x2e: unwind.OpNe}

// expression reads an expression and its length. If framed is set, its stack
// begins with the frame address. The rule is the simplest that says the same.
func (p *program) expression(c *cursor, how unwind.How, framed bool) (r unwind.Rule, want string) {
	b := c.take(c.uleb())
	if len(b) > maxExpr {
		return r, fmt.Sprintf("expressions of at most %d bytes, not %d", maxExpr, len(b))
	}
	var e, before unwind.Expr
	x := values{}
	in := cursor{b: b, order: c.order}
	deref := false // the last operation
	for in.left() > 0 {
		before = e
		deref = in.b[in.p] == exprDeref
		if want = p.operation(&e, &x, &in); want != "" {
			return r, want
		}
	}
	if in.bad || len(b) == 0 {
		return r, "a whole expression"
	}
	if deref && how == unwind.Value {
		how, e = unwind.Memory, before
	}
	r = unwind.Rule{How: how, Expr: e.String()}
	if framed && x.below {
		r.Expr = string(rune(unwind.OpCFA)) + r.Expr
	}
	return r, ""
}

// values counts the values on an expression's stack.
type values struct {
	n     int
	below bool // more were taken than it had pushed
}

func (v *values) change(pops, pushes int) {
	if v.n < pops {
		v.below, v.n = true, pops
	}
	v.n += pushes - pops
}

func (p *program) operation(e *unwind.Expr, v *values, c *cursor) (want string) {
	op := c.byte()
	if plain, ok := operations[op]; ok {
		v.change(effect(plain))
		e.Op(plain)
		return ""
	}
	switch {
	case op == exprNop:
		return ""
	case op == exprDeref:
		v.change(1, 1)
		e.Byte(unwind.OpDeref, 0)
		return ""
	case op == exprDerefSize:
		v.change(1, 1)
		e.Byte(unwind.OpDeref, c.byte())
		return ""
	case op == exprPlusConst:
		v.change(1, 1)
		e.Const(int64(c.uleb())).Op(unwind.OpAdd)
		return ""
	case op == exprOver:
		v.change(2, 2)
		e.Byte(unwind.OpPick, 1)
	case op == exprPick:
		n := c.byte()
		v.change(int(n)+1, int(n)+1)
		e.Byte(unwind.OpPick, n)
	}
	v.change(0, 1)
	switch {
	case op == exprFrame:
		e.Op(unwind.OpCFA)
	case op == exprOver, op == exprPick:
	case op >= exprLiteral && op < exprLiteral+32:
		e.Const(int64(op - exprLiteral))
	case op >= exprBase && op < exprBase+32:
		return p.based(e, uint64(op-exprBase), c)
	case op == exprBaseX:
		return p.based(e, c.uleb(), c)
	default:
		return p.constant(e, op, c)
	}
	return ""
}

// effect is how many values an operation without operands takes and pushes.
func effect(op unwind.Op) (pops, pushes int) {
	switch op {
	case unwind.OpDup:
		return 1, 2
	case unwind.OpDrop:
		return 1, 0
	case unwind.OpSwap:
		return 2, 2
	case unwind.OpRot:
		return 3, 3
	case unwind.OpAbs, unwind.OpNeg, unwind.OpNot:
		return 1, 1
	}
	return 2, 1
}

// based pushes a register's value and an offset.
func (p *program) based(e *unwind.Expr, column uint64, c *cursor) (want string) {
	n := p.register(column)
	if n == unwind.None {
		return fmt.Sprintf("an expression of integer registers, not of %d", column)
	}
	e.Byte(unwind.OpRegister, n)
	if offset := c.sleb(); offset != 0 {
		e.Const(offset).Op(unwind.OpAdd)
	}
	return ""
}

// constant pushes a number.
func (p *program) constant(e *unwind.Expr, op byte, c *cursor) (want string) {
	const first, last, uleb, sleb = 0x08, 0x0f, 0x10, 0x11
	switch {
	case op == uleb:
		e.Const(int64(c.uleb()))
	case op == sleb:
		e.Const(c.sleb())
	case op >= first && op <= last:
		size := 1 << ((op - first) / 2)
		if (op-first)%2 == 1 {
			e.Const(c.int(size))
		} else {
			e.Const(int64(c.uint(size)))
		}
	default:
		return fmt.Sprintf("an expression's operation without jumps and addresses, not %#x", op)
	}
	return ""
}
