package elffile

import (
	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

const (
	ptEHFrame  = 0x6474e550 // PT_GNU_EH_FRAME
	ptARMIndex = 0x70000001 // PT_ARM_EXIDX
)

// Frames reports whether the file holds call frame information, and whether it has lost some that its image has: then
// it is a debug file.
func (f *File) Frames() (has, lost bool) {
	for i := range f.headers {
		h := &f.headers[i]
		switch name := plainName(h.name); {
		case h.size == 0 || name != ".eh_frame" && name != ".debug_frame" && (name != ".ARM.exidx" || f.machine != machARM):
		case h.kind == shtNobits:
			lost = true
		case h.kind != 0:
			has = true
		}
	}
	if len(f.headers) == 0 {
		_, runtime := f.program(ptEHFrame)
		_, index := f.program(ptARMIndex)
		has = runtime || index && f.machine == machARM
	}
	return has, lost
}

// DebugFrame returns .debug_frame, of the file inside .gnu_debugdata where the file itself has none; nil if there is none.
// The input lives until the caller calls done.
func (f *File) DebugFrame() (in *formats.Input, done func() error, err error) {
	done = func() error { return nil }
	if in, err = f.Input(".debug_frame"); in != nil || err != nil {
		return in, done, err
	}
	inner, err := f.minidebug()
	if inner == nil || err != nil {
		return nil, done, err
	}
	in, err = inner.Input(".debug_frame")
	return in, inner.Close, err
}

// EHFrame returns .eh_frame, nil if there is none. open: it comes from a file without section headers, and reaches to the
// end of its segment at most.
func (f *File) EHFrame() (s *native.Section, open bool, err error) {
	if len(f.headers) > 0 {
		s, err = f.Section(".eh_frame")
		return s, false, err
	}
	at, ok := f.program(ptEHFrame)
	if !ok {
		return nil, false, nil
	}
	head := f.segmentAt(at.addr)
	if head == nil || head.Size < 8 {
		return nil, false, nil
	}
	b, err := head.View(0, 8)
	if err != nil {
		return nil, false, err
	}
	// The encoding is what all linkers write: 32 signed bits, counted from their place.
	if b[0] != 1 || b[1] != 0x1b {
		return nil, false, nil
	}
	addr := at.addr + 4 + uint64(int64(int32(native.Fields{B: b, Order: f.Order}.U32(4))))
	in := f.segmentAt(addr)
	if in == nil {
		return nil, false, nil
	}
	return &native.Section{Name: ".eh_frame", Addr: addr, Size: uint64(in.Size), In: in}, true, nil
}

// ARMIndex returns .ARM.exidx, nil if there is none. A relocatable file has one for each section; they are not read.
func (f *File) ARMIndex() (*native.Section, error) {
	if f.machine != machARM || f.kind == typeRel {
		return nil, nil
	}
	if len(f.headers) > 0 {
		return f.Section(".ARM.exidx")
	}
	at, ok := f.program(ptARMIndex)
	if !ok {
		return nil, nil
	}
	in := f.segmentAt(at.addr)
	if in == nil || uint64(in.Size) < at.filesz {
		return nil, nil
	}
	in, err := in.Section(".ARM.exidx", 0, int64(at.filesz))
	return &native.Section{Name: ".ARM.exidx", Addr: at.addr, Size: at.filesz, In: in}, err
}

func (f *File) program(kind uint32) (segment, bool) {
	for i := range f.segments {
		if f.segments[i].kind == kind {
			return f.segments[i], true
		}
	}
	return segment{}, false
}

// segmentAt is a segment from an address on, as far as the file holds it; nil if it holds nothing there.
func (f *File) segmentAt(addr uint64) *formats.Input {
	for i := range f.segments {
		s := &f.segments[i]
		if s.kind != ptLoad || addr < s.addr || addr-s.addr >= s.filesz {
			continue
		}
		skip := addr - s.addr
		size := uint64(f.In.Size)
		if s.off > size || s.filesz > size-s.off {
			return nil
		}
		in, err := f.In.Section("segment", int64(s.off+skip), int64(s.filesz-skip))
		if err != nil {
			return nil
		}
		return in
	}
	return nil
}
