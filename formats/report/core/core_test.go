package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
)

// toy is a core file in the making.
type toy struct {
	machine uint16
	wide    bool
	threads []map[int]uint64 // registers by word
	signal  uint16
	files   []mapping
	memory  []piece
	vdso    uint64
}

type piece struct {
	addr  uint64
	flags uint32
	bytes []byte
}

func (c *toy) word(b []byte, v uint64) []byte {
	if c.wide {
		return binary.LittleEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(v))
}

func note(name string, kind uint32, desc []byte) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, uint32(len(name)+1))
	b = le.AppendUint32(b, uint32(len(desc)))
	b = le.AppendUint32(b, kind)
	b = append(b, name...)
	b = append(b, make([]byte, (len(name)+4)&^3-len(name))...)
	b = append(b, desc...)
	return append(b, make([]byte, (len(desc)+3)&^3-len(desc))...)
}

// elf writes an ELF file of segments: a header, its program headers, the contents.
func (c *toy) elf(kind uint16, segments []piece, types []uint32) []byte {
	le := binary.LittleEndian
	head, entry := 52, 32
	if c.wide {
		head, entry = 64, 56
	}
	b := make([]byte, head)
	copy(b, "\x7fELF\x01\x01\x01")
	if c.wide {
		b[4] = 2
		le.PutUint64(b[32:], uint64(head))
		le.PutUint16(b[54:], uint16(entry))
		le.PutUint16(b[56:], uint16(len(segments)))
	} else {
		le.PutUint32(b[28:], uint32(head))
		le.PutUint16(b[42:], uint16(entry))
		le.PutUint16(b[44:], uint16(len(segments)))
	}
	le.PutUint16(b[16:], kind)
	le.PutUint16(b[18:], c.machine)
	at := uint64(head + entry*len(segments))
	for i, s := range segments {
		n := uint64(len(s.bytes))
		b = le.AppendUint32(b, types[i])
		if c.wide {
			b = le.AppendUint32(b, s.flags)
		}
		for _, v := range []uint64{at, s.addr, s.addr, n, n} {
			b = c.word(b, v)
		}
		if c.wide {
			b = le.AppendUint64(b, 1)
		} else {
			b = le.AppendUint32(le.AppendUint32(b, s.flags), 1)
		}
		at += n
	}
	for _, s := range segments {
		b = append(b, s.bytes...)
	}
	return b
}

func (c *toy) file() []byte {
	from, size, pid := 72, 148, 24
	if c.wide {
		from, size, pid = 112, 392, 32
	}
	var notes []byte
	for i, regs := range c.threads {
		status := make([]byte, size)
		if i == 0 {
			binary.LittleEndian.PutUint16(status[12:], c.signal)
		}
		binary.LittleEndian.PutUint32(status[pid:], uint32(100+i))
		for word, v := range regs {
			copy(status[from+word*len(c.word(nil, 0)):], c.word(nil, v))
		}
		notes = append(notes, note("CORE", noteStatus, status)...)
	}
	list := c.word(c.word(nil, uint64(len(c.files))), 4096)
	for _, f := range c.files {
		list = c.word(c.word(c.word(list, f.start), f.end), f.offset/4096)
	}
	for _, f := range c.files {
		list = append(append(list, f.path...), 0)
	}
	notes = append(notes, note("CORE", noteFiles, list)...)
	notes = append(notes, note("CORE", noteVector, c.word(c.word(nil, vectorVDSO), c.vdso))...)
	process := make([]byte, 136)
	at := 44
	if c.wide {
		at = 56
	}
	copy(process[at:], "shop --sale")
	notes = append(notes, note("CORE", noteProcess, process)...)
	segments, types := []piece{{bytes: notes}}, []uint32{segmentNote}
	for _, m := range c.memory {
		segments, types = append(segments, m), append(types, segmentLoad)
	}
	return c.elf(typeCore, segments, types)
}

const (
	codeAt  = 0x10000
	stackAt = 0x70000
)

// image is the first page of a library with a build-id.
func (c *toy) image() []byte {
	b := c.elf(3, []piece{{bytes: note("GNU", noteBuildID, []byte("12345678abcdefgh"))}}, []uint32{segmentNote})
	return append(b, make([]byte, 4096-len(b))...)
}

// shop is a process of two threads in one library: the first stands at 0x1100 in it, and its frame pointer leads to 0x1201.
func shop(machine uint16, wide bool, pc, sp, fp int) *toy {
	c := &toy{machine: machine, wide: wide, signal: 11}
	n := uint64(len(c.word(nil, 0)))
	c.threads = []map[int]uint64{{pc: codeAt + 0x1100, sp: stackAt, fp: stackAt + 2*n}, {pc: codeAt + 0x1300, sp: stackAt + 64*n}}
	stack := make([]byte, 0, 128*n)
	for i := range uint64(128) {
		v := map[uint64]uint64{2: stackAt + 16*n, 3: codeAt + 0x1201}[i]
		stack = c.word(stack, v)
	}
	c.files = []mapping{{codeAt, codeAt + 0x1000, 0, "/usr/lib/libshop.so"}, {codeAt + 0x1000, codeAt + 0x2000, 0x1000, "/usr/lib/libshop.so"},
		{0x40000, 0x41000, 0, "/usr/share/data"}}
	c.memory = []piece{{codeAt, 4, c.image()}, {codeAt + 0x1000, 5, nil}, {stackAt, 6, stack}}
	return c
}

var shops = map[string]*toy{
	"x86_64":  shop(62, true, 16, 19, 4),
	"x86":     shop(3, false, 12, 15, 5),
	"arm64":   shop(183, true, 32, 31, 29),
	"arm":     shop(40, false, 15, 13, 11),
	"riscv64": shop(243, true, 0, 2, 8),
}

func text(r *report.Report) string {
	if r == nil {
		return "no report"
	}
	return string(r.Text)
}

func TestArchitectures(t *testing.T) {
	for arch, c := range shops {
		r := read(c.file(), report.Options{})
		got := text(r)
		for _, want := range []string{"Core: " + arch + ", 1 modules, 2 threads\n", "Command: shop --sale\n", "Signal of the thread: 11\n",
			"\nThread 100 (crashed)\n 0  libshop.so + 0x1100 (context)\n", "\nThread 101\n 0  libshop.so + 0x1300 (context)\n",
			"0x10000 - 0x11fff libshop.so <31323334353637386162636465666768> /usr/lib/libshop.so\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", arch, want, got)
			}
		}
		if (arch == "x86_64" || arch == "x86") && !strings.Contains(got, " 1  libshop.so + 0x1201 (fp)\n") {
			t.Errorf("%s: the frame pointer leads nowhere:\n%s", arch, got)
		}
		if r != nil && (len(r.Threads[0].Frames) == 0 || r.Threads[0].Frames[0].Image[0] != "31323334353637386162636465666768") {
			t.Errorf("%s: %+v", arch, r.Threads[0])
		}
	}
}

// Of a file that is too long to be held, the stacks and the first pages of modules are kept.
func TestLong(t *testing.T) {
	c := *shops["x86_64"]
	c.memory = append([]piece{{0x1000, 6, make([]byte, 1<<16)}}, c.memory...)
	c.memory[2].addr += 1 // nothing stands at the code's own address
	b := c.file()
	want := text(read(b, report.Options{}))
	const head = 4 << 10
	r, err := readLong(b[:head:head], bytes.NewReader(b[head:]), report.Options{})
	if err != nil || text(r) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text(r), want)
	}
	if _, err := readLong(b[:head:head], io.MultiReader(bytes.NewReader(b[head:head+99]), failing{}), report.Options{}); err != io.ErrClosedPipe {
		t.Errorf("the reader's error became %v", err)
	}
}

// A long file with its notes behind the memory says that it cannot be read.
func TestNotesBehind(t *testing.T) {
	b := shops["x86_64"].file()
	const head = 64 + 4*56
	r, err := readLong(b[:head:head], bytes.NewReader(b[head:]), report.Options{})
	if err != nil || r == nil || len(r.Unread) != 1 || len(r.Threads) != 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Other files stay as they are.
func TestOthers(t *testing.T) {
	b := shops["x86_64"].file()
	for name, change := range map[string]func(b []byte){
		"a program":     func(b []byte) { b[16] = 2 },
		"big endian":    func(b []byte) { b[5] = 2 },
		"no processor":  func(b []byte) { b[18] = 21 },
		"another width": func(b []byte) { b[4] = 1 },
	} {
		other := bytes.Clone(b)
		change(other)
		if r := read(other, report.Options{}); r != nil {
			t.Errorf("%s: %s", name, text(r))
		}
	}
	for n := range 300 {
		read(b[:n], report.Options{})
	}
}

// The registers of each architecture have places of their own.
func TestRegisters(t *testing.T) {
	for arch, places := range registers {
		words, numbers := map[uint8]bool{}, map[uint8]bool{}
		for _, p := range places {
			if words[p.word] || numbers[p.register] {
				t.Errorf("%s: %+v stands twice", arch, p)
			}
			words[p.word], numbers[p.register] = true, true
		}
	}
	if len(registers) != len(architectures) {
		t.Error(fmt.Sprint(registers))
	}
}

func FuzzCore(f *testing.F) {
	for _, c := range shops {
		f.Add(c.file())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		read(b, report.Options{})
		half := len(b) / 2
		if _, err := readLong(b[:half:half], bytes.NewReader(b[half:]), report.Options{}); err != nil {
			t.Fatal(err)
		}
	})
}
