package explode

import (
	"context"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// seeds are small units of every kind made by hand.
func seeds() []*debug {
	var list []*debug
	for _, version := range []int{2, 4, 5} {
		for _, big := range []bool{false, true} {
			d := newDebug(version, 4, 8, big)
			d.usual()
			d.decl(20, tSub, true, aName, fStrp, aRanges, fSec)
			d.decl(21, tInline, false, aOrigin, fRefUdt, aLow, fAddrx, aHigh, fUdata, aCallFile, fImplicit, 1)
			d.decl(22, tSub, false, aLinkage, fStrx1, aName, fIndirect, aSibling, fRef4, 0x40, fBlock, aRanges, fRnglistx)
			d.str.str("name").str("_Z4namev")
			d.strOffsets.u32(8).u16(5).u16(0).u32(1).u32(6)
			d.addrs.u32(12).u16(5).u8(8, 0).address(0x1140)
			lines := d.program(func(w *writer) {
				w.set(0x1100).row(0, 1, 9, 1).u8(0x20, 0x4b, 0x4c, 8, 9, 4, 0).row(0x20, 2, 10, 2).u8(2).uleb(0x40).end()
			})
			d.ranges.address(0).address(0x40).address(^uint64(0)).address(0x1000).address(1).address(2).address(0).address(0)
			d.rnglists.sized(func() {
				d.rnglists.u16(5).u8(8, 0).u32(1).u32(4)
				d.rnglists.u8(7).address(0x1100).uleb(0x80).u8(1, 0, 3, 0, 5, 4, 1, 9, 2, 0, 0, 5).address(0x1200).u8(6).address(1).address(2).u8(0)
			})
			d.unit(func(w *writer, start uint64) {
				w.head(langCPP, lines, 0x1100, 0x1200)
				g := w.at() - start
				w.u8(cDecl).str("g").u8(0)
				w.u8(cSpace).u8(cStruct).str("S")
				w.u8(20).u32(1).u32(0)
				w.u8(21).uleb(g).u8(0, 16)
				w.inline(g, 0x1120, 0x1140, 1, 12).u8(0, 0)
				w.u8(22, 1, fString, 'n', 0).u32(0).u8(2, 1, 2, 0)
				w.u8(0, 0, 0)
			})
			d.abbrev.u8(0)
			list = append(list, d)
		}
	}
	return list
}

// FuzzUnits explodes random units: no panic, runs as promised, and no
// error but of limits once the units are told apart.
func FuzzUnits(f *testing.F) {
	for _, d := range seeds() {
		f.Add(d.info.b, d.abbrev.b, d.line.b, d.ranges.b, d.rnglists.b, d.str.b, d.strOffsets.b, d.addrs.b, d.info.big, true)
	}
	f.Fuzz(func(t *testing.T, info, abbrev, line, ranges, rnglists, str, strOffsets, addrs []byte, big, mapped bool) {
		d := &debug{unmapped: !mapped}
		for i, b := range [][]byte{info, abbrev, line, ranges, rnglists, str, nil, strOffsets, addrs} {
			*d.writers()[i] = writer{b: b, big: big, addr: 8, off: 4}
		}
		d.image.Code = []native.Span{{Start: 0x1000, End: 0x100000}}
		d.image.Symbols = []native.Symbol{{Addr: 0x1100, Size: 0x20, Name: "f.cold", Rank: symbol.RankSymtab}, {Addr: 0x1180, Name: "g", Rank: symbol.RankDynsym}}
		d.limits = formats.Limits{Units: 100}
		lim := d.limits.WithDefaults()
		data, err := dwarf.Open(context.Background(), d.sections(), &lim)
		if err != nil {
			if !formats.Rejects(err) {
				t.Fatal(err)
			}
			return
		}
		x := Units(data, &d.image)
		for i := range x.Parts() {
			c := newChecker(t)
			q, err := x.Part(context.Background(), i, func(r *symbol.Run) error {
				c.run(r)
				return nil
			})
			if err != nil && !formats.Rejects(err) {
				t.Fatal(err)
			}
			if q.Units != 1 || q.UnitsBroken > 1 {
				t.Fatalf("quality %+v", q)
			}
			c.disjoint()
		}
		data.Missing()
	})
}
