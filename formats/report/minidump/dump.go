package minidump

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf16"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// minidump is a crash as Breakpad and Crashpad write it: streams of structures,
// little endian, at offsets (Microsoft's minidumpapiset.h, with Breakpad's additions). The reader takes
// the list of modules, and of each thread its registers and the memory of its
// stack. Frames are the place where the thread stood, and the places that its chain of frame
// pointers leads to; nothing is guessed from the rest of the stack. A stackwalker that
// reads unwinding information finds more: its JSON is a format of its own.
type minidump struct {
	b       []byte
	system  uint32
	arch    string
	modules []dumpModule // ascending by base
	names   map[uint32]string
	crashed uint32
	context []byte // of the crashed thread, as the exception's record has it
	texts   int    // bytes of strings that were read
}

type dumpModule struct {
	base, size uint64
	path, id   string // id: as artifacts are called
	kind       symbol.Kind
}

func minidumpBegins(head []byte) bool { return bytes.HasPrefix(head, []byte("MDMP")) }

// The numbers of streams, processors and systems.
const (
	threadStream    = 3
	moduleStream    = 4
	exceptionStream = 6
	systemStream    = 7
	nameStream      = 24

	systemWindows = 2
	systemMac     = 0x8101
	systemIOS     = 0x8102
	systemAndroid = 0x8203

	maxModules = 1 << 14
	maxThreads = 1 << 14
	maxWalk    = 1 << 10 // frames of a thread
)

// at is n bytes at off; nil if they are not all there.
func (d *minidump) at(off, n uint64) []byte {
	if off > uint64(len(d.b)) || n > uint64(len(d.b))-off {
		return nil
	}
	return d.b[off : off+n]
}

// array is the elements of size bytes each behind a count at the beginning of a stream.
func array(stream []byte, size, most int) [][]byte {
	if len(stream) < 4 {
		return nil
	}
	n := int(min(binary.LittleEndian.Uint32(stream), uint32(most)))
	rest := stream[4:]
	if len(rest) == n*size+4 { // the array is aligned to 8
		rest = rest[4:]
	}
	var all [][]byte
	for ; n > 0 && len(rest) >= size; n-- {
		all = append(all, rest[:size])
		rest = rest[size:]
	}
	return all
}

// text is a counted string of UTF-16.
func (d *minidump) text(off uint32) string {
	size := d.at(uint64(off), 4)
	if size == nil {
		return ""
	}
	raw := d.at(uint64(off)+4, uint64(min(binary.LittleEndian.Uint32(size), report.MaxLineBytes)))
	if d.texts += len(raw); d.texts > 2*len(d.b) { // strings that lie over one another
		return ""
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(raw[2*i:])
	}
	return scan.OneLine(string(utf16.Decode(units)))
}

// readMinidump makes a stack of a dump; nil if it is none, or has no threads.
func readMinidump(b []byte, o report.Options) *report.Report {
	d := &minidump{b: b, names: map[uint32]string{}}
	head := d.at(0, 32)
	if head == nil {
		return nil
	}
	le := binary.LittleEndian
	streams := map[uint32][]byte{}
	for i := range min(uint64(le.Uint32(head[8:])), 1<<10) {
		e := d.at(uint64(le.Uint32(head[12:]))+12*i, 12)
		if e == nil {
			return nil
		}
		kind := le.Uint32(e)
		if s := d.at(uint64(le.Uint32(e[8:])), uint64(le.Uint32(e[4:]))); s != nil && streams[kind] == nil {
			streams[kind] = s
		}
	}
	d.readSystem(streams[systemStream])
	for _, m := range array(streams[moduleStream], 108, maxModules) {
		d.module(m)
	}
	slices.SortStableFunc(d.modules, func(a, b dumpModule) int {
		if a.base < b.base {
			return -1
		}
		return 1
	})
	for _, n := range array(streams[nameStream], 12, maxThreads) {
		if at := le.Uint64(n[4:]); at < 1<<32 {
			d.names[le.Uint32(n)] = d.text(uint32(at))
		}
	}
	if e := streams[exceptionStream]; len(e) >= 168 {
		d.crashed = le.Uint32(e)
		d.context = d.at(uint64(le.Uint32(e[164:])), uint64(le.Uint32(e[160:])))
	}
	return d.stack(array(streams[threadStream], 48, maxThreads), o)
}

func (d *minidump) readSystem(b []byte) {
	if len(b) < 24 {
		return
	}
	switch binary.LittleEndian.Uint16(b) {
	case 0:
		d.arch = "x86"
	case 5:
		d.arch = "arm"
	case 9:
		d.arch = "x86_64"
	case 12, 0x8003:
		d.arch = "arm64"
	}
	d.system = binary.LittleEndian.Uint32(b[20:])
}

// module takes an entry of the list of modules.
func (d *minidump) module(b []byte) {
	le := binary.LittleEndian
	m := dumpModule{base: le.Uint64(b), size: uint64(le.Uint32(b[8:])), path: d.text(le.Uint32(b[20:])), kind: symbol.ELF}
	if d.system == systemMac || d.system == systemIOS {
		m.kind = symbol.MachO
	} else if d.system == systemWindows {
		m.kind = symbol.PE
	}
	record := d.at(uint64(le.Uint32(b[80:])), uint64(min(le.Uint32(b[76:]), report.MaxLineBytes)))
	switch {
	case len(record) >= 24 && string(record[:4]) == "RSDS":
		id := record[4:20]
		m.id = fmt.Sprintf("%08x-%04x-%04x-%x-%x", le.Uint32(id), le.Uint16(id[4:]), le.Uint16(id[6:]), id[8:10], id[10:])
	case len(record) > 4 && len(record) <= 4+64 && string(record[:4]) == "LEpB": // 'BpEL'
		m.id = hex.EncodeToString(record[4:])
	}
	if m.size > 0 {
		d.modules = append(d.modules, m)
	}
}

// moduleAt is the module that holds an address, nil if none does.
func (d *minidump) moduleAt(addr uint64) *dumpModule {
	i := sort.Search(len(d.modules), func(i int) bool { return d.modules[i].base > addr }) - 1
	if i < 0 || addr-d.modules[i].base >= d.modules[i].size {
		return nil
	}
	return &d.modules[i]
}

// registers are the two that a walk begins with.
func (d *minidump) registers(context []byte) (pc, fp uint64, ok bool) {
	le := binary.LittleEndian
	wide := func(at int) uint64 { return le.Uint64(context[at:]) }
	switch {
	case d.arch == "x86_64" && len(context) >= 0x100:
		return wide(0xf8), wide(0xa0), true
	case d.arch == "arm64" && len(context) >= 0x110:
		return wide(264), wide(240), true
	case d.arch == "x86" && len(context) >= 0xbc:
		return uint64(le.Uint32(context[0xb8:])), uint64(le.Uint32(context[0xb4:])), true
	case d.arch == "arm" && len(context) >= 0x44: // frames are not chained alike by all compilers
		return uint64(le.Uint32(context[64:])), 0, true
	}
	return 0, 0, false
}

// walk is where a thread stands and, as far as its frame pointers lead, where it returns to.
func (d *minidump) walk(context, memory []byte, start uint64) []uint64 {
	pc, fp, ok := d.registers(context)
	if !ok {
		return nil
	}
	frames := []uint64{pc}
	word := uint64(8)
	if d.arch == "x86" {
		word = 4
	}
	read := func(at uint64) uint64 {
		if word == 4 {
			return uint64(binary.LittleEndian.Uint32(memory[at:]))
		}
		return binary.LittleEndian.Uint64(memory[at:])
	}
	for fp != 0 && fp%word == 0 && len(frames) < maxWalk {
		at := fp - start
		if fp < start || uint64(len(memory)) < 2*word || at > uint64(len(memory))-2*word {
			break
		}
		next, back := read(at), read(at+word)
		if d.moduleAt(report.Strip(d.arch, back)) == nil {
			break
		}
		frames = append(frames, back)
		if next <= fp { // the stack grows down
			break
		}
		fp = next
	}
	return frames
}

// stack renders the threads, the crashed one first.
func (d *minidump) stack(threads [][]byte, o report.Options) *report.Report {
	le := binary.LittleEndian
	s := &report.Report{Form: minidumpFile, Arch: d.arch}
	var text bytes.Buffer
	fmt.Fprintf(&text, "Minidump: %s, %d modules, %d threads\n", cmp.Or(d.arch, "an unknown processor"), len(d.modules), len(threads))
	slices.SortStableFunc(threads, func(a, b []byte) int {
		crashed := func(t []byte) int {
			if d.context != nil && le.Uint32(t) == d.crashed {
				return 0
			}
			return 1
		}
		return crashed(a) - crashed(b)
	})
	kind := o.Frame0
	if kind == report.AsFormat {
		kind = report.Exact
	}
	total := 0
	for _, t := range threads {
		id := le.Uint32(t)
		context := d.at(uint64(le.Uint32(t[44:])), uint64(le.Uint32(t[40:])))
		mark := ""
		if d.context != nil && id == d.crashed {
			context, mark = d.context, " (crashed)"
		}
		memory := d.at(uint64(le.Uint32(t[36:])), uint64(le.Uint32(t[32:])))
		out := report.Thread{ID: uint64(id), Name: d.names[id], Crashed: mark != ""}
		fmt.Fprintf(&text, "\nThread %d%s%s\n", id, strings.TrimRight(" "+out.Name, " "), mark)
		pcs := d.walk(context, memory, le.Uint64(t[24:]))
		for i, pc := range pcs {
			if total++; total > report.MaxDocumentFrames || !o.Takes(report.FrameRoom) {
				s.LeaveOut(len(pcs) - i)
				break
			}
			out.Frames = append(out.Frames, d.frame(&text, i, pc, kind, &o))
		}
		s.AddThread(out)
	}
	if len(s.Threads) == 0 {
		return nil
	}
	text.WriteString("\nModules:\n")
	for _, m := range d.modules {
		fmt.Fprintf(&text, "%#x - %#x %s <%s> %s\n", m.base, m.base+m.size-1, scan.Base([]byte(m.path)), m.id, m.path)
	}
	s.Text = text.Bytes()
	return s
}

// frame writes a line and says what it means.
func (d *minidump) frame(text *bytes.Buffer, i int, pc uint64, kind report.Frame0, o *report.Options) report.Frame {
	f := report.Frame{Raw: pc, Arch: d.arch, Layout: report.Layout{Indent: 4}}
	fmt.Fprintf(text, "%2d  ", i)
	f.Span[0] = text.Len() - 4
	value := report.Strip(d.arch, pc)
	if kind == report.Return || kind == report.Exact && i > 0 {
		value = report.Step(d.arch, value)
	}
	m := d.moduleAt(value)
	if m == nil {
		fmt.Fprintf(text, "%#x", pc)
		f.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: report.Nowhere}
	} else {
		f.File, f.Kind = m.path, m.kind
		if m.id != "" {
			f.Image = append(f.Image, m.id)
		}
		name := m.path[strings.LastIndexByte(m.path, '/')+1:]
		if len(name) > 0 {
			f.Image = append(f.Image, name)
		}
		f.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: m.base}
		if o.Takes(2 * len(name)) {
			fmt.Fprintf(text, "%s + %#x", name, pc-m.base)
		}
	}
	f.Span[1] = text.Len()
	text.WriteByte('\n')
	return f
}
