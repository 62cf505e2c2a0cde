package pe

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

// exportsOf makes an export table of n names, all at the table's own place, with these counts in its header.
func exportsOf(count, named uint32) []byte {
	const at = tableAt
	b := words(0, 0, 0, at+0x30, 1, count, named, at+0x40, at+0x50, at+0x60)
	b = append(b, make([]byte, 0x80-len(b))...)
	copy(b[0x30:], "f\x00")
	for i := range 4 {
		binary.LittleEndian.PutUint32(b[0x40+4*i:], codeAt)
		binary.LittleEndian.PutUint32(b[0x50+4*i:], at+0x30)
	}
	return b
}

// TestHostile reads headers and tables that lie.
func TestHostile(t *testing.T) {
	text := piece{name: ".text", addr: codeAt, size: 0x1000, code: true, body: []byte("code")}
	export := map[int]pefile.Directory{pefile.DirExport: {Addr: tableAt, Size: 40}}
	table := func(count, named uint32) []byte {
		return imageOf(pefile.MachineX64, export, text, piece{name: ".edata", addr: tableAt, body: exportsOf(count, named)})
	}
	change := func(b []byte, at int, v uint32) []byte {
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	const file, optional = 64, 64 + 24
	for _, c := range []struct {
		name  string
		image []byte
		want  string // a part of the error; "": it is read
		found int    // names of functions
	}{
		{"sound", table(4, 1), "", 1},
		{"more names than there are", table(4, 1000), "", 0},
		{"absurd counts", table(1<<31, 1<<31), "at most", 0},
		{"sections over one another", imageOf(pefile.MachineX64, export, text, text, text, piece{name: ".edata", addr: tableAt, body: exportsOf(4, 1)}), "", 1},
		{"exports that are their own table", imageOf(pefile.MachineX64, map[int]pefile.Directory{pefile.DirExport: {Addr: codeAt, Size: 0x1000}}, text), "", 0},
		{"a section behind the file", change(table(4, 1), file+24+240+20, 1<<30), "of the file", 0},
		{"a section that wraps", change(table(4, 1), file+24+240+12, 0xfffffff0), "inside 4 GiB", 0},
		{"more symbols than the file has", change(change(table(4, 1), file+12, 64), file+16, 1<<24), "inside the file", 0},
		{"more symbols than the limit", change(change(table(4, 1), file+12, 64), file+16, 1<<31), "at most", 0},
		{"a base at the end", change(change(table(4, 1), optional+24, 0xffffffff), optional+28, 0xffffffff), "address space", 0},
		{"another optional header", change(table(4, 1), optional, 0x107), "0x10b", 0},
		{"no code", imageOf(pefile.MachineX64, nil, piece{name: ".rsrc", addr: codeAt, body: []byte("x")}), "", 0},
	} {
		_, obj, err := formats.Open(t.Context(), []*formats.Format{&Format}, formattest.InputOf("x.dll", c.image, formats.Limits{}))
		if c.want != "" {
			if !formats.Rejects(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		found := 0
		for i := range obj.Artifacts {
			_, err := obj.Artifacts[i].Explode(t.Context(), 0, func(*symbol.Run) error { found++; return nil })
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if found != c.found {
			t.Errorf("%s: %d names, want %d", c.name, found, c.found)
		}
	}
}

// TestHostileFrames: damage in a function's unwind information costs that function alone, and is named.
func TestHostileFrames(t *testing.T) {
	const at = tableAt + 24
	loop := words(codeAt, codeAt+0x100, at, codeAt+0x200, codeAt+0x300, at+0x10)
	sound := []byte{1, 4, 1, 0, 4, 0x42, 0, 0}
	for _, c := range []struct {
		name        string
		machine     uint16
		information []byte
		want        string
	}{
		{"a chain to itself", pefile.MachineX64, append(append([]byte{0x21, 0, 0, 0}, words(codeAt, codeAt+0x100, at)...), sound...), "at most 32 parts"},
		{"a kind that is none", pefile.MachineX64, append(append([]byte{1, 0, 1, 0, 0, 0x0f}, make([]byte, 10)...), sound...), "a known kind, not 15"},
		{"steps behind their table", pefile.MachineX64, append(append([]byte{1, 0, 1, 0, 0, 0x11}, make([]byte, 10)...), sound...), "inside their table"},
		{"a version that is none", pefile.MachineX64, append(append([]byte{7}, make([]byte, 15)...), sound...), "version 1 or 2"},
		{"no frame pointer", pefile.MachineX64, append(append([]byte{1, 0, 1, 0, 0, 3}, make([]byte, 10)...), sound...), "a frame pointer"},
	} {
		a := artifactOf(t, framesOf(c.machine, loop, c.information))
		q, err := a.Unwind(t.Context(), func(*symbol.Unwind) error { return nil })
		if err != nil || q.UnitsBroken != 1 || q.Units != 2 || len(q.Warnings) != 1 || !strings.Contains(q.Warnings[0], c.want) {
			t.Errorf("%s: %+v, %v, want %q", c.name, q, err, c.want)
		}
		if got, want := formattest.UnwindOf(t, &Format, a).Text(codeAt+0x280), ".cfa: $rsp 48 + "; !strings.HasPrefix(got, want) {
			t.Errorf("%s: the next function has %q", c.name, got)
		}
	}
}

func artifactOf(t *testing.T, image []byte) *formats.Artifact {
	t.Helper()
	obj := formattest.Open(t, &Format, formattest.InputOf("x.dll", bytes.Clone(image), formats.Limits{}))
	if len(obj.Artifacts) != 1 {
		t.Fatalf("%d artifacts", len(obj.Artifacts))
	}
	return &obj.Artifacts[0]
}

// TestStore: the folder of a store is compared with the ids of the file in it.
func TestStore(t *testing.T) {
	b, err := os.ReadFile(formattest.Testdata(t, "pe/libgame-x64-dw5.dll"))
	if err != nil {
		t.Fatal(err)
	}
	obj := formattest.Open(t, &Format, formattest.InputOf("libgame.dll", b, formats.Limits{}))
	id := ""
	for _, n := range obj.Artifacts[0].Names {
		if n.Kind == symbol.NameDebugID && !strings.Contains(n.Text, "-") {
			id = n.Text
		}
	}
	for name, warned := range map[string]bool{
		"s3://symbols/libgame.dll/" + strings.ToUpper(id) + "/libgame.dll": false,
		"s3://symbols/libgame.dll/5F0000001c000/libgame.dll":               true,
		"s3://symbols/li/libgame.dll/5F0000001c000/LibGame.dll":            true,
		"s3://symbols/builds/20260102030405/libgame.dll":                   false,
	} {
		obj := formattest.Open(t, &Format, formattest.InputOf(name, b, formats.Limits{}))
		q, err := obj.Artifacts[0].Explode(t.Context(), 0, func(*symbol.Run) error { return nil })
		if err != nil || warned != (len(q.Warnings) == 1 && strings.HasPrefix(q.Warnings[0], "store: ")) {
			t.Errorf("%s: %q, %v", name, q.Warnings, err)
		}
	}
}
