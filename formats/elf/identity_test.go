package elf

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func artifact(t *testing.T, in *formats.Input) *formats.Artifact {
	t.Helper()
	obj := formattest.Open(t, &Format, in)
	if len(obj.Artifacts) != 1 {
		t.Fatalf("%s: %d artifacts", in.Name, len(obj.Artifacts))
	}
	return &obj.Artifacts[0]
}

func has(t *testing.T, a *formats.Artifact, kind symbol.NameKind, text string) {
	t.Helper()
	if !slices.Contains(a.Names, symbol.Name{Kind: kind, Text: text}) {
		t.Errorf("no %s %q among %v", kind, text, a.Names)
	}
}

func TestBuildID(t *testing.T) {
	for _, c := range []struct {
		path, canonical, debugID, arch string
		base                           uint64
		rank                           symbol.Rank
	}{
		// The debug-id equals the one in the peer's symbol file beside it.
		{"elf/dump_syms/basic.full", "b060ad20c6b47781552708aa192e7739fac7c84a", "20ad60b0-b4c6-8177-5527-08aa192e7739", "x86_64", 0, symbol.RankDWARF},
		{"elf/symbolic/crash", "f1c3bcc0279865fe3058404b2831d9e64135386c", "c0bcc3f1-9827-fe65-3058-404b2831d9e6", "x86_64", 0x400000, symbol.RankSymtab},
		{"elf/symbolic/crash.debug", "f1c3bcc0279865fe3058404b2831d9e64135386c", "c0bcc3f1-9827-fe65-3058-404b2831d9e6", "x86_64", 0x400000, symbol.RankDWARF},
		// Big-endian: as it is.
		{"elf/datadog/exec_arm_big", "623209afd6c408f9009e57fad28782f056112daf", "623209af-d6c4-08f9-009e-57fad28782f0", "armeb", 0, symbol.RankDWARF},
		{"elf/symbolic/dynsyms_only", "b931c4fbd186e551bb617b3807d594b9064f5cac", "fbc431b9-86d1-51e5-bb61-7b3807d594b9", "x86_64", 0, symbol.RankDynsym},
	} {
		t.Run(c.path, func(t *testing.T) {
			a := artifact(t, formattest.Input(t, formattest.Fixture(t, c.path)))
			if a.Canonical != c.canonical || a.Arch != c.arch || a.Base != c.base || a.Rank != c.rank || a.Kind != symbol.ELF {
				t.Errorf("%+v rank %d", a.Artifact, a.Rank)
			}
			if a.ID != symbol.NewID(symbol.ELF, c.canonical) {
				t.Error("id is not made of kind and canonical id")
			}
			has(t, a, symbol.NameBuildID, c.canonical)
			has(t, a, symbol.NameDebugID, c.debugID)
			has(t, a, symbol.NameFile, filepath.Base(c.path))
		})
	}
}

func TestGoBuildID(t *testing.T) {
	const id = "tUhrGOwxi48kXlLhYlY3/WlmPekR2qonrFvofssLt/8beXJbt0rDaHhn3I6x8D/IA6Zd8Qc8Rsh_bFKoPVn"
	a := artifact(t, formattest.Input(t, formattest.Fixture(t, "elf/datadog/go_x86_64_only_go_build_id")))
	if a.Canonical != "go:"+id {
		t.Errorf("canonical %q", a.Canonical)
	}
	has(t, a, symbol.NameGoBuildID, id)
	a = artifact(t, formattest.Input(t, formattest.Fixture(t, "elf/datadog/go_x86_64_both_gnu_and_go_build_id")))
	if strings.HasPrefix(a.Canonical, "go:") {
		t.Errorf("canonical %q", a.Canonical)
	}
	if !slices.ContainsFunc(a.Names, func(n symbol.Name) bool { return n.Kind == symbol.NameGoBuildID }) {
		t.Errorf("no Go build-id among %v", a.Names)
	}
}

// TestDebugLinkPair: a debug file without build-id and its stripped twin are
// one artifact.
func TestDebugLinkPair(t *testing.T) {
	stripped := artifact(t, formattest.Input(t, formattest.Testdata(t, "elf/separate-noid/libgame.so")))
	debug := artifact(t, formattest.Input(t, formattest.Testdata(t, "elf/separate-noid/noid.dbg")))
	if stripped.ID != debug.ID || !strings.HasPrefix(debug.Canonical, "debuglink:noid.dbg:") {
		t.Errorf("%q and %q", stripped.Canonical, debug.Canonical)
	}
	has(t, debug, symbol.NameDebugLink, debug.Canonical)
	has(t, stripped, symbol.NameFile, "libgame.so")
}

// withoutNotes is a file with renamed notes, so that it has no build-id.
func withoutNotes(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(b, []byte("GNU\x00"), []byte("gnu\x00"))
}

func TestTextHash(t *testing.T) {
	path := formattest.Testdata(t, "elf/libgame-x64-dw5.so")
	a := artifact(t, formattest.InputOf("x.so", withoutNotes(t, path), formats.Limits{}))
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	want := "sha256:" + hex.EncodeToString(sum[:])
	if a.Canonical != want {
		t.Errorf("%q, want %q", a.Canonical, want)
	}
	has(t, a, symbol.NameHash, want)
	// Breakpad's id of a file without one.
	var id [16]byte
	for i, c := range text[:min(len(text), 4096)] {
		id[i%16] ^= c
	}
	has(t, a, symbol.NameDebugID, debugID(id[:], false))
}

func TestZeroBuildID(t *testing.T) {
	path := formattest.Testdata(t, "elf/libgame-x64-dw5.so")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	id := artifact(t, formattest.InputOf("x.so", b, formats.Limits{})).Canonical
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) < 8 {
		t.Fatalf("canonical %q: %v", id, err)
	}
	b = bytes.ReplaceAll(b, raw, make([]byte, len(raw)))
	if a := artifact(t, formattest.InputOf("x.so", b, formats.Limits{})); !strings.HasPrefix(a.Canonical, "sha256:") {
		t.Errorf("canonical %q", a.Canonical)
	}
}

func TestCompanions(t *testing.T) {
	for _, folder := range []string{"dwz-dw4", "dwz-dw5"} {
		shared := formattest.Open(t, &Format, formattest.Input(t, formattest.Testdata(t, "elf/"+folder+"/common.debug")))
		q := quality(t, artifact(t, formattest.Input(t, formattest.Testdata(t, "elf/"+folder+"/libone.so"))))
		if len(shared.Artifacts) != 0 || len(q.Missing) != 1 || !slices.Equal(shared.Companions, q.Missing) {
			t.Errorf("%s: companion %q of what misses %q", folder, shared.Companions, q.Missing)
		}
	}
	for path, want := range map[string]string{
		"elf/samply/with-dwo/main.dwo":      "dwo:",
		"own-native/elf/split-dw5/main.dwo": "dwo:",
	} {
		obj := formattest.Open(t, &Format, formattest.Input(t, formattest.Fixture(t, path)))
		if len(obj.Artifacts) != 0 || len(obj.Companions) != 1 || !strings.HasPrefix(obj.Companions[0], want) || len(obj.Companions[0]) != len("dwo:")+16 {
			t.Errorf("%s: %d artifacts, companions %q", path, len(obj.Artifacts), obj.Companions)
		}
		main := artifact(t, formattest.Input(t, filepath.Join(filepath.Dir(formattest.Fixture(t, path)), mainOf(path))))
		q := quality(t, main)
		if !slices.Contains(q.Missing, obj.Companions[0]) {
			t.Errorf("%s: %q is not among what the main object misses: %v", path, obj.Companions[0], q.Missing)
		}
	}
}

// quality explodes all parts.
func quality(t *testing.T, a *formats.Artifact) (sum symbol.Quality) {
	t.Helper()
	for part := range a.Parts {
		q, err := a.Explode(t.Context(), part, func(*symbol.Run) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		sum.Add(q)
		sum.Warnings = append(sum.Warnings, q.Warnings...)
	}
	return sum
}

func mainOf(path string) string {
	if strings.Contains(path, "split-dw5") {
		return "libgame.so"
	}
	return "main"
}

// TestDwz: the file that dwz moved entries to is asked for, and named when
// there is none.
func TestDwz(t *testing.T) {
	in := formattest.Input(t, formattest.Fixture(t, "elf/dump_syms/basic.dwz"))
	var asked formats.Ref
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		asked = want
		return nil, formats.ErrNoCompanion
	}
	q, err := artifact(t, in).Explode(context.Background(), 0, func(*symbol.Run) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	id, ok := strings.CutPrefix(asked.ID, "dwz:")
	if !ok || len(id) != 40 || asked.Name == "" || !slices.Contains(q.Missing, "dwz:"+id) {
		t.Errorf("asked for %+v, missing %v", asked, q.Missing)
	}
	gone := errors.New("bucket out of reach")
	in = formattest.Input(t, formattest.Fixture(t, "elf/dump_syms/basic.dwz"))
	in.Companion = func(context.Context, formats.Ref) (*formats.Input, error) { return nil, gone }
	if _, err := artifact(t, in).Explode(context.Background(), 0, func(*symbol.Run) error { return nil }); !errors.Is(err, gone) {
		t.Errorf("%v", err)
	}
}

// TestNothing: a stripped file that exports nothing is no artifact, and no
// companion.
func TestNothing(t *testing.T) {
	for _, path := range []string{"elf/datadog/go_x86_64_only_go_build_id.debug"} {
		obj := formattest.Open(t, &Format, formattest.Input(t, formattest.Fixture(t, path)))
		if len(obj.Artifacts) != 0 || len(obj.Companions) != 0 || obj.Members != nil {
			t.Errorf("%s: %d artifacts, companions %q", path, len(obj.Artifacts), obj.Companions)
		}
	}
}

func TestHostile(t *testing.T) {
	in := formattest.Input(t, formattest.Fixture(t, "elf/otel/inline-big-fake-compressed-dwarf"))
	_, _, err := formats.Open(context.Background(), []*formats.Format{&Format}, in)
	var fault *formats.Error
	if !errors.As(err, &fault) || !formats.Rejects(err) || fault.Section != ".debug_info" {
		t.Fatalf("%v", err)
	}
}

func TestRelocatable(t *testing.T) {
	a := artifact(t, formattest.Input(t, formattest.Testdata(t, "elf/obj/engine-x64.o")))
	if at, ok := a.Anchors[".text"]; !ok || a.Base != 0 || at >= a.End {
		t.Errorf("%+v", a.Artifact)
	}
}

func FuzzELF(f *testing.F) {
	var seeds []string
	for _, pattern := range []string{"elf/*.so", "elf/obj/*.o", "elf/*/libgame.so", "elf/split-dw5/*.dwo", "elf/split-dw5/*.dwp"} {
		paths, err := filepath.Glob(filepath.Join(formattest.Root(), "testdata", filepath.FromSlash(pattern)))
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, paths...)
	}
	formattest.Seed(f, 32<<10, seeds...)
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "\x7fELF", data) })
}

// TestSectionHash: without build-id and without .text there are the debug
// sections, and without these the symbol tables.
func TestSectionHash(t *testing.T) {
	b := withoutNotes(t, formattest.Testdata(t, "elf/libgame-x64-dw5.so"))
	b = bytes.ReplaceAll(b, []byte(".text\x00"), []byte(".tixt\x00"))
	first := artifact(t, formattest.InputOf("x.so", b, formats.Limits{}))
	if !strings.HasPrefix(first.Canonical, "sha256:") {
		t.Fatalf("canonical %q", first.Canonical)
	}
	has(t, first, symbol.NameHash, first.Canonical)
	changed := func(old, new string) string {
		t.Helper()
		c := bytes.ReplaceAll(b, []byte(old), []byte(new))
		if bytes.Equal(c, b) {
			t.Fatalf("no %q to change", old)
		}
		return artifact(t, formattest.InputOf("x.so", c, formats.Limits{})).Canonical
	}
	if changed("engine.cpp", "engane.cpp") == first.Canonical {
		t.Error("the debug sections do not count")
	}
	stripped := bytes.ReplaceAll(b, []byte(".debug_"), []byte(".dabug_"))
	tables := artifact(t, formattest.InputOf("x.so", stripped, formats.Limits{})).Canonical
	if !strings.HasPrefix(tables, "sha256:") || tables == first.Canonical {
		t.Errorf("canonical %q without debug sections, %q with", tables, first.Canonical)
	}
}

// TestForeignDwz: a file found by its name that is another build's, or
// damaged, is as good as none, and is given back.
func TestForeignDwz(t *testing.T) {
	full := formattest.Input(t, formattest.Fixture(t, "elf/dump_syms/basic.full"))
	for _, other := range []*formats.Input{full, formattest.InputOf("cut", full.Mapped[:100], formats.Limits{})} {
		testForeignDwz(t, other)
	}
}

func testForeignDwz(t *testing.T, other *formats.Input) {
	t.Helper()
	in := formattest.Input(t, formattest.Fixture(t, "elf/dump_syms/basic.dwz"))
	released := 0
	in.Companion = func(context.Context, formats.Ref) (*formats.Input, error) {
		other.Release = func() error { released++; return nil }
		return other, nil
	}
	obj, err := Format.Open(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	q, err := obj.Artifacts[0].Explode(context.Background(), 0, func(*symbol.Run) error { return nil })
	if err != nil || len(q.Missing) != 1 {
		t.Errorf("missing %v (%v)", q.Missing, err)
	}
	if err := obj.Close(); err != nil || released != 1 {
		t.Errorf("%v, released %d times", err, released)
	}
}
