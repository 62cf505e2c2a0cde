package macho

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/unwind"
)

// Each row of __debug_frame and __eh_frame is as llvm-dwarfdump prints it. SYMLAKE_FRAMES names more files.
func TestFrames(t *testing.T) {
	paths := []string{formattest.Testdata(t, "macho/libgame.dylib.dSYM/Contents/Resources/DWARF/libgame.dylib"), formattest.Testdata(t, "macho/frames/x64-omit.dylib")}
	for _, p := range append(paths, strings.Fields(os.Getenv("SYMLAKE_FRAMES"))...) {
		obj := formattest.Open(t, &Format, formattest.Input(t, p))
		n := formattest.Frames(t, &Format, &obj.Artifacts[0], p)
		t.Logf("%s: %d rows", p, n)
	}
}

// Behind its first instructions a function has the rules of its last row in DWARF.
func TestCompactFrames(t *testing.T) {
	for _, name := range []string{"x64", "x64-omit", "arm64"} {
		lib := formattest.Testdata(t, "macho/frames/"+name+".dylib")
		rows, err := os.ReadFile(strings.TrimSuffix(lib, ".dylib") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		obj := formattest.Open(t, &Format, formattest.Input(t, lib))
		a := &obj.Artifacts[0]
		got := formattest.UnwindOf(t, &Format, a)
		n := 0
		for line := range strings.Lines(string(rows)) {
			addr, row, _ := strings.Cut(strings.TrimSpace(line), " ")
			at, err := strconv.ParseUint(addr, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			want := formattest.FrameRow(t, a.Arch, row)
			if n++; got.At(at-a.Base) != want && got.At(at-a.Base+24) != want {
				t.Errorf("%s at %#x: %s, want %s", name, at, got.Text(at-a.Base), row)
			}
		}
		if n < 6 {
			t.Errorf("%s: %d functions", name, n)
		}
	}
}

// A dSYM asks for its image, and gives what that has.
func TestImageCompanion(t *testing.T) {
	image := formattest.Fixture(t, "macho/symbolic/crash")
	whole := formattest.Open(t, &Format, formattest.Input(t, image))
	id := "image:" + whole.Artifacts[0].Canonical
	if strings.Join(whole.Companions, " ") != id {
		t.Errorf("companions %q, want %q", whole.Companions, id)
	}
	want := formattest.UnwindOf(t, &Format, &whole.Artifacts[0]).String()
	for _, c := range []struct{ image, want string }{{image, want}, {filepath.Join(filepath.Dir(image), "../samply/simple/main"), ""}, {"", ""}} {
		in := formattest.Input(t, image+".dSYM")
		in.Companion = func(_ context.Context, ref formats.Ref) (*formats.Input, error) {
			if ref.ID != id || c.image == "" {
				return nil, formats.ErrNoCompanion
			}
			return formattest.Input(t, c.image), nil
		}
		obj := formattest.Open(t, &Format, in)
		if got := formattest.UnwindOf(t, &Format, &obj.Artifacts[0]).String(); got != c.want {
			t.Errorf("with %q: %d bytes, want %d", c.image, len(got), len(c.want))
		}
	}
	if unwind.ArchOf(whole.Artifacts[0].Arch) == nil {
		t.Error("no processor")
	}
}
