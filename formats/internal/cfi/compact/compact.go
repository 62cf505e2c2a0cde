// Package compact reads Apple's compact unwind information: __unwind_info of linked images, by
// mach-o/compact_unwind_encoding.h. A function has one word that says how its frame is laid out, which is exact at its
// calls. Words that refer to __eh_frame are passed over: that section is read whole, by package cfi.
//
// Invariants:
//   - damage costs a page, or one function, and is counted;
//   - no more entries are read than the section has room for, however often its index names a page.
package compact

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/cfi"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/unwind"
)

const (
	section = "__unwind_info"

	headerBytes   = 28
	indexBytes    = 12
	regularPage   = 2
	packedPage    = 3
	maxCommon     = 127 // more have no number in a page of packed entries
	maxPageBytes  = 1 << 20
	addressesRoom = 1<<32 - 1
)

// Info is the compact unwind information of an image.
type Info struct {
	In    *formats.Input
	Base  uint64 // of the image: functions count from it
	Order native.ByteOrder
	Arch  *unwind.Arch
	// Memory returns n bytes as they are loaded at an address; nil if the file does not hold them.
	Memory func(addr uint64, n int64) ([]byte, error)
}

// Read adds the rules of all functions to a table. Damage is counted there. An error is the input's, the taker's or ctx's.
func Read(ctx context.Context, x *Info, t *cfi.Table) error {
	r := &reader{x: x, t: t, left: x.In.Size / 4}
	switch x.Arch.Name {
	case "x86_64", "x86":
		r.encoding = &intel{word: int64(x.Arch.Word), registers: intelRegisters(x.Arch)}
	case "arm64":
		r.encoding = arm64{}
	default:
		return nil // no compiler writes it for others
	}
	want, err := r.read(ctx)
	if want != "" {
		t.Drop(section, 0, want)
	}
	return err
}

// reader holds the last function, until the next one says where it ends.
type reader struct {
	x        *Info
	t        *cfi.Table
	encoding encoding
	common   []uint32
	left     int64 // entries that the section has room for

	open  bool
	start uint64
	word  uint32
}

// encoding makes rules of the word of a function, for one kind of processor.
type encoding interface {
	// rules fills r. If the word means nothing, want says what should stand there. Rules that stay empty are elsewhere. code reads the
	// function's own instructions.
	rules(r *unwind.Rules, word uint32, code func(off uint64) (uint32, bool, error)) (want string, err error)
}

func (r *reader) fields(off, n int64) (native.Fields, bool, error) {
	if off < 0 || n < 0 || n > maxPageBytes || off > r.x.In.Size || n > r.x.In.Size-off {
		return native.Fields{}, false, nil
	}
	b, err := r.x.In.View(off, n)
	return native.Fields{B: b, Order: r.x.Order}, err == nil, err
}

// read reads the index and its pages. If it is damaged, want says what should stand there.
func (r *reader) read(ctx context.Context) (want string, err error) {
	h, ok, err := r.fields(0, headerBytes)
	if !ok || err != nil || h.U32(0) != 1 {
		return "a header of version 1", err
	}
	n := int64(min(h.U32(8), maxCommon))
	common, ok, err := r.fields(int64(h.U32(4)), n*4)
	if !ok || err != nil {
		return "encodings inside the section", err
	}
	for i := range int(n) {
		r.common = append(r.common, common.U32(i*4))
	}
	at, count := int64(h.U32(20)), int64(h.U32(24))
	if count > r.x.In.Size/indexBytes {
		return fmt.Sprintf("an index inside the section, not of %d entries", count), nil
	}
	for i := range count {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		e, ok, err := r.fields(at+i*indexBytes, indexBytes)
		if !ok || err != nil {
			return "an index inside the section", err
		}
		first, page := e.U32(0), int64(e.U32(4))
		if page == 0 { // the end of all functions, or of a part
			if err := r.finish(uint64(first)); err != nil {
				return "", err
			}
			r.open = false
			continue
		}
		want, err := r.page(uint64(first), page)
		if err != nil {
			return "", err
		}
		if want != "" {
			r.t.Drop(section, uint64(page), want)
		}
	}
	return "", r.finish(addressesRoom)
}

// page reads the functions of a page.
func (r *reader) page(first uint64, at int64) (want string, err error) {
	h, ok, err := r.fields(at, 8)
	if !ok || err != nil {
		return "a page inside the section", err
	}
	entries, n := int64(h.Order.Uint16(h.B[4:])), int64(h.Order.Uint16(h.B[6:]))
	if r.left -= n; r.left < 0 {
		return "pages that are named once", nil
	}
	switch kind := h.U32(0); kind {
	case regularPage:
		e, ok, err := r.fields(at+entries, n*8)
		if !ok || err != nil {
			return "entries inside the section", err
		}
		for i := range int(n) {
			if err := r.function(uint64(e.U32(i*8)), e.U32(i*8+4)); err != nil {
				return "", err
			}
		}
		return "", nil
	case packedPage:
		return r.packed(first, at, entries, n)
	default:
		return fmt.Sprintf("a page of kind 2 or 3, not %d", kind), nil
	}
}

// packed reads a page of entries of 32 bits: the number of an encoding, and an offset from the page's first function.
func (r *reader) packed(first uint64, at, entries, n int64) (want string, err error) {
	h, ok, err := r.fields(at+8, 4)
	if !ok || err != nil {
		return "a page inside the section", err
	}
	own, count := int64(h.Order.Uint16(h.B)), int64(h.Order.Uint16(h.B[2:]))
	words, ok, err := r.fields(at+own, count*4)
	if !ok || err != nil {
		return "encodings inside the section", err
	}
	e, ok, err := r.fields(at+entries, n*4)
	if !ok || err != nil {
		return "entries inside the section", err
	}
	for i := range int(n) {
		entry := e.U32(i * 4)
		number := int(entry >> 24)
		var word uint32
		switch {
		case number < len(r.common):
			word = r.common[number]
		case number-len(r.common) < int(count):
			word = words.U32((number - len(r.common)) * 4)
		default:
			r.t.Drop(section, uint64(at+entries)+uint64(i)*4, fmt.Sprintf("one of %d encodings, not %d", len(r.common)+int(count), number))
		}
		if err := r.function(first+uint64(entry&0xffffff), word); err != nil {
			return "", err
		}
	}
	return "", nil
}

// function begins a function at an offset from the image base.
func (r *reader) function(start uint64, word uint32) error {
	r.t.Quality.Units++
	if r.open && start < r.start {
		r.t.Drop(section, 0, fmt.Sprintf("functions that ascend, not %#x behind %#x", start, r.start))
		return nil
	}
	if err := r.finish(start); err != nil {
		return err
	}
	r.open, r.start, r.word = true, start, word
	return nil
}

// finish adds the open function.
func (r *reader) finish(end uint64) error {
	if !r.open || r.start >= end || r.word == 0 {
		return nil
	}
	var rules unwind.Rules
	want, err := r.encoding.rules(&rules, r.word, func(off uint64) (uint32, bool, error) {
		b, err := r.x.Memory(r.x.Base+r.start+off, 4)
		if len(b) < 4 || err != nil {
			return 0, false, err
		}
		return r.x.Order.Uint32(b), true, nil
	})
	if err != nil {
		return err
	}
	if want != "" {
		r.t.Drop(section, 0, fmt.Sprintf("%s at %#x, not %#x", want, r.start, r.word))
		return nil
	}
	return r.t.Add(r.x.Base+r.start, r.x.Base+end, &rules)
}
