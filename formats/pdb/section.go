package pdb

import (
	"bytes"
	"cmp"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/msf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

func compareContributions(a, b contribution) int {
	return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.off, b.off))
}

func sortContributions(list []contribution) { slices.SortStableFunc(list, compareContributions) }

// section is a section of the image.
type section struct {
	name       string
	start, end uint32 // from the image base
	code       bool
}

// layout is how the image lies in memory.
type layout struct {
	sections []section    // as records number them, from 1
	end      uint64       // of the image
	final    []section    // of the image after an optimizer moved its code; else the same
	spans    native.Image // code before it was moved
	moved    []move       // ascending; where an optimizer moved code
}

// move says that the code from from on, up to the next move, is at to; 0: it is gone.
type move struct{ from, to uint32 }

const sectionHead = 40

func readLayout(f *msf.File, d *dbi) (*layout, error) {
	l := &layout{}
	var err error
	if l.sections, err = readSections(f, "section headers", d.stream(extraSections)); err != nil {
		return nil, err
	}
	l.final = l.sections
	old, err := readSections(f, "old section headers", d.stream(extraOldSections))
	if err != nil {
		return nil, err
	}
	if len(old) > 0 && d.stream(extraOMAPFrom) != noStream {
		l.sections = old
		if l.moved, err = readMoves(f, d.stream(extraOMAPFrom)); err != nil {
			return nil, err
		}
	}
	for _, s := range l.final {
		l.end = max(l.end, uint64(s.end))
	}
	for _, s := range l.sections {
		if s.code {
			l.spans.Code = append(l.spans.Code, native.Span{Start: uint64(s.start), End: uint64(s.end)})
		}
	}
	l.spans.Code = native.Disjoint(l.spans.Code, 0)
	return l, nil
}

func readSections(f *msf.File, what string, n int) ([]section, error) {
	if n == noStream {
		return nil, nil
	}
	s, err := f.Stream(what, n)
	if err != nil {
		return nil, err
	}
	b, err := s.All(nil)
	if err != nil {
		return nil, err
	}
	const maxSections = 1 << 16
	list := make([]section, 0, min(len(b)/sectionHead, maxSections))
	for ; len(b) >= sectionHead && len(list) < maxSections; b = b[sectionHead:] {
		const executed, isCode = 0x20000000, 0x20
		start, size, stored, flags := u32(b[12:]), u32(b[8:]), u32(b[16:]), u32(b[36:])
		if size == 0 {
			size = stored
		}
		text, _, _ := bytes.Cut(b[:8], []byte{0})
		if size > ^uint32(0)-start {
			return nil, s.Corrupt(0, "sections below 4 GiB")
		}
		list = append(list, section{string(text), start, start + size, flags&(executed|isCode) != 0})
	}
	return list, nil
}

func readMoves(f *msf.File, n int) ([]move, error) {
	s, err := f.Stream("OMAP", n)
	if err != nil {
		return nil, err
	}
	b, err := s.All(nil)
	if err != nil {
		return nil, err
	}
	list := make([]move, 0, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		list = append(list, move{u32(b), u32(b[4:])})
	}
	if !slices.IsSortedFunc(list, func(a, b move) int { return cmp.Compare(a.from, b.from) }) {
		return nil, s.Corrupt(0, "moves that ascend")
	}
	return list, nil
}

// place returns where an offset of a section lies before code was moved. ok is false where there is no such section.
func (l *layout) place(number uint16, off uint32) (at uint32, ok bool) {
	i := int(number) - 1
	if i < 0 || i >= len(l.sections) {
		return 0, false
	}
	s := &l.sections[i]
	if off > s.end-s.start {
		return 0, false
	}
	return s.start + off, true
}

// code places code of a section. Its end stays in the section.
func (l *layout) code(number uint16, off, size uint32) (start, end uint32, ok bool) {
	if start, ok = l.place(number, off); !ok {
		return 0, 0, false
	}
	s := &l.sections[number-1]
	end = s.end
	if size < end-start {
		end = start + size
	}
	return start, end, start < end && s.code
}

// pieces calls f for each piece of code that was not moved apart: at start before, at to in the image.
func (l *layout) pieces(start, end uint32, f func(start, end, to uint32)) {
	i := sort.Search(len(l.moved), func(i int) bool { return l.moved[i].from > start }) - 1
	for i = max(i, 0); i < len(l.moved) && l.moved[i].from < end; i++ {
		m := l.moved[i]
		from, until := max(start, m.from), end
		if i+1 < len(l.moved) {
			until = min(until, l.moved[i+1].from)
		}
		if m.to == 0 || from >= until {
			continue
		}
		if to := uint64(m.to) + uint64(from-m.from); to+uint64(until-from) <= l.end {
			f(from, until, uint32(to))
		}
	}
}

// parts are the parts of the image without code.
func (l *layout) parts() []symbol.Part {
	var list []symbol.Part
	for _, s := range l.final {
		if !s.code {
			list = append(list, symbol.Part{Name: s.name, Start: uint64(s.start), End: uint64(s.end)})
		}
	}
	return native.Parts(list, 0)
}

// textBytes is how many bytes of code the image has.
func (l *layout) textBytes() uint64 {
	n := uint64(0)
	for _, s := range l.final {
		if s.code {
			n += uint64(s.end - s.start)
		}
	}
	return n
}
