package core

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/unwind"
)

// The kinds of notes.
const (
	noteStatus   = 1
	noteProcess  = 3
	noteVector   = 6
	noteSignal   = 0x53494749 // "SIGI"
	noteFiles    = 0x46494c45 // "FILE"
	vectorVDSO   = 33
	maxThreads   = 1 << 14
	maxNoteBytes = 64 << 20
)

// readNotes reads threads and mapped files; false: there are no threads.
func (c *core) readNotes() bool {
	for _, s := range c.notesAt {
		if s.size > maxNoteBytes {
			continue
		}
		eachNote(c.At(s.offset, s.size), func(name string, kind uint32, b []byte) {
			switch f := (fields{b, c.wide}); {
			case kind == noteStatus && name == "CORE" && len(c.process.Threads) < maxThreads:
				c.thread(f)
			case kind == noteProcess && name == "CORE":
				c.command(f)
			case kind == noteSignal && len(c.process.Threads) > 0:
				c.note("Signal", fmt.Sprintf("%d (code %d) at %#x", f.u32(0), int32(f.u32(8)), f.pick(12, 16)))
			case kind == noteFiles:
				c.mapped(f)
			case kind == noteVector:
				c.vector(f)
			}
		})
	}
	return len(c.process.Threads) > 0
}

// eachNote visits the notes of a segment.
func eachNote(b []byte, visit func(name string, kind uint32, desc []byte)) {
	for len(b) >= 12 {
		f := fields{b, false}
		name, desc := uint64(f.u32(0)), uint64(f.u32(4))
		padded := (name + 3) &^ 3
		if 12+padded+desc > uint64(len(b)) {
			return
		}
		visit(strings.TrimRight(string(b[12:12+name]), "\x00"), f.u32(8), b[12+padded:12+padded+desc])
		b = b[min(12+padded+(desc+3)&^3, uint64(len(b))):]
	}
}

// place says where a register stands among the words of a status: it is register by its number in DWARF.
type place struct{ word, register uint8 }

// inOrder are registers in the order of their words.
func inOrder(word, register, n uint8) (all []place) {
	for i := range n {
		all = append(all, place{word + i, register + i})
	}
	return all
}

// registers are where the registers stand in a status (elf_gregset_t), by architecture.
var registers = map[string][]place{
	"x86":     {{0, 3}, {1, 1}, {2, 2}, {3, 6}, {4, 7}, {5, 5}, {6, 0}, {12, 8}, {15, 4}},
	"x86_64":  {{0, 15}, {1, 14}, {2, 13}, {3, 12}, {4, 6}, {5, 3}, {6, 11}, {7, 10}, {8, 9}, {9, 8}, {10, 0}, {11, 2}, {12, 1}, {13, 4}, {14, 5}, {16, 16}, {19, 7}},
	"arm":     inOrder(0, 0, 16),
	"arm64":   inOrder(0, 0, 33),
	"riscv64": append([]place{{0, 32}}, inOrder(1, 1, 31)...),
}

// thread takes a status (struct elf_prstatus). The kernel writes the thread that failed first.
func (c *core) thread(f fields) {
	t := unwind.Thread{ID: uint64(f.u32(f.either(24, 32))), Crashed: len(c.process.Threads) == 0 && f.u16(12) != 0}
	from := f.either(72, 112)
	places := registers[c.process.Arch.Name]
	last := places[len(places)-1].word
	if len(f.b) < from+(int(last)+1)*c.process.Arch.Word {
		return
	}
	for _, p := range places {
		t.Registers.Set(p.register, f.word(from+int(p.word)*c.process.Arch.Word))
	}
	if t.Crashed {
		c.note("Signal of the thread", fmt.Sprint(f.u16(12)))
	}
	c.process.Threads = append(c.process.Threads, t)
}

// command notes the arguments (struct elf_prpsinfo).
func (c *core) command(f fields) {
	const length = 80
	if at := f.either(44, 56); len(f.b) >= at+length {
		text, _, _ := bytes.Cut(f.b[at:at+length], []byte{0})
		c.note("Command", string(text))
	}
}

// vector finds the kernel's own library among the pairs of the auxiliary vector.
func (c *core) vector(f fields) {
	for at := 0; at+2*c.process.Arch.Word <= len(f.b); at += 2 * c.process.Arch.Word {
		if f.word(at) == vectorVDSO {
			c.vdso = f.word(at + c.process.Arch.Word)
		}
	}
}

// note adds a line to the rendering's head.
func (c *core) note(key, value string) {
	if value = strings.TrimSpace(value); value != "" {
		c.notes = append(c.notes, key+": "+scan.OneLine(value))
	}
}
