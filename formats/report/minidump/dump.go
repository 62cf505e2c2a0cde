package minidump

import (
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/walked"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// dump is a crash as Breakpad, Crashpad and Windows write it: streams of structures, little endian, at offsets (Microsoft's
// minidumpapiset.h, with Breakpad's and Crashpad's additions).
type dump struct {
	file
	streams map[uint32][]byte
	system  uint32
	arch    string // in the words of symbol.Artifact; "" for an unknown processor
	names   map[uint32]string
	notes   []string // lines of the rendering's head
	process unwind.Process

	asked   uint32 // the thread that failed, or asked for the dump
	failed  bool   // asked is known
	context []byte // of that thread, as the exception's record has it
	writer  uint32 // the thread that wrote the dump
	wrote   bool
}

// The numbers of streams.
const (
	threadStream    = 3
	moduleStream    = 4
	memoryStream    = 5
	exceptionStream = 6
	systemStream    = 7
	memory64Stream  = 9
	unloadedStream  = 14
	miscStream      = 15
	nameStream      = 24
	breakpadStream  = 0x47670001
	assertionStream = 0x47670002
	cmdlineStream   = 0x47670006
	mapsStream      = 0x47670009
	crashpadStream  = 0x43500001
)

// The numbers of systems.
const (
	systemWindows = 2
	systemMac     = 0x8101
	systemIOS     = 0x8102
)

// What bounds a dump.
const (
	maxStreams  = 1 << 10
	maxModules  = 1 << 14
	maxUnloaded = 1 << 10 // Windows keeps 64
	maxThreads  = 1 << 14
	maxPieces   = 1 << 18 // of memory
)

// open reads the directory of streams; false: the bytes are no dump.
func (d *dump) open() bool {
	head := d.At(0, 32)
	if head == nil {
		return false
	}
	d.streams, d.names = map[uint32][]byte{}, map[uint32]string{}
	for i := range min(uint64(u32(head, 8)), maxStreams) {
		e := d.At(uint64(u32(head, 12))+12*i, 12)
		if e == nil {
			return false
		}
		kind := u32(e, 0)
		if s := d.location(e, 4); s != nil && d.streams[kind] == nil {
			d.streams[kind] = s
		}
	}
	return true
}

// read reads all streams but threads and memory.
func (d *dump) read() {
	d.readSystem(d.streams[systemStream])
	d.process.Arch = unwind.ArchOf(d.arch)
	for _, m := range array(d.streams[moduleStream], 108, maxModules) {
		d.module(m)
	}
	if len(d.process.Modules) == 0 {
		d.mapped(d.streams[mapsStream])
	}
	d.process.SortModules()
	d.unloaded(d.streams[unloadedStream])
	for _, n := range array(d.streams[nameStream], 12, maxThreads) {
		if at := u64(n, 4); at < 1<<32 {
			d.names[u32(n, 0)] = d.text(uint32(at))
		}
	}
	if b := d.streams[breakpadStream]; len(b) >= 12 {
		d.wrote, d.writer = b[0]&1 != 0, u32(b, 4)
		d.failed, d.asked = b[0]&2 != 0, u32(b, 8)
	}
	if e := d.streams[exceptionStream]; len(e) >= 168 {
		d.failed, d.asked = true, u32(e, 0)
		d.context = d.location(e, 160)
		d.exception(e)
	}
	d.assertion(d.streams[assertionStream])
	d.misc(d.streams[miscStream], d.streams[cmdlineStream])
	d.crashpad(d.streams[crashpadStream])
}

func (d *dump) readSystem(b []byte) {
	if len(b) < 24 {
		return
	}
	switch u16(b, 0) {
	case 0, 10: // 10: 32-bit code on a 64-bit Windows
		d.arch = "x86"
	case 5:
		d.arch = "arm"
	case 9:
		d.arch = "x86_64"
	case 12, 0x8003:
		d.arch = "arm64"
	case 0x8006:
		d.arch = "riscv64"
	}
	switch d.system = u32(b, 20); d.system {
	case systemWindows:
		d.process.System = unwind.MSWindows
	case systemMac, systemIOS:
		d.process.System = unwind.Apple
	}
}

// kind returns the kind of the system's images.
func (d *dump) kind() symbol.Kind {
	switch d.process.System {
	case unwind.MSWindows:
		return symbol.PE
	case unwind.Apple:
		return symbol.MachO
	}
	return symbol.ELF
}

// readMinidump makes a report of a dump; nil if it is none, or has no threads.
func readMinidump(b []byte, o report.Options) *report.Report {
	d := &dump{file: file{File: walked.File{Head: b}}}
	if !d.open() {
		return nil
	}
	d.read()
	d.memory()
	d.threads()
	return d.report(o)
}

// report makes a report of the process; nil: no thread has frames.
func (d *dump) report(o report.Options) *report.Report {
	w := walked.Dump{Form: minidumpFile, Title: "Minidump", Arch: d.arch, Notes: d.notes, Process: &d.process}
	return w.Report(o)
}

// threads reads the threads, the failed thread first.
func (d *dump) threads() {
	all := array(d.streams[threadStream], 48, maxThreads)
	slices.SortStableFunc(all, func(a, b []byte) int {
		later := func(t []byte) int {
			if d.failed && u32(t, 0) == d.asked {
				return 0
			}
			return 1
		}
		return later(a) - later(b)
	})
	for _, b := range all {
		id := u32(b, 0)
		t := unwind.Thread{ID: uint64(id), Name: d.names[id]}
		context := d.location(b, 40)
		if d.failed && id == d.asked {
			t.Crashed = d.context != nil
			if t.Crashed {
				context = d.context
			}
		}
		t.Silent = !d.registers(context, &t.Registers) || d.wrote && id == d.writer
		t.Stack = d.stack(u64(b, 24), d.location(b, 32), &t.Registers)
		d.process.Threads = append(d.process.Threads, t)
	}
}

// stack is the memory of a thread's stack: what its record has, or else the memory at its stack pointer. An exception may have
// happened on another stack than the thread's own.
func (d *dump) stack(start uint64, bytes []byte, r *unwind.Registers) unwind.Piece {
	own := unwind.Piece{Start: start, Bytes: bytes}
	if len(bytes) == 0 || start+uint64(len(bytes)) < start {
		own = d.process.Memory.At(start)
	}
	if d.process.Arch == nil {
		return own
	}
	sp, _ := r.Get(d.process.Arch.SP)
	if _, in := own.Read(sp, 8); in {
		return own
	}
	if other := d.process.Memory.At(sp); len(other.Bytes) > 0 {
		return other
	}
	return own
}

// note adds a line to the rendering's head.
func (d *dump) note(key, value string) {
	if value = strings.TrimSpace(value); value != "" && len(d.notes) < maxNotes {
		d.notes = append(d.notes, key+": "+scan.OneLine(value))
	}
}
