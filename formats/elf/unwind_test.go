package elf

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/elffile"
)

// frameFiles are the own objects with call frame information, one for each processor and kind.
var frameFiles = []string{"elf/libgame-arm64-dw5.so", "elf/libgame-armv7-dw4.so", "elf/libgame-riscv64-dw5.so", "elf/libgame-x64-dw5.so",
	"elf/libgame-x86-dw4.so", "elf/twins/libgame.so", "elf/obj/engine-x64.o"}

// Each row of call frame information is as llvm-dwarfdump prints it. SYMLAKE_FRAMES names more files.
func TestFrames(t *testing.T) {
	var paths []string
	for _, n := range frameFiles {
		paths = append(paths, formattest.Testdata(t, n))
	}
	for _, p := range append(paths, strings.Fields(os.Getenv("SYMLAKE_FRAMES"))...) {
		obj := formattest.Open(t, &Format, formattest.Input(t, p))
		n := formattest.Frames(t, &Format, &obj.Artifacts[0], p)
		if t.Logf("%s: %d rows", p, n); n == 0 {
			t.Errorf("%s has no rows", p)
		}
	}
}

// A debug file without the bytes of .eh_frame takes them from its image: beside it, or by the image's id. Another build's image
// counts as none.
func TestImageCompanion(t *testing.T) {
	image, debug := formattest.Testdata(t, "elf/twins/libgame.so"), formattest.Testdata(t, "elf/twins/libgame.so.debug")
	other := formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	whole := formattest.Open(t, &Format, formattest.Input(t, image))
	id := "image:" + whole.Artifacts[0].Canonical
	if strings.Join(whole.Companions, " ") != id {
		t.Errorf("companions %q, want %q", whole.Companions, id)
	}
	want := formattest.UnwindOf(t, &Format, &whole.Artifacts[0]).String()
	for _, c := range []struct {
		ref   formats.Ref
		image string
		want  string
	}{
		{formats.Ref{Name: "libgame.so", Optional: true}, image, want},
		{formats.Ref{ID: id}, image, want},
		{formats.Ref{ID: id}, other, ""},
		{formats.Ref{ID: id}, debug, ""},
		{formats.Ref{}, "", ""},
	} {
		in := formattest.Input(t, debug)
		in.Companion = func(_ context.Context, ref formats.Ref) (*formats.Input, error) {
			if c.ref.ID != "" && ref.Name == "libgame.so" {
				return formattest.Input(t, other), nil // another build's lies beside it
			}
			if ref != c.ref {
				return nil, formats.ErrNoCompanion
			}
			return formattest.Input(t, c.image), nil
		}
		obj := formattest.Open(t, &Format, in)
		if got := formattest.UnwindOf(t, &Format, &obj.Artifacts[0]).String(); got != c.want || len(obj.Companions) != 0 {
			t.Errorf("%+v gives %s: %d bytes, want %d; companions %q", c.ref, c.image, len(got), len(c.want), obj.Companions)
		}
	}
}

// A file that has lost its section headers has the same call frame information.
func TestFramesWithoutHeaders(t *testing.T) {
	for _, n := range []string{"elf/twins/libgame.so", "elf/libgame-armv7-dw4.so"} {
		path := formattest.Testdata(t, n)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := formattest.Open(t, &Format, formattest.Input(t, path))
		want := formattest.UnwindOf(t, &Format, &whole.Artifacts[0])
		if b[4] == 2 {
			copy(b[0x28:0x30], make([]byte, 8)) // e_shoff
			copy(b[0x3c:0x40], make([]byte, 4)) // e_shnum, e_shstrndx
		} else {
			copy(b[0x20:0x24], make([]byte, 4))
			copy(b[0x30:0x34], make([]byte, 4))
		}
		file, err := elffile.Open(formattest.InputOf("x.so", b, formats.Limits{}))
		if err != nil {
			t.Fatal(err)
		}
		code, err := file.Code()
		if err != nil {
			t.Fatal(err)
		}
		o := &object{in: file.In, file: file, code: code}
		a := formats.Artifact{Artifact: whole.Artifacts[0].Artifact}
		if o.addUnwind(&a); a.Unwind == nil {
			t.Errorf("%s: none", n)
			continue
		}
		got := formattest.UnwindOf(t, &Format, &a)
		if len(got.Ranges) == 0 {
			t.Errorf("%s: no ranges", n)
		}
		for _, g := range got.Ranges {
			if w := want.At(g.Start); w != got.At(g.Start) && !strings.Contains(n, "armv7") {
				t.Errorf("%s at %#x: %s, want %s", n, g.Start, got.Text(g.Start), want.Text(g.Start))
			}
		}
	}
}
