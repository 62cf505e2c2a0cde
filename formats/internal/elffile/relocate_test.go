package elffile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// assemble makes an x86-64 object of assembly text.
func assemble(t *testing.T, text string) string {
	t.Helper()
	clang := formattest.Tool(t, "clang-19", "apt-get install clang-19")
	src := filepath.Join(t.TempDir(), "a.s")
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, clang, "--target=x86_64-linux-gnu", "-c", src, "-o", src+".o")
	return src + ".o"
}

// TestRelocationPieces: places lie across the pieces in which a section is read.
func TestRelocationPieces(t *testing.T) {
	const n = 80000 // times 9 bytes
	var text strings.Builder
	text.WriteString(".text\n.zero 256\nf: ret\n.section .debug_info,\"\",@progbits\n")
	for i := range n {
		text.WriteString(".byte 7\n.quad f+" + strconv.Itoa(i) + "\n")
	}
	mapped := formattest.Input(t, assemble(t, text.String()))
	for _, in := range []*formats.Input{mapped, formattest.Unmapped(mapped)} {
		f, err := Open(in)
		if err != nil {
			t.Fatal(err)
		}
		b := contents(t, f, ".debug_info")
		if len(b) != 9*n {
			t.Fatalf("%d bytes", len(b))
		}
		for i := range n {
			if got := binary.LittleEndian.Uint64(b[9*i+1:]); b[9*i] != 7 || got != uint64(256+i) {
				t.Fatalf("place %d holds %#x after %d", i, got, b[9*i])
			}
		}
	}
}

// TestRelocationOrder: the order of entries changes nothing.
func TestRelocationOrder(t *testing.T) {
	path := formattest.Testdata(t, "elf/obj/engine-x64.o")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := openFile(t, path)
	want := contents(t, f, ".debug_line")
	b = slices.Clone(b)
	for i := range f.headers {
		h := &f.headers[i]
		if h.name != ".rela.debug_line" {
			continue
		}
		entries := slices.Collect(slices.Chunk(slices.Clone(b[h.off:h.off+h.size]), 24))
		if len(entries) < 3 {
			t.Fatalf("%d entries", len(entries))
		}
		slices.Reverse(entries)
		copy(b[h.off:], slices.Concat(entries...))
	}
	other, err := Open(formattest.InputOf("x.o", b, formats.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, other, ".debug_line"); !bytes.Equal(got, want) {
		t.Error("reversed entries give other bytes")
	}
}

// TestUndefined: what refers to code that is not here must not come to lie
// where other code is.
func TestUndefined(t *testing.T) {
	f := openFile(t, assemble(t, `
.section .debug_info,"",@progbits
.quad gone+16
.long gone+16
.section .debug_ranges,"",@progbits
.quad gone, gone+16
`))
	le := binary.LittleEndian
	if b := contents(t, f, ".debug_info"); le.Uint64(b) != ^uint64(0) || le.Uint32(b[8:]) != ^uint32(0) {
		t.Errorf("% x", b)
	}
	// -1 would be a base address there, and an empty range has no code.
	if b := contents(t, f, ".debug_ranges"); le.Uint64(b) != ^uint64(1) || le.Uint64(b[8:]) != ^uint64(1) {
		t.Errorf("% x", b)
	}
}

func TestUnknownRelocation(t *testing.T) {
	f := openFile(t, assemble(t, ".text\nf: ret\n.section .debug_info,\"\",@progbits\n.quad 0\n.reloc 0, R_X86_64_GOT32, f\n"))
	_, err := f.Section(".debug_info")
	if !errors.Is(err, formats.ErrUnsupported) || !strings.Contains(err.Error(), "x86_64") || !strings.Contains(err.Error(), "not 3") {
		t.Errorf("%v", err)
	}
}

// TestRelocationOutside: a place beyond the section is corrupt.
func TestRelocationOutside(t *testing.T) {
	path := assemble(t, ".text\nf: ret\n.section .debug_info,\"\",@progbits\n.quad f\n")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := openFile(t, path)
	for _, off := range []uint64{1, 8, 1 << 40} {
		for i := range f.headers {
			if h := &f.headers[i]; h.name == ".rela.debug_info" {
				binary.LittleEndian.PutUint64(b[h.off:], off)
			}
		}
		bad, err := Open(formattest.InputOf("x.o", b, formats.Limits{}))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bad.Section(".debug_info"); !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("place %#x: %v", off, err)
		}
	}
}
