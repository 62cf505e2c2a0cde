package pe

import (
	"context"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// TestUnwind reads the rules of functions of our own at places in their prologs, bodies and epilogs.
func TestUnwind(t *testing.T) {
	for _, c := range []struct {
		file string
		pos  uint64
		want string
	}{
		{"x64-dw5", 0x1000, ".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rsi: $rsi $rdi: $rdi"},
		{"x64-dw5", 0x1064, ".cfa: $rsp 32 + .ra: .cfa -8 + ^ $rsi: .cfa -24 + ^ $rdi: .cfa -32 + ^ $r14: .cfa -16 + ^"},
		{"x64-dw5", 0x127d, ".cfa: $rbp 48 + .ra: .cfa -8 + ^ $rbx: .cfa -40 + ^ $rsi: .cfa -24 + ^ $rdi: .cfa -32 + ^ $rbp: .cfa -16 + ^"},
		{"arm64-dw5", 0x1044, ".cfa: $sp 48 + .ra: .cfa -8 + ^ $x19: .cfa -32 + ^ $x20: .cfa -24 + ^ $x21: .cfa -16 + ^"},
		{"arm64-dw5", 0x1154, ".cfa: $sp 16 + $x19: .cfa -16 + ^"},
		{"arm64-dw5", 0x1158, ".cfa: $sp 0 +"},
		{"arm-dw5", 0x109c, ".cfa: $sp 8 + .ra: .cfa -4 + ^ $r11: .cfa -8 + ^"},
		{"arm-dw5", 0x109e, ".cfa: $r11 8 + .ra: .cfa -4 + ^ $r11: .cfa -8 + ^"},
		{"arm-dw5", 0x1144, ".cfa: $sp 0 +"}, // behind the pop of an epilog that branches
		{"arm-dw5", 0x1160, ".cfa: $sp 16 + .ra: .cfa -4 + ^ $r4: .cfa -16 + ^ $r5: .cfa -12 + ^ $r11: .cfa -8 + ^"},
		{"x86-dw4", 0x1065, ".cfa: $esp 24 + .ra: .cfa -4 + ^ $ebx: .cfa -12 + ^ $ebp: .cfa -8 + ^ $esi: .cfa -20 + ^ $edi: .cfa -16 + ^"},
	} {
		obj := formattest.Open(t, &Format, formattest.Input(t, formattest.Testdata(t, "pe/libgame-"+c.file+".dll")))
		a := &obj.Artifacts[0]
		if got := formattest.UnwindOf(t, &Format, a).Text(c.pos); got != c.want {
			t.Errorf("%s %#x:\n%s, want\n%s", c.file, c.pos, got, c.want)
		}
		if len(obj.Companions) != 1 || obj.Companions[0] != "image:"+a.Canonical || !strings.HasSuffix(a.Canonical, "-1") {
			t.Errorf("%s: companions %q of %s", c.file, obj.Companions, a.Canonical)
		}
	}
}

// TestSeparate: an image and its debug file are one artifact, and the debug file takes the rules of functions from the image.
func TestSeparate(t *testing.T) {
	for _, dir := range []string{"separate", "separate-noid"} {
		image := formattest.Input(t, formattest.Testdata(t, "pe/"+dir+"/libgame.dll"))
		of := formattest.Open(t, &Format, image)
		debug := formattest.Input(t, formattest.Testdata(t, "pe/"+dir+"/libgame.dbg"))
		asked := 0
		debug.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
			asked++
			if len(of.Companions) != 1 || want.ID != of.Companions[0] {
				t.Errorf("%s: asked for %q, the image is %q", dir, want.ID, of.Companions)
			}
			return image, nil
		}
		obj := formattest.Open(t, &Format, debug)
		a, b := &of.Artifacts[0], &obj.Artifacts[0]
		if a.ID != b.ID || a.Table != b.Table || a.Table == [32]byte{} || b.Rank != symbol.RankDWARF {
			t.Errorf("%s: %s and %s, tables %x and %x", dir, a.Canonical, b.Canonical, a.Table, b.Table)
		}
		got, want := formattest.UnwindOf(t, &Format, b).String(), formattest.UnwindOf(t, &Format, a).String()
		if asked == 0 || got != want {
			t.Errorf("%s: the debug file has\n%s, want\n%s", dir, got, want)
		}
	}
}
