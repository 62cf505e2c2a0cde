package il2cpp

import (
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func TestReadable(t *testing.T) {
	for full, want := range map[string]string{
		"System.Void Game.Player::Update(System.Single)":                                                  "Game.Player.Update(System.Single)",
		"System.Void Game.Player::.ctor()":                                                                "Game.Player..ctor()",
		"System.Boolean Game.Player/<Start>d__5::MoveNext()":                                              "Game.Player.<Start>d__5.MoveNext()",
		"System.Void Game.Inventory`1/Slot<Game.Item>::Add(!0,System.Int32)":                              "Game.Inventory<Game.Item>.Slot.Add(Game.Item, System.Int32)",
		"T Game.Inventory`1<System.Int32>::get_Item(System.Int32)":                                        "Game.Inventory<System.Int32>.get_Item(System.Int32)",
		"System.Collections.Generic.List`1<!!0> Game.Tools::Pick<Game.Item>(System.Func`2<!!0,!!0[]>&)":   "Game.Tools.Pick<Game.Item>(System.Func<Game.Item, Game.Item[]>&)",
		"System.Void System.Collections.Generic.Dictionary`2<System.String,Game.Item>::Remove(!1,!0[,]*)": "System.Collections.Generic.Dictionary<System.String, Game.Item>.Remove(Game.Item, System.String[,]*)",
		"no method":            "no method",
		"System.Void A::B(!7)": "A.B(!7)",
		"::":                   ".()",
	} {
		if got := Readable(full); got != want {
			t.Errorf("%s\n is %s\nwant %s", full, got, want)
		}
	}
}

func TestIs(t *testing.T) {
	for file, want := range map[string]bool{"libil2cpp.so": true, "libil2cpp.sym.so": true, "libil2cpp.dbg.so": true, "GameAssembly.dll": true, "GameAssembly.pdb": true,
		"UnityFramework": true, "GameAssembly": true, "libil2cppx.so": false, "libunity.so": false, "": false} {
		if Is(file) != want {
			t.Errorf("%s: %v", file, !want)
		}
	}
}

const unit = `{"/b/Game.cpp":{"/p/Player.cs":{"10":5,"20":6},"/p/Item.cs":{"15":7}},"__debug-id__":"AB-1","/b/Other.cpp":{"/p/O.cs":{"1":1}}}`

func TestLines(t *testing.T) {
	l, err := ReadLines(formattest.InputOf(LinesFile, []byte(unit), formats.Limits{}))
	if err != nil || l.DebugID != "ab-1" {
		t.Fatal(l, err)
	}
	for _, c := range []struct {
		file        string
		first, line uint32
		want        string
		at          uint32
	}{
		{"/b/Game.cpp", 8, 9, "", 0},
		{"/b/Game.cpp", 8, 10, "/p/Player.cs", 5},
		{"/b/Game.cpp", 8, 14, "/p/Player.cs", 5},
		{"/b/Game.cpp", 8, 15, "/p/Item.cs", 7},
		{"/b/Game.cpp", 8, 99, "/p/Player.cs", 6},
		{"/b/Game.cpp", 21, 22, "", 0}, // of the function before
		{`C:\build\Game.cpp`, 8, 15, "/p/Item.cs", 7},
		{"/b/None.cpp", 1, 15, "", 0},
	} {
		m, found := find(l.of(c.file), c.first, c.line)
		if found != (c.want != "") || found && (l.sources[m.source] != c.want || m.at != c.at) {
			t.Errorf("%+v: %+v", c, m)
		}
	}
}

func TestBadMaps(t *testing.T) {
	for _, text := range []string{"", "[]", `{"a.cpp":`, `{"a.cpp":{"b.cs":{"1":`} {
		if _, err := ReadLines(formattest.InputOf(LinesFile, []byte(text), formats.Limits{})); !errors.Is(err, formats.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, err := ReadMethods(formattest.InputOf(MethodsFile, []byte("a\tV A::B()\tX\r\nNULL\tV A::C()\tX\nodd\n\tV A::D()\t\n"), formats.Limits{}))
	if err != nil || len(m) != 1 || m.of("a_inline") != "A.B()" || m.of("b") != "" {
		t.Errorf("%v, %v", m, err)
	}
}

// A table of strings that is another one is read anew.
func TestTables(t *testing.T) {
	tr := translator{layer: &layer{methods: Methods{"a": "A.A()", "b": "B.B()"}}}
	for i, texts := range [][]string{{"", "a"}, {"", "a", "b"}, {"", "b"}, {"", "x", "a"}} {
		n := uint32(len(texts) - 1)
		r := tr.run(&symbol.Run{Strings: texts, Scopes: []symbol.Scope{{Parent: -1, Function: n}}, Ranges: []symbol.Range{{Start: 1, End: 2}}})
		if got := r.Strings[r.Scopes[0].Function]; got != tr.layer.methods[texts[n]] {
			t.Errorf("table %d gives %q", i, got)
		}
	}
}

func FuzzMaps(f *testing.F) {
	f.Add([]byte(unit))
	f.Add([]byte("a\tSystem.Void A`1/B<C>::D<E>(!0,!!0[])\tX\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if l, err := ReadLines(formattest.InputOf(LinesFile, b, formats.Limits{})); err == nil {
			for file := range l.files {
				find(l.of(file), 0, 1<<31)
			}
		}
		if m, err := ReadMethods(formattest.InputOf(MethodsFile, b, formats.Limits{})); err == nil {
			for _, to := range m {
				if len(to) > 64*len(b)*strings.Count(string(b), "!")+4*len(b)+8 {
					t.Fatalf("%d bytes of %d", len(to), len(b))
				}
			}
		}
	})
}
