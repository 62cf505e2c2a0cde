package minidump

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/unwind"
)

// maker builds a dump: streams in their order, each at a multiple of 8 bytes.
type maker struct {
	b       []byte
	streams [][3]uint32 // kind, size, offset
}

func newMaker() *maker { return &maker{b: make([]byte, 32)} }

func (d *maker) put(b []byte) (at uint32) {
	for len(d.b)%8 != 0 {
		d.b = append(d.b, 0)
	}
	at = uint32(len(d.b))
	d.b = append(d.b, b...)
	return at
}

// link is where bytes are, as a size and an offset.
func (d *maker) link(b []byte) []byte { return pack(uint32(len(b)), d.put(b)) }

func (d *maker) text(s string) uint32 {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return d.put(append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...))
}

func (d *maker) narrow(s string) uint32 { return d.put(append(pack(uint32(len(s))), s...)) }

func (d *maker) stream(kind uint32, values ...any) {
	b := pack(values...)
	d.streams = append(d.streams, [3]uint32{kind, uint32(len(b)), d.put(b)})
}

func (d *maker) system(arch uint16, system uint32) {
	d.stream(systemStream, arch, make([]byte, 18), system, make([]byte, 32))
}

// module is an entry of the list.
func (d *maker) module(base uint64, size, stamp uint32, path string, record []byte) []byte {
	return pack(base, size, uint32(0), stamp, d.text(path), make([]byte, 52), d.link(record), make([]byte, 24))
}

func (d *maker) thread(id uint32, start uint64, memory, context []byte) []byte {
	return pack(id, make([]byte, 20), start, d.link(memory), d.link(context))
}

// list is a stream of elements with a count before them.
func (d *maker) list(kind uint32, all ...[]byte) {
	d.stream(kind, uint32(len(all)), bytes.Join(all, nil))
}

func (d *maker) bytes() []byte {
	var directory []byte
	for _, s := range d.streams {
		directory = append(directory, pack(s[0], s[1], s[2])...)
	}
	at := d.put(directory)
	copy(d.b, pack([]byte("MDMP"), uint32(0xa793), uint32(len(d.streams)), at))
	return d.b
}

func pack(values ...any) []byte {
	var b bytes.Buffer
	for _, v := range values {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

// contextOf is a context of some bytes with registers at their places.
func contextOf(size int, registers map[int]uint64, word int) []byte {
	b := make([]byte, size)
	for at, v := range registers {
		if word == 4 {
			binary.LittleEndian.PutUint32(b[at:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(b[at:], v)
		}
	}
	return b
}

const (
	codeAt  = 0x40000000
	stackAt = 0x7f000000
)

// TestArchitectures: each context has its registers at the places that the headers of Breakpad and Windows say.
func TestArchitectures(t *testing.T) {
	const s, c = stackAt, codeAt
	for _, test := range []struct {
		name    string
		number  uint16
		system  uint32
		word    int
		context []byte
		stack   []uint64
		want    string
	}{
		{"x86", 0, systemWindows, 4, contextOf(716, map[int]uint64{0xb8: c + 0x10, 0xb4: s + 8, 0xc4: s}, 4), []uint64{1, 2, 0, c + 0x21},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x21 (fp)\n"},
		{"x86_64", 9, 0x8201, 8, contextOf(1232, map[int]uint64{0xf8: c + 0x10, 0xa0: s, 0x98: s}, 8), []uint64{s + 0x20, c + 0x21, 0, 0, 0, 0},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x21 (fp)\n"},
		{"arm", 5, 0x8203, 4, contextOf(368, map[int]uint64{4 + 4*15: c + 0x10, 4 + 4*13: s}, 4), []uint64{1, c + 0x21, 0},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x21 (scan)\n"},
		{"arm of iOS", 5, systemIOS, 4, contextOf(368, map[int]uint64{4 + 4*15: c + 0x10, 4 + 4*13: s, 4 + 4*7: s + 4}, 4), []uint64{1, 0, c + 0x21},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x21 (fp)\n"},
		{"arm64", 12, systemMac, 8, contextOf(912, map[int]uint64{0: 0x400002, 8 + 8*32: c + 0x10, 8 + 8*31: s, 8 + 8*29: s + 16}, 8), []uint64{1, 2, 0, 0x7a<<48 | c + 0x24},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x24 (fp)\n"},
		{"arm64 of old Breakpad", 0x8003, 0x8203, 8, contextOf(796, map[int]uint64{0: 0x80000006, 264: c + 0x10, 256: s, 240: s + 16}, 8), []uint64{1, 2, 0, c + 0x24},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x24 (fp)\n"},
		{"riscv64", 0x8006, 0x8201, 8, contextOf(792, map[int]uint64{8: c + 0x10, 24: s, 72: s + 16}, 8), []uint64{s + 16, c + 0x24, 0},
			" 0  app.exe + 0x10 (context)\n 1  app.exe + 0x24 (fp)\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := newMaker()
			d.system(test.number, test.system)
			d.list(moduleStream, d.module(codeAt, 0x1000, 0x5eadbeef, `C:\app.exe`, nil))
			var memory []byte
			for _, v := range test.stack {
				if test.word == 4 {
					memory = binary.LittleEndian.AppendUint32(memory, uint32(v))
				} else {
					memory = binary.LittleEndian.AppendUint64(memory, v)
				}
			}
			d.list(threadStream, d.thread(5, stackAt, memory, test.context))
			r := readMinidump(d.bytes(), report.Options{})
			if r == nil {
				t.Fatal("not read")
			}
			if want := "\nThread 5\n" + test.want + "\nModules:"; !strings.Contains(string(r.Text), want) {
				t.Errorf("got %s\nwant %s", r.Text, want)
			}
		})
	}
}

// intel is a context of x86-64 with the registers that a walk needs.
func intel(pc, sp, bp uint64) []byte {
	return contextOf(1232, map[int]uint64{0xf8: pc, 0x98: sp, 0xa0: bp}, 8)
}

func TestStreams(t *testing.T) {
	d := newMaker()
	d.system(9, systemWindows)
	guid := []byte{0x4d, 0x3c, 0x2b, 0x1a, 0x6f, 0x5e, 0x81, 0x70, 1, 2, 3, 4, 5, 6, 7, 8}
	d.list(moduleStream,
		d.module(codeAt+0x10000, 0x2000, 0x5e000001, `C:\Windows\kernel32.dll`, append([]byte("RSDS"), append(guid, append(pack(uint32(0x2a)), "k.pdb\x00"...)...)...)),
		d.module(codeAt, 0x1000, 0x5eadbeef, `C:\app.exe`, pack([]byte("NB10"), uint32(0), uint32(0x3a1b2c3d), uint32(3), []byte("a.pdb\x00"))))
	d.stream(unloadedStream, uint32(12), uint32(24), uint32(1), uint64(0x50000000), uint32(0x1000), uint32(0), uint32(0x5f000000), d.text(`C:\plugin.dll`))
	exception := d.link(intel(codeAt+0x40, stackAt+0x10, 0))
	memory := pack(uint64(0), uint64(0), uint64(0), uint64(0x50000101), uint64(0), uint64(codeAt+0x10021), uint64(0))
	d.stream(exceptionStream, uint32(7), uint32(0), uint32(0xc0000005), uint32(0), uint64(0), uint64(0xdead), make([]byte, 128), exception)
	d.list(threadStream, d.thread(6, stackAt, nil, intel(codeAt+0x10, stackAt+0x10, 0)), d.thread(7, stackAt, nil, intel(1, 2, 3)), d.thread(8, 0, nil, intel(codeAt+0x99, 0, 0)))
	d.list(memoryStream, pack(uint64(stackAt), d.link(memory)))
	d.stream(nameStream, uint32(1), uint32(7), uint64(d.text("render")))
	d.stream(breakpadStream, uint32(3), uint32(8), uint32(6))
	words := func(s string) []byte {
		b := make([]byte, 256)
		for i, u := range utf16.Encode([]rune(s)) {
			binary.LittleEndian.PutUint16(b[2*i:], u)
		}
		return b
	}
	d.stream(assertionStream, words("x > 0"), words("f()"), words("a.cc"), uint32(12), uint32(1))
	d.stream(miscStream, uint32(24), uint32(1), uint32(4242), make([]byte, 12))
	d.stream(cmdlineStream, []byte("app\x00--game\x00"))
	dictionary := d.link(pack(uint32(1), d.narrow("build"), d.narrow("1.2")))
	info := d.link(pack(uint32(1), d.link(pack(uint32(1), d.narrow("heap is full"))), d.link(pack(uint32(1), d.narrow("gpu"), d.narrow("none"))),
		d.link(pack(uint32(1), d.narrow("tag"), uint16(1), uint16(0), d.narrow("red")))))
	d.stream(crashpadStream, uint32(1), make([]byte, 32), dictionary, d.link(pack(uint32(1), uint32(1), info)))
	r := readMinidump(d.bytes(), report.Options{})
	if r == nil {
		t.Fatal("not read")
	}
	const want = `Minidump: x86_64, 2 modules, 3 threads
Exception: code 0xc0000005 at 0xdead
Assertion: x > 0 in f() (a.cc:12)
Process: 4242
Command: app --game
Annotation: build = 1.2
Annotation of app.exe: heap is full
Annotation of app.exe: gpu = none
Annotation of app.exe: tag = red

Thread 7 render (crashed)
 0  app.exe + 0x40 (context)
 1  kernel32.dll + 0x21 (scan)

Thread 6
 0  app.exe + 0x10 (context)
 1  kernel32.dll + 0x21 (scan)

Thread 8

Modules:
0x40000000 - 0x40000fff app.exe <3A1B2C3D3> C:\app.exe
0x40010000 - 0x40011fff kernel32.dll <1a2b3c4d-5e6f-7081-0102-030405060708-2a> C:\Windows\kernel32.dll
`
	if string(r.Text) != want {
		t.Errorf("got\n%s", r.Text)
	}
	p := r.Walk.Process
	if u := p.UnloadedAt(0x50000101); u == nil || u.Path != `C:\plugin.dll` || u.IDs[0] != "5F0000001000" {
		t.Errorf("%+v", u)
	}
	if ids := fmt.Sprint(p.Modules[0].IDs, p.Modules[1].IDs); ids != "[3A1B2C3D3 5EADBEEF1000] [1a2b3c4d-5e6f-7081-0102-030405060708-2a 5E0000012000]" {
		t.Error(ids)
	}
	if f := r.Threads[0].Frames[1]; f.Trust != unwind.Scan || f.Kind != "pe" {
		t.Errorf("%+v", f)
	}
}

// TestUnloaded: a frame in a module that was unloaded names it.
func TestUnloaded(t *testing.T) {
	d := newMaker()
	d.system(9, systemWindows)
	d.stream(unloadedStream, uint32(12), uint32(24), uint32(1), uint64(codeAt), uint32(0x1000), uint32(0), uint32(0x5f000000), d.text(`C:\plugin.dll`))
	d.list(threadStream, d.thread(6, stackAt, nil, intel(codeAt+0x10, stackAt, 0)))
	r := readMinidump(d.bytes(), report.Options{})
	if r == nil || !strings.Contains(string(r.Text), " 0  plugin.dll + 0x10 (context)\n") || r.Threads[0].Frames[0].Image[1] != "plugin.dll" {
		t.Fatalf("%+v", r)
	}
}

// TestMaps: a dump without modules has the modules of Linux' maps.
func TestMaps(t *testing.T) {
	d := newMaker()
	d.system(9, 0x8201)
	d.stream(mapsStream, []byte("40000000-40001000 r--p 00000000 08:01 7 /lib/a b.so\n40001000-40003000 r-xp 00001000 08:01 7 /lib/a b.so\n7ff0-7ff1 rw-p 0 0:0 0 [stack]\nrubbish\n5-4 r-xp 0 0 0 /x\n"))
	d.list(threadStream, d.thread(6, stackAt, nil, intel(codeAt+0x1010, stackAt, 0)))
	r := readMinidump(d.bytes(), report.Options{})
	if r == nil || !strings.Contains(string(r.Text), " 0  a b.so + 0x1010 (context)\n") || len(r.Walk.Process.Modules) != 1 {
		t.Fatalf("%+v", r)
	}
}

// longDump is a dump with full memory. Its stack lies behind the bytes that a document may have.
func longDump() []byte {
	d := newMaker()
	d.system(9, systemWindows)
	d.list(moduleStream, d.module(codeAt, 0x1000, 1, `C:\app.exe`, nil))
	d.list(threadStream, d.thread(6, stackAt, nil, intel(codeAt+0x10, stackAt, 0)))
	const before = 40 << 20
	stack := pack(uint64(1), uint64(codeAt+0x21), uint64(0))
	d.stream(memory64Stream, uint64(2), uint64(1<<12), uint64(0x10000), uint64(before), uint64(stackAt), uint64(len(stack)))
	b := append(d.bytes(), make([]byte, 1<<12+before-len(d.b))...)
	return append(b, stack...)
}

func TestLong(t *testing.T) {
	var all []*report.Report
	b := longDump()
	for _, input := range [][]byte{b, b[:len(b)-3]} {
		all = nil
		if err := report.Split(context.Background(), bytes.NewReader(input), []report.Dialect{Dialect}, report.Options{}, func(r *report.Report) error {
			all = append(all, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(all) != 1 || !strings.Contains(string(all[0].Text), " 0  app.exe + 0x10 (context)\n 1  app.exe + 0x21 (scan)\n") {
			t.Errorf("%d reports: %.300s", len(all), all[0].Text)
		}
	}
}

// TestLate: a long dump that has its threads behind its memory says so, and its bytes are no text.
func TestLate(t *testing.T) {
	d := newMaker()
	d.put(make([]byte, report.MaxDocumentBytes))
	d.system(9, systemWindows)
	d.list(threadStream, d.thread(6, stackAt, nil, intel(codeAt+0x10, stackAt, 0)))
	b := d.bytes()
	at := d.put(make([]byte, 64)) // the directory stands in the beginning
	copy(b[64:], b[u32(b, 12):at])
	copy(b[12:], pack(uint32(64)))
	var out bytes.Buffer
	if err := report.Split(context.Background(), bytes.NewReader(b), []report.Dialect{Dialect}, report.Options{}, func(r *report.Report) error {
		out.Write(r.Text)
		return nil
	}); err != nil || out.String() != noThreads {
		t.Errorf("%.100q, %v", out.String(), err)
	}
}

// TestHostile: counts and offsets that lie give less, and no more memory than the file has.
func TestHostile(t *testing.T) {
	d := newMaker()
	d.system(9, systemWindows)
	d.list(moduleStream, d.module(codeAt, 0x1000, 1, `C:\app.exe`, nil))
	d.list(threadStream, d.thread(6, stackAt, bytes.Repeat(pack(uint64(stackAt), uint64(codeAt+0x21)), 512), intel(codeAt+0x10, stackAt, stackAt)))
	d.stream(memory64Stream, ^uint64(0), ^uint64(0)-3, ^uint64(0), ^uint64(0))
	d.stream(unloadedStream, uint32(12), uint32(0), ^uint32(0))
	d.stream(nameStream, ^uint32(0), uint32(6), uint64(8))
	d.stream(crashpadStream, uint32(1), make([]byte, 32), uint32(64), uint32(32), ^uint32(0), uint32(32))
	d.stream(mapsStream, bytes.Repeat([]byte("0-1 r 0 0 0 /a\n1-2 r 0 0 0 /b\n"), 9000))
	b := d.bytes()
	if r := readMinidump(b, report.Options{}); r == nil || len(r.Threads[0].Frames) > unwind.MaxFrames {
		t.Error("not read")
	}
	for n := 0; n < len(b); n += 97 {
		readMinidump(b[:n], report.Options{})
		if _, err := readLong(b[:n], bytes.NewReader(b[n:]), report.Options{}); err != nil {
			t.Fatal(err)
		}
	}
}

func FuzzMinidump(f *testing.F) {
	for _, arch := range []uint16{0, 5, 9, 12, 0x8006} {
		d := newMaker()
		d.system(arch, systemWindows)
		d.list(moduleStream, d.module(codeAt, 0x1000, 1, `C:\app.exe`, []byte("LEpB12345678")))
		d.list(threadStream, d.thread(6, stackAt, bytes.Repeat(pack(uint64(stackAt), uint64(codeAt+0x21)), 8), bytes.Repeat(pack(uint64(stackAt)), 154)))
		d.stream(breakpadStream, uint32(3), uint32(8), uint32(6))
		d.stream(memory64Stream, uint64(1), uint64(32), uint64(stackAt), uint64(64))
		d.stream(unloadedStream, uint32(12), uint32(24), uint32(1), uint64(codeAt), uint32(0x1000), uint32(0), uint32(0x5f000000), d.text(`C:\plugin.dll`))
		d.stream(crashpadStream, uint32(1), make([]byte, 32), d.link(pack(uint32(1), d.narrow("a"), d.narrow("b"))), d.link(pack(uint32(1), uint32(0), d.link(make([]byte, 28)))))
		f.Add(d.bytes(), uint16(40))
	}
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		r := readMinidump(b, report.Options{})
		if r != nil {
			for _, th := range r.Threads {
				for _, frame := range th.Frames {
					if frame.Span[0] < 0 || frame.Span[1] > len(r.Text) || frame.Span[0] > frame.Span[1] {
						t.Fatalf("span %v of %d bytes", frame.Span, len(r.Text))
					}
				}
			}
			if err := report.Print(io.Discard, r, nil); err != nil {
				t.Fatal(err)
			}
		}
		n := min(int(cut), len(b))
		if _, err := readLong(b[:n:n], bytes.NewReader(b[n:]), report.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}
