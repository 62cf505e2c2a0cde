package unwind

import "encoding/binary"

// Op is an operation of an expression: postfix, on a stack of 64-bit values. Durable: stored in rows.
type Op byte

// The operations. Operations of two values take the second from the top of the stack.
const (
	OpRegister Op = 1 // register (1 byte): pushes the callee's
	OpCFA      Op = 2 // pushes the canonical frame address
	OpConst    Op = 3 // zigzag varint
	OpAdd      Op = 4
	OpSub      Op = 5
	OpMul      Op = 6
	OpDiv      Op = 7 // signed
	OpMod      Op = 8 // unsigned
	OpAnd      Op = 9
	OpOr       Op = 10
	OpXor      Op = 11
	OpShl      Op = 12
	OpShr      Op = 13
	OpSar      Op = 14
	OpNeg      Op = 15
	OpNot      Op = 16
	OpEq       Op = 17 // 1 or 0, as all that compare; signed
	OpNe       Op = 18
	OpLt       Op = 19
	OpLe       Op = 20
	OpGt       Op = 21
	OpGe       Op = 22
	OpAlign    Op = 23 // the first, rounded down to a multiple of the second
	OpDeref    Op = 24 // size (1 byte; 0: an address): what stands in memory there
	OpDup      Op = 25
	OpDrop     Op = 26
	OpSwap     Op = 27
	OpPick     Op = 28 // place from the top (1 byte)
	OpRot      Op = 29 // the top goes below the two under it
	OpAbs      Op = 30
)

// maxStack bounds the values of an expression.
const maxStack = 64

// Expr builds an expression.
type Expr struct{ b []byte }

// Op appends an operation without operands.
func (e *Expr) Op(op Op) *Expr {
	e.b = append(e.b, byte(op))
	return e
}

// Byte appends an operation with an operand of a byte.
func (e *Expr) Byte(op Op, operand byte) *Expr {
	e.b = append(e.b, byte(op), operand)
	return e
}

// Const pushes a number.
func (e *Expr) Const(v int64) *Expr {
	e.b = binary.AppendVarint(append(e.b, byte(OpConst)), v)
	return e
}

// String returns what Rule.Expr wants.
func (e *Expr) String() string { return string(e.b) }

// machine evaluates an expression.
type machine struct {
	arch  *Arch
	regs  *Registers
	cfa   uint64
	read  Read
	stack [maxStack]uint64
	n     int
	ok    bool
}

func (m *machine) push(v uint64) {
	if m.n == maxStack {
		m.ok = false
		return
	}
	m.stack[m.n] = v
	m.n++
}

func (m *machine) pop() uint64 {
	if m.n == 0 {
		m.ok = false
		return 0
	}
	m.n--
	return m.stack[m.n]
}

// eval returns the value of an expression that begins with first on the stack, if push is set.
func (m *machine) eval(expr string) (uint64, bool) {
	m.n, m.ok = 0, true
	d := decoder{b: expr}
	for len(d.b) > 0 && m.ok && !d.bad {
		m.do(Op(d.byte()), &d)
	}
	v := m.pop()
	return m.arch.cut(v), m.ok && !d.bad
}

func (m *machine) do(op Op, d *decoder) {
	switch op {
	case OpRegister:
		v, ok := m.regs.Get(d.byte())
		m.push(v)
		m.ok = m.ok && ok
	case OpCFA:
		m.push(m.cfa)
	case OpConst:
		m.push(uint64(d.varint()))
	case OpNeg:
		m.push(-m.pop())
	case OpNot:
		m.push(^m.pop())
	case OpAbs:
		v := m.pop()
		if m.signed(v) < 0 {
			v = -v
		}
		m.push(v)
	case OpDeref:
		size := int(d.byte())
		if size == 0 {
			size = m.arch.Word
		}
		v, ok := m.read(m.arch.cut(m.pop()), size)
		m.push(v)
		m.ok = m.ok && ok
	case OpDup:
		v := m.pop()
		m.push(v)
		m.push(v)
	case OpDrop:
		m.pop()
	case OpSwap:
		b, a := m.pop(), m.pop()
		m.push(b)
		m.push(a)
	case OpPick:
		k := int(d.byte())
		if k >= m.n {
			m.ok = false
			return
		}
		m.push(m.stack[m.n-1-k])
	case OpRot:
		c, b, a := m.pop(), m.pop(), m.pop()
		m.push(c)
		m.push(a)
		m.push(b)
	default:
		b, a := m.pop(), m.pop()
		m.binary(op, a, b)
	}
}

func (m *machine) binary(op Op, a, b uint64) {
	switch op {
	case OpAdd:
		m.push(a + b)
	case OpSub:
		m.push(a - b)
	case OpMul:
		m.push(a * b)
	case OpDiv, OpMod, OpAlign:
		m.divide(op, a, b)
	case OpAnd:
		m.push(a & b)
	case OpOr:
		m.push(a | b)
	case OpXor:
		m.push(a ^ b)
	case OpShl:
		m.push(a << b)
	case OpShr:
		m.push(m.arch.cut(a) >> b)
	case OpSar:
		m.push(uint64(m.signed(a) >> b))
	default:
		m.push(m.compare(op, m.signed(a), m.signed(b)))
	}
}

func (m *machine) divide(op Op, a, b uint64) {
	if b == 0 {
		m.ok = false
		return
	}
	switch op {
	case OpDiv:
		if m.signed(b) == -1 {
			m.push(-a)
			return
		}
		m.push(uint64(m.signed(a) / m.signed(b)))
	case OpMod:
		m.push(m.arch.cut(a) % b)
	default:
		m.push(m.arch.cut(a) / b * b)
	}
}

func (m *machine) compare(op Op, a, b int64) uint64 {
	var is bool
	switch op {
	case OpEq:
		is = a == b
	case OpNe:
		is = a != b
	case OpLt:
		is = a < b
	case OpLe:
		is = a <= b
	case OpGt:
		is = a > b
	case OpGe:
		is = a >= b
	default:
		m.ok = false
	}
	if is {
		return 1
	}
	return 0
}

// signed is a value as an integer of the processor.
func (m *machine) signed(v uint64) int64 {
	if m.arch.Word == 4 {
		return int64(int32(v))
	}
	return int64(v)
}
