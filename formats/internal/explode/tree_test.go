package explode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Abbreviations that most tests use.
const (
	cUnit   = 1 + iota // name, language, stmt_list, low, high
	cFunc              // name, low, high
	cInline            // origin ref4, low, high, call file, line, column
	cDecl              // name; children
	cStruct            // name; children
	cSpace             // namespace without a name
	cLeaf              // function, no children: name, low, high
	cBare              // unit: name, language
)

func (d *debug) usual() {
	sec := uint64(fSec)
	if d.version < 4 {
		sec = fData4
		if d.info.off == 8 {
			sec = fData8
		}
	}
	d.decl(cUnit, tUnit, true, aName, fString, aDir, fString, aLang, fData1, aStmt, sec, aLow, fAddr, aHigh, fAddr)
	d.decl(cFunc, tSub, true, aName, fString, aLow, fAddr, aHigh, fAddr)
	d.decl(cInline, tInline, true, aOrigin, fRef4, aLow, fAddr, aHigh, fAddr, aCallFile, fData1, aCallLine, fUdata, aCallColumn, fData2)
	d.decl(cDecl, tSub, true, aName, fString)
	d.decl(cStruct, tStruct, true, aName, fString)
	d.decl(cSpace, tNamespace, true)
	d.decl(cLeaf, tSub, false, aName, fString, aLow, fAddr, aHigh, fAddr)
	d.decl(cBare, tUnit, true, aName, fString, aLang, fData1)
}

const langC, langCPP = 0x0c, 0x21

// head writes a unit's entry.
func (w *writer) head(lang byte, lines, low, high uint64) *writer {
	return w.u8(cUnit).str("a.c").str("/src").u8(lang).offset(lines).address(low).address(high)
}

func (w *writer) function(code byte, name string, low, high uint64) *writer {
	return w.u8(code).str(name).address(low).address(high)
}

func (w *writer) inline(origin, low, high uint64, file byte, line uint64) *writer {
	return w.u8(cInline).u32(origin).address(low).address(high).u8(file).uleb(line).u16(3)
}

// TestShapes explodes one function with inlined functions in every version,
// format, address size and byte order.
func TestShapes(t *testing.T) {
	for _, version := range []int{2, 3, 4, 5} {
		for _, off := range []int{4, 8} {
			for _, addr := range []int{2, 4, 8} {
				for _, big := range []bool{false, true} {
					if version == 2 && off == 8 {
						continue // the 64-bit format came with version 3
					}
					t.Run(fmt.Sprintf("v%d off%d addr%d big=%v", version, off, addr, big), func(t *testing.T) {
						d := newDebug(version, off, addr, big)
						d.usual()
						lines := d.program(func(w *writer) {
							w.set(0x1100).row(0, 1, 9, 1).row(0x20, 2, 10, 2).row(0x10, 2, 1, 0).row(0x20, 1, -9, 5)
							w.u8(2).uleb(0xb0).end()
						})
						d.unit(func(w *writer, start uint64) {
							w.head(langC, lines, 0x1100, 0x1200)
							g := w.at() - start
							w.u8(cDecl).str("g").u8(0)
							h := w.at() - start
							w.u8(cDecl).str("h").u8(0)
							w.function(cFunc, "f", 0x1100, 0x1200)
							w.inline(g, 0x1120, 0x1140, 1, 12)
							w.inline(h, 0x1130, 0x1150, 2, 21).u8(0) // reaches out of g
							w.u8(0, 0, 0)
						})
						h := `
1130 1140 h /src/inc/b.h:21:0 g /src/inc/b.h:21:3 f /src/a.c:12:3
1140 1150 f /src/inc/b.h:21:0
`
						if version == 2 { // g may go on there
							h = `
1130 1150 h /src/inc/b.h:21:0 g /src/inc/b.h:21:3 f /src/a.c:12:3
`
						}
						q := d.expect(t, `
1100 1120 f /src/a.c:10:1
1120 1130 g /src/inc/b.h:20:2 f /src/a.c:12:3`+h+`1150 1200 f /src/a.c:12:5
`)
						if q.Units != 1 || q.UnitsBroken != 0 || q.LinesBroken != 0 {
							t.Errorf("quality %+v", q)
						}
					})
				}
			}
		}
	}
}

// TestScattered has inlined functions. Version 2 says their first piece, and the others only by the functions inlined
// into them. Their call sites are not said either: the outermost function is then in the file of its symbol.
func TestScattered(t *testing.T) {
	for version, want := range map[int]string{
		2: `
1100 1110 f a.c:0:0
1110 1114 g :0:0 f a.c:0:0
1114 1120 f a.c:0:0
1120 1124 k :0:0 h :0:0 g :0:0 f a.c:0:0
1124 1130 f a.c:0:0
1130 1134 k :0:0 h :0:0 f a.c:0:0
1134 1140 f a.c:0:0
1140 1144 k :0:0 h :0:0 g :0:0 f a.c:0:0
1144 1200 f a.c:0:0
`,
		4: `
1100 1110 f a.c:0:0
1110 1114 g :0:0 f a.c:0:0
1114 1140 f a.c:0:0
1140 1144 k :0:0 f a.c:0:0
1144 1200 f a.c:0:0
`,
	} {
		d := newDebug(version, 4, 8, false)
		d.image.Symbols = []native.Symbol{{Addr: 0x1100, Size: 0x100, Name: "f", File: "a.c", Rank: symbol.RankSymtab}}
		d.usual()
		const (
			cPiece = 20 + iota
			cNowhere
		)
		d.decl(cPiece, tInline, true, aOrigin, fRef4, aLow, fAddr, aHigh, fAddr)
		d.decl(cNowhere, tInline, true, aOrigin, fRef4)
		d.unit(func(w *writer, start uint64) {
			w.u8(cBare).str("a.c").u8(langC)
			abstract := func(name string) uint64 {
				at := w.at() - start
				w.u8(cDecl).str(name).u8(0)
				return at
			}
			piece := func(origin, low, high uint64) *writer {
				return w.u8(cPiece).u32(origin).address(low).address(high)
			}
			g, h, k := abstract("g"), abstract("h"), abstract("k")
			w.function(cFunc, "f", 0x1100, 0x1200)
			piece(g, 0x1110, 0x1114)
			piece(h, 0x1118, 0x1118)       // its first piece is empty
			piece(k, 0x1120, 0x1124).u8(0) // outside g's
			piece(k, 0x1300, 0x1310).u8(0) // outside f's
			w.u8(0, 0)
			piece(h, 0x1128, 0x1128)
			piece(k, 0x1130, 0x1134).u8(0)
			w.u8(0)
			w.u8(cNowhere).u32(g).u8(cNowhere).u32(h)
			piece(k, 0x1140, 0x1144).u8(0)
			w.u8(0, 0, 0, 0)
		})
		t.Run(fmt.Sprint(version), func(t *testing.T) { d.expect(t, want) })
	}
}

// TestNested has functions inside functions, and inside a type inside one.
func TestNested(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.usual()
	d.unit(func(w *writer, start uint64) {
		w.u8(cBare).str("a.c").u8(langCPP)
		g := w.at() - start
		w.u8(cDecl).str("g").u8(0)
		w.function(cFunc, "outer", 0x1100, 0x1200)
		w.function(cFunc, "within", 0x1140, 0x1150) // inside outer's code
		w.inline(g, 0x1144, 0x1148, 0, 0).u8(0)
		w.u8(0)
		w.u8(cStruct).str("local")
		w.function(cLeaf, "method", 0x1300, 0x1310) // elsewhere
		w.u8(0)
		w.u8(0)
		// A function that was thrown away: the functions inlined into it are gone,
		// the ones nested in it stay.
		w.function(cFunc, "dead", 0, 0x80)
		w.inline(g, 0x1400, 0x1410, 0, 0).u8(0)
		w.function(cFunc, "alive", 0x1500, 0x1520)
		w.inline(g, 0x1504, 0x1508, 0, 0).u8(0)
		w.u8(0, 0, 0)
	})
	d.expect(t, `
1100 1140 outer :0:0

1140 1144 outer::within :0:0
1144 1148 g :0:0 outer::within :0:3
1148 1150 outer::within :0:0

1150 1200 outer :0:0

1300 1310 outer::local::method :0:0

1500 1504 dead::alive :0:0
1504 1508 g :0:0 dead::alive :0:3
1508 1520 dead::alive :0:0
`)
}

// TestNames has names without linkage names in scopes, in two languages.
func TestNames(t *testing.T) {
	for lang, want := range map[byte]string{
		langC:   "1100 1110 f :0:0\n\n1200 1210 g :0:0\n\n1300 1310 _Z1hv :0:0\n",
		langCPP: "1100 1110 (anonymous namespace)::S::f :0:0\n\n1200 1210 g :0:0\n\n1300 1310 _Z1hv :0:0\n",
	} {
		d := newDebug(4, 4, 8, false)
		d.usual()
		d.decl(20, tSub, false, aSpec, fRef4, aLow, fAddr, aHigh, fData4)
		d.decl(21, tSub, false, aName, fString, aLinkage, fString)
		d.unit(func(w *writer, start uint64) {
			w.u8(cBare).str("a.c").u8(lang)
			// The definition stands before its declaration.
			hole := len(w.b) + 1
			w.u8(20).u32(0).address(0x1100).u32(0x10)
			w.function(cLeaf, "g", 0x1200, 0x1210)
			h := w.at() - start
			w.u8(21).str("h").str("_Z1hv")
			w.u8(20).u32(h).address(0x1300).u32(0x10)
			w.u8(cSpace)
			w.u8(cStruct).str("S")
			spec := writer{}
			spec.u32(w.at() - start)
			copy(w.b[hole:], spec.b)
			w.u8(cDecl).str("f").u8(0)
			w.u8(0, 0, 0)
		})
		d.expect(t, want)
	}
}

// TestSplit has one function in two pieces, by both kinds of lists. Its
// cold piece has a symbol of its own.
func TestSplit(t *testing.T) {
	// A section of its own for each basic block gives a symbol to each: all are about the function.
	for symbol, name := range map[string]string{"f.cold": "f.cold", "f.cold.0": "f.cold.0", "f.__part.1": "f", "f.__part.": "f.__part.", "f.__part.x": "f.__part.x"} {
		t.Run(symbol, func(t *testing.T) { testSplit(t, symbol, name) })
	}
}

func testSplit(t *testing.T, symbol, name string) {
	for _, version := range []int{4, 5} {
		d := newDebug(version, 4, 8, false)
		d.image.Symbols = []native.Symbol{
			{Addr: 0x1100, Size: 0x100, Name: "alias"}, {Addr: 0x1100, Size: 0x100, Name: "f"}, {Addr: 0x3000, Size: 0x10, Name: symbol},
		}
		d.usual()
		d.decl(20, tSub, true, aName, fString, aRanges, fSec)
		d.decl(21, tInline, false, aOrigin, fRef4, aRanges, fSec)
		var whole, part uint64
		if version == 4 {
			whole = d.ranges.at()
			d.ranges.address(0x1100).address(0x1200).address(0x1500).address(0x1500).address(^uint64(0)).address(0x3000).address(0).address(0x10).address(0).address(0)
			part = d.ranges.at()
			d.ranges.address(0x11f0).address(0x1210).address(0x3008).address(0x3010).address(0).address(0)
		} else {
			w := &d.rnglists
			w.sized(func() {
				w.u16(5).u8(8, 0).u32(0)
				whole = w.at()
				w.u8(7).address(0x1100).uleb(0x100).u8(5).address(0x3000).u8(4).uleb2(0, 0x10).u8(0)
				part = w.at()
				w.u8(6).address(0x11f0).address(0x1210).u8(5).address(0x3000).u8(4).uleb2(8, 0x10).u8(0)
			})
		}
		d.unit(func(w *writer, start uint64) {
			w.u8(cBare).str("a.c").u8(langC)
			g := w.at() - start
			w.u8(cDecl).str("g").u8(0)
			w.u8(20).str("f").u32(whole).u8(21).u32(g).u32(part).u8(0, 0)
		})
		d.expect(t, strings.ReplaceAll(`
1100 11f0 f :0:0
11f0 1200 g :0:0 f :0:0

3000 3008 NAME :0:0
3008 3010 g :0:0 NAME :0:0
`, "NAME", name))
	}
}

// TestOverlaps has functions of one unit that claim the same code.
func TestOverlaps(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.usual()
	d.unit(func(w *writer, start uint64) {
		w.u8(cBare).str("a.c").u8(langC)
		w.function(cLeaf, "first", 0x1100, 0x1200)
		w.function(cLeaf, "twin", 0x1100, 0x1200)
		w.function(cLeaf, "longer", 0x1100, 0x1300)
		w.function(cLeaf, "late", 0x1180, 0x1340)
		w.function(cLeaf, "huge", 0x1000, ^uint64(0)) // leaves its segment
		w.u8(0)
	})
	d.expect(t, "1100 1200 first :0:0\n\n1200 1300 longer :0:0\n\n1300 1340 late :0:0\n")
}

// TestScopedSymbols has functions in a namespace that are not mangled: C's. The
// symbol of a piece says which piece it is, and the file of code without lines.
func TestScopedSymbols(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.image.Symbols = []native.Symbol{
		{Addr: 0x1100, Size: 0x10, Name: "other"}, {Addr: 0x1100, Size: 0x10, Name: "f", File: "f.cc"},
		{Addr: 0x1200, Size: 0x10, Name: "f.cold", File: "f.cc"},
		{Addr: 0x1300, Size: 0x10, Name: "g"}, {Addr: 0x1300, Size: 0x10, Name: "_ZN1N1gEv"},
		{Addr: 0x1400, Size: 0x10, Name: "h2"},
	}
	d.usual()
	d.unit(func(w *writer, _ uint64) {
		w.u8(cBare).str("a.cc").u8(langCPP).u8(cSpace)
		w.function(cLeaf, "f", 0x1100, 0x1110).function(cLeaf, "f", 0x1200, 0x1210).function(cLeaf, "g", 0x1300, 0x1310).function(cLeaf, "h", 0x1400, 0x1410)
		w.u8(0, 0)
	})
	d.expect(t, `
1100 1110 (anonymous namespace)::f f.cc:0:0

1200 1210 (anonymous namespace)::f.cold f.cc:0:0

1300 1310 _ZN1N1gEv :0:0

1400 1410 (anonymous namespace)::h :0:0
`)
}

// TestThumb has a function with an address that marks Thumb code by a bit, and
// one right behind it, in units of their own.
func TestThumb(t *testing.T) {
	for _, thumb := range []bool{false, true} {
		d := newDebug(4, 4, 4, false)
		d.image.Thumb = thumb
		d.usual()
		d.unit(func(w *writer, _ uint64) {
			w.u8(cBare).str("a.s").u8(langC).function(cLeaf, "marked", 0x1101, 0x1109).u8(0)
		})
		d.unit(func(w *writer, _ uint64) {
			w.u8(cBare).str("a.c").u8(langC).function(cLeaf, "next", 0x1108, 0x1110).u8(0)
		})
		want := "1101 1109 marked :0:0\n"
		if thumb {
			want = "1100 1108 marked :0:0\n"
		}
		d.expect(t, want+"\n1108 1110 next :0:0\n")
	}
}

// TestSymbols has the line rows of a unit without functions, and tables.
func TestSymbols(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.image.Base = 0x1000
	d.image.Symbols = []native.Symbol{
		{Addr: 0x1100, Size: 0x20, Name: "asm", Rank: symbol.RankSymtab, File: "a.s"},
		{Addr: 0x1110, Size: 4, Name: "inner", Rank: symbol.RankSymtab},
		{Addr: 0x1140, Name: "open", Rank: symbol.RankDynsym},
		{Addr: 0x1150, Size: 0x10, Name: "next", Rank: symbol.RankSymtab},
	}
	d.usual()
	lines := d.program(func(w *writer) {
		w.set(0x1100).row(0, 1, 9, 0).row(0x18, 1, 1, 0).u8(2).uleb(0x40).end()
	})
	d.unit(func(w *writer, start uint64) { w.head(langC, lines, 0x1100, 0x1148).u8(0) })
	d.expect(t, `
0100 0110 asm /src/a.c:10:0

0110 0114 inner /src/a.c:10:0

0114 0118 asm /src/a.c:10:0
0118 0120 asm /src/a.c:11:0

0120 0140  /src/a.c:11:0

0140 0148 open /src/a.c:11:0
`)
	var got string
	err := Symbols(&d.image, func(r *symbol.Run) error {
		got += fmt.Sprintf("%x %x %s %s %d\n", r.Ranges[0].Start, r.Ranges[0].End, r.Chain(0, nil)[0].Linkage, r.Chain(0, nil)[0].File, r.Rank)
		return nil
	})
	if want := "100 110 asm a.s 3\n110 114 inner  3\n114 120 asm a.s 3\n150 160 next  3\n140 150 open  4\n"; err != nil || got != want {
		t.Errorf("got\n%s%v, want\n%s", got, err, want)
	}
}

// TestApart has functions that the linker puts somewhere by themselves: the first's last row goes on in the padding and
// in the second, which has none of its own; the third begins with a row that repeats it.
func TestApart(t *testing.T) {
	for _, apart := range []bool{false, true} {
		d := newDebug(4, 4, 8, false)
		d.apart = apart
		d.image.Symbols = []native.Symbol{{Addr: 0x1100, Size: 0x10, Name: "f", Rank: symbol.RankSymtab}}
		d.usual()
		lines := d.program(func(w *writer) {
			w.set(0x1100).row(0, 1, 9, 0).row(0x20, 1, 0, 0).row(8, 1, 1, 0).u8(2).uleb(8).end()
		})
		d.unit(func(w *writer, _ uint64) {
			w.head(langC, lines, 0x1100, 0x1130)
			w.function(cLeaf, "f", 0x1100, 0x110c).function(cLeaf, "g", 0x1110, 0x1120).function(cLeaf, "h", 0x1120, 0x1130).u8(0)
		})
		want := `
1100 110c f /src/a.c:10:0

1110 1120 g /src/a.c:10:0

1120 1128 h /src/a.c:10:0
1128 1130 h /src/a.c:11:0

110c 1110 f /src/a.c:10:0
`
		if apart {
			want = `
1100 110c f /src/a.c:10:0

1110 1120 g :0:0

1120 1128 h /src/a.c:10:0
1128 1130 h /src/a.c:11:0
`
		}
		d.expect(t, want)
	}
}

func TestRefines(t *testing.T) {
	for _, c := range []struct {
		sym, name string
		want      bool
	}{
		{"f.cold", "f", true}, {"f.isra.0", "f", true}, {"f.", "f", false}, {"f2", "f", false}, {"alias", "f", false}, {"anything", "", true},
		{"_ZN1A1fEv", "A::f", true}, {"_ZN1A1gEv", "A::f", false}, {"_ZN1AD2Ev", "A::~A", true}, {"_Z1fIiEvv", "f<int>", true},
		{"_ZZ1fvENKUlvE_clEv", "f::operator()", true}, {"_ZN1AC2Ev.constprop.0", "_ZN1AC4Ev", true}, {"_ZN1AC1Ev", "_ZN1AC4Ev", true},
		{"_ZN1AC1Ev", "_ZN1AC2Ev", false}, {"_ZN1BC2Ev", "_ZN1AC4Ev", false},
		{"_ZNK1AclIN1B1CEEEvT_", "operator()<B::C>", true}, {"_ZN1A1BlsIiEEvT_", "A::B::operator<< <int>", true}, {"_ZNK1AcvbEv", "A::operator bool", true},
		{"_ZN1A1gEv", "A::operators", false}, {"_ZN1A1gEv", "myoperator()", false},
		{"*Cart(Int32)@Store(T)#add<String, Int32>:Nil", "add", true}, {"*Cart(Int32)@Store(T)#add<String>:Nil", "ad", false},
		{"*Cart::new:Cart", "new", true}, {"*total", "total", true}, {"*Cart#[]<Int32>:String", "[]", true}, {"*Cart#new_add:Nil", "add", false},
		{"~procProc(Nil)@src/cart.cr:42", "->", true}, {"~procProc(Nil)@src/cart.cr:42", "Proc", false}, {"~proc", "", true},
		{"OUTLINED_FUNCTION_7", "_OUTLINED_FUNCTION_7", true}, {"f", "_f", false},
		{"_D4demo4Cart5totalMFiZ5innerMFNbNiiZi", "total::inner", true}, // GDC's nested functions
		{"_D4demo4Cart5totalMFiZ5innerMFiZ7deepestMFNbNiiZi", "total::inner::deepest", true},
		{"_D4demo4Cart5totalMFiZ9__lambda3MFNbNiiZi", "total::__lambda3", true},
		{"_D4demo5otherFiZi", "total::inner", false},
		{"_Driver5inner", "inner", false},
		{"_D4demo5otherFiZi", "_D4demo5outerFiZi", false},
	} {
		if got := refines(c.sym, c.name); got != c.want {
			t.Errorf("refines(%q, %q) = %v", c.sym, c.name, got)
		}
	}
}

// TestZero has a function at address 0: code if a symbol is there, else what
// a linker threw away.
func TestZero(t *testing.T) {
	for _, real := range []bool{false, true} {
		d := newDebug(4, 4, 8, false)
		d.image.Code = []native.Span{{Start: 0, End: 0x100}}
		want := "0020 0030 g :0:0\n"
		if real {
			d.image.Symbols = []native.Symbol{{Addr: 0, Size: 0x10, Name: "f", Rank: symbol.RankSymtab}}
			want = "0000 0010 f :0:0\n\n" + want
		}
		d.usual()
		d.unit(func(w *writer, _ uint64) {
			w.u8(cBare).str("a.c").u8(langC).function(cLeaf, "f", 0, 0x10).function(cLeaf, "g", 0x20, 0x30)
			w.function(cLeaf, "x", 1, 1).function(cLeaf, "y", ^uint64(0), 8).function(cLeaf, "z", ^uint64(1), ^uint64(0)).u8(0)
		})
		d.expect(t, want)
	}
}

// TestAddressExpressions has lowest addresses that are said in expressions.
func TestAddressExpressions(t *testing.T) {
	for _, big := range []bool{false, true} {
		d := newDebug(5, 4, 8, big)
		d.usual()
		d.addrs.u32(20).u16(5).u8(8, 0).address(0x1100).address(0x1200)
		const cExpression = 20
		d.decl(cExpression, tSub, false, aName, fString, aLow, fExprloc, aHigh, fData4)
		d.unit(func(w *writer, _ uint64) {
			w.u8(cBare).str("a.c").u8(langC)
			function := func(name string, length byte, ops ...byte) *writer {
				return w.u8(cExpression).str(name).u8(length).u8(ops...)
			}
			function("index", 2, 0xa1, 0).u32(0x10)
			function("offset", 8, 0xa1, 1, 0x0c).u32(0x20).u8(0x22).u32(0x10)
			function("address", 9, 0x03).address(0x1300).u32(0x10)
			function("minus", 8, 0xa1, 1, 0x0c).u32(0x40).u8(0x1c).u32(0x10)
			function("more", 3, 0xa1, 1, 0x96).u32(0x10)
			function("cut", 4, 0x03, 0, 0x14, 0).u32(0x10)
			function("nothing", 0).u32(0x10)
			w.function(cLeaf, "plain", 0x1400, 0x1410).u8(0)
		})
		d.expect(t, `
1100 1110 index :0:0

1220 1230 offset :0:0

1300 1310 address :0:0

1400 1410 plain :0:0
`)
	}
}

// TestOperations has a line program of a machine with several operations in
// an instruction.
func TestOperations(t *testing.T) {
	d := newDebug(4, 4, 8, false)
	d.usual()
	lines := d.program(func(w *writer) {
		w.set(0x1100).row(0, 1, 9, 0).row(6, 1, 1, 0).row(2, 1, 1, 0).u8(13 + 14*8 + 5 + 1).u8(2).uleb(0x40).end()
	})
	d.line.b[11] = 4 // maximum_operations_per_instruction
	d.unit(func(w *writer, _ uint64) {
		w.head(langC, lines, 0x1100, 0x1110).function(cLeaf, "f", 0x1100, 0x1110).u8(0)
	})
	d.expect(t, `
1100 1101 f /src/a.c:10:0
1101 1102 f /src/a.c:11:0
1102 1104 f /src/a.c:12:0
1104 1110 f /src/a.c:13:0
`)
}
