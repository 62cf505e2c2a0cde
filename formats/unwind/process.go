package unwind

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// Process is a stopped program, as a dump keeps it. Walk changes nothing in it.
type Process struct {
	Arch     *Arch
	System   System
	Modules  []Module // ascending by Base
	Unloaded []Module // in any order; they may overlap
	Threads  []Thread
	Memory   Pieces
}

// System is what a walk needs to know of the operating system.
type System uint8

// The systems.
const (
	OtherSystem System = iota
	MSWindows
	Apple
)

// Module is an image that was mapped.
type Module struct {
	Base, Size uint64
	Path       string
	IDs        []string // names to ask for, best first, in the words of artifacts; none: the dump does not say it
	Kind       symbol.Kind
}

// Names returns the names to ask for a module by: its IDs, and the last element of its path.
func (m *Module) Names() []string {
	all := m.IDs[:len(m.IDs):len(m.IDs)]
	if name := m.Name(); name != "" {
		all = append(all, name)
	}
	return all
}

// Name returns the last element of a module's path, of any system.
func (m *Module) Name() string { return m.Path[strings.LastIndexAny(m.Path, `/\`)+1:] }

// Thread is where a thread stood.
type Thread struct {
	ID        uint64
	Name      string
	Registers Registers
	// Stack is the memory that frame pointers and scans may lead through; rules read any memory of the process.
	Stack   Piece
	Crashed bool // the registers are from the exception
	Silent  bool // the thread is not walked: it wrote the dump, or its registers are missing
}

// Piece is memory from Start on.
type Piece struct {
	Start uint64
	Bytes []byte
}

// Pieces are memory, ascending by Start.
type Pieces []Piece

// Sorted sorts pieces, and drops pieces that are empty or reach beyond the last address.
func Sorted(pieces []Piece) Pieces {
	pieces = slices.DeleteFunc(pieces, func(p Piece) bool { return len(p.Bytes) == 0 || p.Start+uint64(len(p.Bytes)) < p.Start })
	slices.SortStableFunc(pieces, func(a, b Piece) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return len(a.Bytes) - len(b.Bytes)
	})
	return pieces
}

// At returns the piece that holds an address, with the longest rest if several do; empty: none does.
func (m Pieces) At(addr uint64) (best Piece) {
	i := sort.Search(len(m), func(i int) bool { return m[i].Start > addr })
	for k := i - 1; k >= 0 && i-k <= 4; k-- { // honest pieces do not overlap
		if p := m[k]; addr-p.Start < uint64(len(p.Bytes)) && len(p.Bytes) > 0 && p.Start+uint64(len(p.Bytes)) > best.Start+uint64(len(best.Bytes)) {
			best = p
		}
	}
	return best
}

// Read is a Read of all pieces.
func (m Pieces) Read(addr uint64, size int) (uint64, bool) {
	p := m.At(addr)
	return p.Read(addr, size)
}

// Read is a Read of the piece.
func (p *Piece) Read(addr uint64, size int) (uint64, bool) {
	at := addr - p.Start
	if addr < p.Start || uint64(len(p.Bytes)) < uint64(size) || at > uint64(len(p.Bytes)-size) {
		return 0, false
	}
	switch b := p.Bytes[at:]; size {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(b)), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	case 8:
		return binary.LittleEndian.Uint64(b), true
	}
	return 0, false
}

// SortModules sorts the modules, as the other methods need it. Of modules with one base the first counts.
func (p *Process) SortModules() {
	slices.SortStableFunc(p.Modules, func(a, b Module) int {
		switch {
		case a.Base < b.Base:
			return -1
		case a.Base > b.Base:
			return 1
		}
		return 0
	})
	p.Modules = slices.CompactFunc(p.Modules, func(a, b Module) bool { return a.Base == b.Base })
}

// ModuleAt returns the index of the module that holds an address; -1: none does.
func (p *Process) ModuleAt(addr uint64) int {
	i := sort.Search(len(p.Modules), func(i int) bool { return p.Modules[i].Base > addr }) - 1
	if i < 0 || addr-p.Modules[i].Base >= p.Modules[i].Size {
		return -1
	}
	return i
}

// UnloadedAt returns an unloaded module that held an address; nil: none did.
func (p *Process) UnloadedAt(addr uint64) *Module {
	for i := range p.Unloaded {
		if m := &p.Unloaded[i]; addr >= m.Base && addr-m.Base < m.Size {
			return m
		}
	}
	return nil
}

// appleBits is how many bits of an address count on Apple's systems: the others hold a pointer's signature.
const appleBits = 47

// mask returns the bits of pointers that are address. Signatures and tags of arm64 stand above them.
func (p *Process) mask() uint64 {
	if p.Arch.Word == 4 {
		return 1<<32 - 1
	}
	if p.Arch != arm64 {
		return ^uint64(0)
	}
	mask := uint64(1<<appleBits - 1)
	if n := len(p.Modules); n > 0 {
		for last := p.Modules[n-1].Base + p.Modules[n-1].Size; mask < last && mask != ^uint64(0); {
			mask = mask<<1 | 1
		}
	}
	return mask
}
