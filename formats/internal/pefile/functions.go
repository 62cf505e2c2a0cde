package pefile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/internal/native"
)

// Function is an entry of the function table (.pdata): a function, or a part of one. Addresses count from the image base.
type Function struct {
	Start, End uint32
	// Unwind is the entry's second number as it is stored, or of x86-64 the address of its unwind information.
	Unwind uint32
	Place  uint32 // of the entry in the table
}

const (
	functionTable = "function table"
	unwindX64     = 12 // bytes of an entry of x86-64
	unwindARM     = 8  // and of ARM and ARM64
)

// Functions returns the function table, ascending by address; entries that say nothing are left out. x86 has none.
func (f *File) Functions(ctx context.Context) ([]Function, error) {
	d := f.directories[DirException]
	size := int64(unwindX64)
	arch := f.Arch()
	switch arch {
	case "x86_64":
	case "arm64", "arm":
		size = unwindARM
	default:
		return nil, nil
	}
	n := min(int64(d.Size), f.Room(d.Addr)) / size
	if n > int64(f.In.Limits.Symbols) {
		return nil, f.Limit(functionTable, 0, fmt.Sprintf("at most %d functions, not %d", f.In.Limits.Symbols, n))
	}
	b, err := f.At(d.Addr, n*size)
	if b == nil || err != nil {
		return nil, err
	}
	all := make([]Function, 0, n)
	w := f.Window()
	for i := range int(n) {
		if i&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		r := native.Fields{B: b[int64(i)*size:]}
		fn := Function{Start: r.U32(0), Unwind: r.U32(4), Place: uint32(int64(i) * size)}
		switch {
		case arch == "x86_64":
			fn.End, fn.Unwind = r.U32(4), r.U32(8)
		default:
			length, err := armLength(w, arch, fn.Unwind)
			if err != nil {
				return nil, err
			}
			fn.Start &^= 1
			fn.End = fn.Start + length
		}
		if fn.Start < fn.End {
			all = append(all, fn)
		}
	}
	slices.SortStableFunc(all, func(a, b Function) int { return cmp.Compare(a.Start, b.Start) })
	return all, nil
}

// armLength returns the bytes of code that an entry of ARM covers: they are packed with it, or stand in its unwind information.
func armLength(w *Window, arch string, unwind uint32) (uint32, error) {
	unit := uint32(4)
	if arch == "arm" {
		unit = 2
	}
	if unwind&3 != 0 {
		return unwind >> 2 & 0x7ff * unit, nil
	}
	b, err := w.At(unwind, 4)
	if b == nil || err != nil {
		return 0, err
	}
	return native.Fields{B: b}.U32(0) & 0x3ffff * unit, nil
}
