package macho

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func own(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(formattest.Testdata(t, "macho/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func openBytes(t *testing.T, f *formats.Format, name string, b []byte) (*formats.Object, error) {
	t.Helper()
	_, obj, err := formats.Open(t.Context(), []*formats.Format{f}, formattest.InputOf(name, b, formats.Limits{}))
	return obj, err
}

func TestIdentity(t *testing.T) {
	obj := formattest.Open(t, &Format, formattest.InputOf("up.zip!game.dSYM/Contents/Resources/DWARF/game", own(t, ownDSYM), formats.Limits{}))
	a := obj.Artifacts[0]
	id := a.Canonical
	if len(id) != 36 || id != strings.ToLower(id) || a.ID != symbol.NewID(symbol.MachO, id) || a.Kind != symbol.MachO || a.Arch != "arm64" {
		t.Fatalf("%+v", a.Artifact)
	}
	if a.Names[0] != (symbol.Name{Kind: symbol.NameDebugID, Text: id}) || a.Names[1] != (symbol.Name{Kind: symbol.NameFile, Text: "game"}) {
		t.Fatalf("%+v", a.Names)
	}
}

func TestIdentityWithoutUUID(t *testing.T) {
	b := own(t, "objects/libmapped.dylib")
	i := bytes.Index(b, []byte{0x1b, 0, 0, 0, 24, 0, 0, 0})
	clear(b[i+8 : i+24])
	obj := formattest.Open(t, &Format, formattest.InputOf("libmapped.dylib", b, formats.Limits{}))
	a := obj.Artifacts[0]
	if !strings.HasPrefix(a.Canonical, "sha256:") || a.Names[0].Kind != symbol.NameHash {
		t.Fatalf("%+v", a.Artifact)
	}
}

// A slice that is damaged is rejected alone.
func TestFat(t *testing.T) {
	fat := own(t, "libgame-fat.dSYM")
	fat64 := own(t, "libgame-fat64.dSYM")
	for name, c := range map[string]struct {
		b    []byte
		edit func(b []byte)
		good int
		want string
	}{
		"sound":               {b: fat, good: 2},
		"sound, 64 bits":      {b: fat64, good: 2},
		"outside":             {fat, func(b []byte) { binary.BigEndian.PutUint32(b[8+20+12:], 1<<30) }, 1, "inside the file"},
		"outside, 64 bits":    {fat64, func(b []byte) { binary.BigEndian.PutUint64(b[8+32+8:], 1<<63) }, 1, "inside the file"},
		"overlapping":         {fat, func(b []byte) { copy(b[8+20+8:8+20+16], b[8+8:8+16]) }, 1, "behind what stands before it"},
		"over the table":      {fat, func(b []byte) { binary.BigEndian.PutUint32(b[8+8:], 4) }, 1, "behind what stands before it"},
		"damaged first slice": {fat, func(b []byte) { at := binary.BigEndian.Uint32(b[16:]); clear(b[at : at+32]) }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := bytes.Clone(c.b)
			if c.edit != nil {
				c.edit(b)
			}
			obj, err := openBytes(t, &Format, "libgame-fat.dSYM", b)
			if err != nil {
				t.Fatal(err)
			}
			good, bad := 0, ""
			err = obj.Members(t.Context(), func(m *formats.Input) error {
				_, o, err := formats.Open(t.Context(), []*formats.Format{&Format}, m)
				switch {
				case err != nil:
					var fault *formats.Error
					if !errors.As(err, &fault) || !formats.Rejects(err) {
						t.Errorf("%v", err)
					}
					bad = err.Error()
				case o != nil && len(o.Artifacts) == 1:
					good++
					if n := o.Artifacts[0].Names[1].Text; n != "libgame-fat.dSYM" {
						t.Errorf("named %q", n)
					}
				}
				return nil
			})
			if err != nil || good != c.good || !strings.Contains(bad, c.want) || c.want != "" && bad == "" {
				t.Errorf("%d slices, %q, %v", good, bad, err)
			}
		})
	}
	// A class file of Java begins with the same bytes.
	if Format.Detect("A.class", []byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52}) {
		t.Error("claims a class file")
	}
}

// A library without a symbol table answers from its export trie, up to where
// the list of function starts says that another function begins.
func TestExports(t *testing.T) {
	b := own(t, "objects/libmapped.dylib")
	i := bytes.Index(b, []byte{2, 0, 0, 0, 24, 0, 0, 0}) // LC_SYMTAB
	binary.LittleEndian.PutUint32(b[i+12:], 0)
	obj, err := openBytes(t, &Format, "libmapped.dylib", b)
	if err != nil || len(obj.Artifacts) != 1 || obj.Artifacts[0].Rank != symbol.RankDynsym {
		t.Fatalf("%+v, %v", obj, err)
	}
	a := &obj.Artifacts[0]
	flat, err := formattest.Flatten(t.Context(), &Format, a)
	if err != nil {
		t.Fatal(err)
	}
	whole := formattest.Open(t, &Format, formattest.InputOf("libmapped.dylib", own(t, "objects/libmapped.dylib"), formats.Limits{}))
	want, err := formattest.Flatten(t.Context(), &Format, &whole.Artifacts[0])
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for pos := range a.End {
		got := flat.At(pos)
		if len(got) == 0 {
			continue
		}
		names[got[0].Linkage] = true
		if all := want.At(pos); len(all) == 0 || len(got) != 1 {
			t.Fatalf("%#x: %v, with all symbols %v", pos, got, all)
		}
	}
	for _, n := range []string{"_Z4mainiPPc", "game_entry", "_ZN4game6Engine4stepEi"} {
		if !names[n] {
			t.Errorf("%s is not there: %v", n, names)
		}
	}
}

func TestHiddenNames(t *testing.T) {
	file := formattest.Testdata(t, "macho/hidden/libhidden")
	maps, err := filepath.Glob(filepath.Join(filepath.Dir(file), "BCSymbolMaps", "*"))
	if err != nil || len(maps) != 1 {
		t.Fatal(maps, err)
	}
	names := func(companion func(context.Context, formats.Ref) (*formats.Input, error)) (map[string]bool, symbol.Quality) {
		in := formattest.Input(t, file)
		in.Companion = companion
		obj := formattest.Open(t, &Format, in)
		a := &obj.Artifacts[0]
		found := map[string]bool{}
		var all symbol.Quality
		for part := range a.Parts {
			q, err := a.Explode(t.Context(), part, func(r *symbol.Run) error {
				for _, s := range r.Scopes {
					found[r.Strings[s.Function]] = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			all.Missing = append(all.Missing, q.Missing...)
		}
		return found, all
	}
	none := func(context.Context, formats.Ref) (*formats.Input, error) { return nil, formats.ErrNoCompanion }
	if found, q := names(none); len(q.Missing) != 1 || !strings.HasPrefix(q.Missing[0], "bcsymbolmap:") || found["game_draw"] {
		t.Errorf("without the map: %v, %v", found, q.Missing)
	}
	asked := []string{}
	found, q := names(func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		asked = append(asked, want.ID+" "+want.Name)
		if path.Base(want.Name) != filepath.Base(maps[0]) {
			return nil, formats.ErrNoCompanion
		}
		return formattest.Input(t, maps[0]), nil
	})
	if !found["game_draw"] || !found["game_score"] || len(q.Missing) != 0 {
		t.Errorf("%v, missing %v, asked %q", found, q.Missing, asked)
	}
	for name := range found {
		if strings.Contains(name, "hidden#") {
			t.Errorf("%q is still hidden", name)
		}
	}
	obj, err := openBytes(t, &SymbolMap, filepath.Base(maps[0]), own(t, "hidden/BCSymbolMaps/"+filepath.Base(maps[0])))
	if err != nil || strings.Join(obj.Companions, " ") != "bcsymbolmap:"+strings.ToLower(strings.TrimSuffix(filepath.Base(maps[0]), ".bcsymbolmap")) {
		t.Errorf("%+v, %v", obj, err)
	}
}

func TestUnhidden(t *testing.T) {
	m := symbolMap{"_a", "Sources", "B.swift"}
	for text, want := range map[string]string{
		"plain": "plain", "__hidden#0_": "_a", "__hidden#1_/__hidden#2_": "Sources/B.swift",
		"__hidden#3_": "__hidden#3_", "__hidden#": "__hidden#", "__hidden#x_": "__hidden#x_", "__hidden#99999999999_": "__hidden#99999999999_",
	} {
		if got := m.unhidden(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	plist := "<plist><dict><key>DBGOriginalUUID</key>\n<string>4C4C44B7-5555-3144-A13C-D5BDD2305949</string>"
	if got := originalUUID(plist); got != "4c4c44b7-5555-3144-a13c-d5bdd2305949" {
		t.Errorf("%q", got)
	}
}

func TestBundle(t *testing.T) {
	plist := own(t, "libgame.dylib.dSYM/Contents/Info.plist")
	for name, c := range map[string]struct{ has, note string }{
		"/x/libgame.dylib.dSYM/Contents/Info.plist": {"Resources/DWARF/libgame.dylib", "companion: "},
		"/x/libgame.dSYM/Contents/Info.plist":       {"Resources/DWARF/libgame.dylib", "companion: "},
		"up.zip!App.app.dSYM/Contents/Info.plist":   {"Resources/DWARF/App", "companion: "},
		"up.zip!My App.dSYM/Contents/Info.plist":    {"Resources/DWARF/", "companion: "}, // under any name
		"up.zip!Empty.app.dSYM/Contents/Info.plist": {"", "no-dwarf: the dSYM bundle Empty.app.dSYM has no Contents/Resources/DWARF/Empty"},
	} {
		in := formattest.InputOf(name, plist, formats.Limits{})
		in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
			if want.Name != c.has {
				return nil, formats.ErrNoCompanion
			}
			return formattest.InputOf(want.Name, nil, formats.Limits{}), nil
		}
		obj := formattest.Open(t, &Bundle, in)
		if !strings.HasPrefix(obj.Note, c.note) {
			t.Errorf("%s: %q", name, obj.Note)
		}
	}
}

func TestCacheIsRefused(t *testing.T) {
	obj, err := openBytes(t, &Cache, "dyld_shared_cache_arm64e", []byte("dyld_v1  arm64e\x00"+strings.Repeat("\x00", 100)))
	if obj != nil || !errors.Is(err, formats.ErrUnsupported) || !strings.Contains(err.Error(), "extract") {
		t.Errorf("%+v, %v", obj, err)
	}
}

func TestStub(t *testing.T) {
	obj := formattest.Open(t, &Format, formattest.Input(t, formattest.Fixture(t, "macho/measure/DemoApp-1.0.1-2.stub")))
	if len(obj.Artifacts) != 0 || !strings.HasPrefix(obj.Note, "stub: ") {
		t.Errorf("%+v", obj)
	}
}

// The launcher of a debug build has code of its own, and names the owner of the rest.
func TestLauncher(t *testing.T) {
	b := own(t, "objects/libmapped.dylib")
	i := bytes.Index(b, []byte("__literals"))
	copy(b[i:i+16], "__debug_dylib\x00\x00\x00")
	copy(b[binary.LittleEndian.Uint32(b[i+48:]):], "@rpath/game.debug.dylib\x00")
	obj, err := openBytes(t, &Format, "game", b)
	if err != nil || len(obj.Artifacts) != 1 {
		t.Fatalf("%+v, %v", obj, err)
	}
	q, err := obj.Artifacts[0].Explode(t.Context(), 0, func(*symbol.Run) error { return nil })
	if err != nil || len(q.Warnings) != 1 || !strings.HasPrefix(q.Warnings[0], "stub: ") || !strings.HasSuffix(q.Warnings[0], " game.debug.dylib") {
		t.Errorf("%+v, %v", q, err)
	}
}

func FuzzMachO(f *testing.F) {
	formattest.Seed(f, 64<<10, formattest.Testdata(f, "macho/"+ownDSYM), formattest.Testdata(f, "macho/objects/libmapped.dylib"),
		formattest.Testdata(f, "macho/hidden/libhidden"), formattest.Testdata(f, "macho/objects/engine.o"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "\xcf\xfa\xed\xfe", data) })
}

func FuzzFat(f *testing.F) {
	formattest.Seed(f, 64<<10, formattest.Testdata(f, "macho/libgame-fat.dSYM"), formattest.Testdata(f, "macho/libgame-fat64.dSYM"))
	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "\xca\xfe\xba", data) })
}
