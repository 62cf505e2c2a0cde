// Package ehabi reads how stacks of 32-bit ARM are walked: the index .ARM.exidx, and the entries of .ARM.extab that it
// refers to, by ARM's "Exception Handling ABI for the Arm Architecture".
//
// A function has one set of rules, which is exact at its calls. The compact models are read, and the generic one as the
// compilers of GNU and LLVM lay it out: the opcodes follow the address of the routine.
//
// Invariants:
//   - damage costs one function, and is counted;
//   - an entry has at most 1,024 opcodes' bytes, so work is bounded by the index.
package ehabi

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/unwind"
)

const section = ".ARM.exidx"

// Numbers of the index.
const (
	entryBytes = 8
	readBytes  = 64 << 10 // of the index at once
	cannot     = 1        // EXIDX_CANTUNWIND
	compact    = 1 << 31  // the word holds a model and opcodes
	maxModel   = 2
)

// Index is the index of an image.
type Index struct {
	In        *formats.Input
	Addr      uint64 // where it is loaded
	BigEndian bool   // the byte order of data
	// Memory returns n bytes as they are loaded at an address; nil if the file does not hold them.
	Memory func(addr uint64, n int64) ([]byte, error)
}

// Read adds the rules of all functions to a table. Damage is counted there. An error is the input's, the taker's or ctx's.
func Read(ctx context.Context, x *Index, t *cfi.Table) error {
	r := reader{x: x, t: t, order: native.ByteOrder(x.BigEndian)}
	for off := int64(0); off+entryBytes <= x.In.Size; off += readBytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := x.In.View(off, min(readBytes, x.In.Size-off))
		if err != nil {
			return err
		}
		for at := 0; at+entryBytes <= len(b); at += entryBytes {
			if err := r.entry(uint64(off)+uint64(at), b[at:]); err != nil {
				return err
			}
		}
	}
	if r.last {
		return nil
	}
	return r.finish(1<<32 - 1)
}

// reader holds the last function, until the next one says where it ends.
type reader struct {
	x     *Index
	t     *cfi.Table
	order native.ByteOrder

	open  bool
	known bool // rules counts
	last  bool // no one can unwind it: as the last entry it is the linker's mark behind all functions
	start uint64
	rules unwind.Rules
}

// entry reads an entry of the index.
func (r *reader) entry(off uint64, b []byte) error {
	here := r.x.Addr + off
	start := relative(r.order.Uint32(b), here) &^ 1
	r.t.Quality.Units++
	if r.open && start < r.start {
		r.t.Drop(section, off, "functions that ascend")
		return nil
	}
	if err := r.finish(start); err != nil {
		return err
	}
	r.open, r.start, r.last = true, start, r.order.Uint32(b[4:]) == cannot
	want, err := r.describe(r.order.Uint32(b[4:]), here+4)
	if err != nil {
		return err
	}
	if r.known = want == ""; !r.known {
		r.t.Drop(section, off, want)
	}
	return nil
}

// finish adds the open function.
func (r *reader) finish(end uint64) error {
	if !r.open || !r.known {
		return nil
	}
	return r.t.Add(r.start, end, &r.rules)
}

// describe makes the rules that a word of the index at an address leads to. If it is damaged, want says what should stand there.
func (r *reader) describe(word uint32, here uint64) (want string, err error) {
	var ops []byte
	switch {
	case word == cannot:
		r.rules = unwind.Rules{}
		outermost(&r.rules)
		return "", nil
	case word&compact != 0:
		if word>>24&0x7f != 0 {
			return fmt.Sprintf("model 0 in the index, not %#x", word>>24), nil
		}
		ops = []byte{byte(word >> 16), byte(word >> 8), byte(word)}
	default:
		if ops, want, err = r.table(relative(word, here)); want != "" || err != nil {
			return want, err
		}
	}
	p := program{}
	want = p.run(ops)
	r.rules = p.rules
	return want, nil
}

// table returns the opcodes of an entry of .ARM.extab.
func (r *reader) table(at uint64) (ops []byte, want string, err error) {
	word, ok, err := r.word(at)
	if !ok || err != nil {
		return nil, "an entry of .ARM.extab", err
	}
	var more uint32 // words
	switch model := word >> 24 & 0x7f; {
	case word&compact == 0: // the address of a routine
		at += 4
		if word, ok, err = r.word(at); !ok || err != nil {
			return nil, "opcodes behind the address of a routine", err
		}
		more, ops = word>>24, []byte{byte(word >> 16), byte(word >> 8), byte(word)}
	case model == 0:
		return []byte{byte(word >> 16), byte(word >> 8), byte(word)}, "", nil
	case model > maxModel:
		return nil, fmt.Sprintf("model 0, 1 or 2, not %d", model), nil
	default:
		more, ops = word>>16&0xff, []byte{byte(word >> 8), byte(word)}
	}
	if more == 0 {
		return ops, "", nil
	}
	b, err := r.x.Memory(at+4, int64(more)*4)
	if err != nil {
		return nil, "", err
	}
	if len(b) < int(more)*4 {
		return nil, "all opcodes of an entry", nil
	}
	for ; len(b) >= 4; b = b[4:] {
		word := r.order.Uint32(b)
		ops = append(ops, byte(word>>24), byte(word>>16), byte(word>>8), byte(word))
	}
	return ops, "", nil
}

func (r *reader) word(at uint64) (uint32, bool, error) {
	b, err := r.x.Memory(at, 4)
	if len(b) < 4 || err != nil {
		return 0, false, err
	}
	return r.order.Uint32(b), true, nil
}

// relative is the address that 31 signed bits of a word at an address mean.
func relative(word uint32, here uint64) uint64 {
	return (here + uint64(int64(int32(word<<1)>>1))) & (1<<32 - 1)
}

// outermost makes rules of a function without a caller.
func outermost(r *unwind.Rules) {
	r.CFA = unwind.Rule{How: unwind.Register, Reg: regSP}
	r.RA = unwind.Rule{How: unwind.Undefined}
}
