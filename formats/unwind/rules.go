// Package unwind is how a caller's registers follow from its callee's: one form for all that compilers write
// about it, be it DWARF, compact unwind, ARM's index, Windows' tables or the STACK records of Breakpad.
//
// Parsers fill [Rules] and store them in their coded form, a string of bytes ([Rules.Append]). Whoever walks a stack
// decodes them ([Decode]) and takes a step ([Rules.Step]).
//
// Invariants:
//   - equal rules have equal coded forms: a library of a million places has some thousands of them;
//   - a step is bounded: an expression has no loops and at most maxStack values;
//   - memory is read through the caller's function only.
package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Rules say how the caller's registers follow at one place. The zero value knows nothing.
type Rules struct {
	CFA Rule // the canonical frame address: the stack pointer before the call
	RA  Rule // where the callee returns to
	// Regs are the caller's registers by number. Unsaid: a register that callees keep has its value, any other is lost.
	// The stack pointer is the CFA where it is Unsaid.
	Regs [MaxRegisters]Rule
	// Windows, when not nil, stands in place of all others: x86 without DWARF.
	Windows *Windows
}

// Windows is a STACK WIN record of Breakpad, or an FPO or frame data record of a PDB: 32-bit code only.
type Windows struct {
	Params, Saved, Locals uint32 // bytes on the stack
	MaxStack              uint32
	UsesBase              bool   // the function uses EBP as a general register; without Program
	Program               string // frame data: "$T0 .raSearch = $eip $T0 ^ = …"; "": the record is FPO
}

// Rule is how one value follows.
type Rule struct {
	How    How
	Reg    uint8  // of Register
	Offset int64  // of Saved, Near and Register
	Expr   string // of Value and Memory: see Expr
}

// How says what a rule means. Durable: stored in rows.
type How uint8

// The kinds of rules.
const (
	Unsaid    How = 0
	Undefined How = 1 // the value is lost; of RA: this frame is the outermost
	Same      How = 2 // as the callee has it
	Saved     How = 3 // in memory at CFA + Offset
	Near      How = 4 // CFA + Offset
	Register  How = 5 // the callee's Reg + Offset
	Memory    How = 6 // in memory at the address that Expr gives
	Value     How = 7 // the value that Expr gives
)

// Coded targets besides registers, and what the first byte of the coded form says.
const (
	targetCFA = 0x40
	targetRA  = 0x41

	formRules   = 1
	formWindows = 2
)

// MaxBytes bounds the coded form of rules.
const MaxBytes = 4 << 10

// Append appends the coded form: a byte for the form; then for each value that is not Unsaid, CFA and RA first and
// registers ascending, a byte for the target, a byte for How, and the operands.
func (r *Rules) Append(b []byte) []byte {
	if w := r.Windows; w != nil {
		b = append(b, formWindows, 0)
		if w.UsesBase {
			b[len(b)-1] = 1
		}
		for _, v := range [...]uint32{w.Params, w.Saved, w.Locals, w.MaxStack} {
			b = binary.AppendUvarint(b, uint64(v))
		}
		return append(b, w.Program...)
	}
	b = append(b, formRules)
	b = r.CFA.append(b, targetCFA)
	b = r.RA.append(b, targetRA)
	for i := range r.Regs {
		if r.Regs[i].How != Unsaid { // most are, and this runs for every row of a table
			b = r.Regs[i].append(b, byte(i))
		}
	}
	return b
}

func (r *Rule) append(b []byte, target byte) []byte {
	if r.How == Unsaid {
		return b
	}
	b = append(b, target, byte(r.How))
	switch r.How {
	case Saved, Near:
		b = binary.AppendVarint(b, r.Offset)
	case Register:
		b = binary.AppendVarint(append(b, r.Reg), r.Offset)
	case Memory, Value:
		b = append(binary.AppendUvarint(b, uint64(len(r.Expr))), r.Expr...)
	}
	return b
}

var errRules = errors.New("rules for unwinding: want the form that package unwind writes")

// Decode reads what Append wrote. "" gives rules that know nothing.
func Decode(coded string) (r Rules, err error) {
	if coded == "" {
		return r, nil
	}
	d := decoder{b: coded}
	switch d.byte() {
	case formWindows:
		w := &Windows{UsesBase: d.byte() == 1}
		for _, to := range [...]*uint32{&w.Params, &w.Saved, &w.Locals, &w.MaxStack} {
			*to = uint32(d.uvarint())
		}
		w.Program = d.b
		r.Windows = w
	case formRules:
		for len(d.b) > 0 && !d.bad {
			d.rule(&r)
		}
	default:
		d.bad = true
	}
	if d.bad {
		return Rules{}, fmt.Errorf("%w: %x", errRules, coded[:min(len(coded), 64)])
	}
	return r, nil
}

type decoder struct {
	b   string
	bad bool
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		c := d.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	d.bad = true
	return 0
}

func (d *decoder) varint() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) rule(to *Rules) {
	target := d.byte()
	r := Rule{How: How(d.byte())}
	switch r.How {
	case Undefined, Same:
	case Saved, Near:
		r.Offset = d.varint()
	case Register:
		r.Reg = d.byte()
		r.Offset = d.varint()
	case Memory, Value:
		n := d.uvarint()
		if n > uint64(len(d.b)) {
			d.bad = true
			return
		}
		r.Expr, d.b = d.b[:n], d.b[n:]
	default:
		d.bad = true
	}
	switch {
	case target == targetCFA:
		to.CFA = r
	case target == targetRA:
		to.RA = r
	case target < MaxRegisters:
		to.Regs[target] = r
	default:
		d.bad = true
	}
}
