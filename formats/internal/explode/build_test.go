package explode

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// writer assembles a section by hand.
type writer struct {
	b    []byte
	big  bool
	addr int // bytes of an address
	off  int // bytes of an offset
}

func (w *writer) num(n int, v uint64) *writer {
	var b [8]byte
	if w.big {
		binary.BigEndian.PutUint64(b[:], v)
		w.b = append(w.b, b[8-n:]...)
	} else {
		binary.LittleEndian.PutUint64(b[:], v)
		w.b = append(w.b, b[:n]...)
	}
	return w
}

func (w *writer) u8(v ...byte) *writer      { w.b = append(w.b, v...); return w }
func (w *writer) u16(v uint64) *writer      { return w.num(2, v) }
func (w *writer) u32(v uint64) *writer      { return w.num(4, v) }
func (w *writer) address(v uint64) *writer  { return w.num(w.addr, v) }
func (w *writer) offset(v uint64) *writer   { return w.num(w.off, v) }
func (w *writer) str(s string) *writer      { w.b = append(append(w.b, s...), 0); return w }
func (w *writer) at() uint64                { return uint64(len(w.b)) }
func (w *writer) uleb(v uint64) *writer     { w.b = binary.AppendUvarint(w.b, v); return w }
func (w *writer) uleb2(a, b uint64) *writer { return w.uleb(a).uleb(b) }

// sized puts what fill writes behind its length.
func (w *writer) sized(fill func()) *writer {
	if w.off == 8 {
		w.u32(0xffffffff)
	}
	at := len(w.b)
	w.offset(0)
	fill()
	length := writer{big: w.big}
	length.num(w.off, uint64(len(w.b)-at-w.off))
	copy(w.b[at:], length.b)
	return w
}

// debug is DWARF made by hand: one abbreviation table, units of one shape.
type debug struct {
	version                                int
	info, abbrev, line, ranges, rnglists   writer
	str, lineStr, strOffsets, addrs, types writer
	image                                  native.Image
	alt                                    *debug
	altID                                  string
	limits                                 formats.Limits
	unmapped, apart                        bool
}

func newDebug(version, offSize, addrSize int, big bool) *debug {
	d := &debug{version: version}
	for _, w := range d.writers() {
		w.big, w.addr, w.off = big, addrSize, offSize
	}
	d.str.str("") // so that no name is at offset 0
	d.image.Code = []native.Span{{Start: 0x1000, End: 0x100000}}
	if addrSize == 2 {
		d.image.Code[0].End = 0xf000
	}
	return d
}

func (d *debug) writers() []*writer {
	return []*writer{&d.info, &d.abbrev, &d.line, &d.ranges, &d.rnglists, &d.str, &d.lineStr, &d.strOffsets, &d.addrs, &d.types}
}

// Tags, attributes and forms as the standard numbers them.
const (
	tUnit, tPartial, tSub, tInline, tBlock, tStruct, tNamespace    = 0x11, 0x3c, 0x2e, 0x1d, 0x0b, 0x13, 0x39
	aName, aStmt, aLow, aHigh, aLang, aDir, aOrigin, aSpec         = 0x03, 0x10, 0x11, 0x12, 0x13, 0x1b, 0x31, 0x47
	aRanges, aCallFile, aCallLine, aCallColumn, aLinkage           = 0x55, 0x58, 0x59, 0x57, 0x6e
	aStrBase, aAddrBase, aRngBase, aSibling, aDwoName, aDwoID      = 0x72, 0x73, 0x74, 0x01, 0x2130, 0x2131
	fAddr, fData1, fData2, fData4, fData8, fString, fStrp, fUdata  = 0x01, 0x0b, 0x05, 0x06, 0x07, 0x08, 0x0e, 0x0f
	fRef4, fRefAddr, fSec, fIndirect, fBlock, fStrx1, fAddrx       = 0x13, 0x10, 0x17, 0x16, 0x09, 0x25, 0x1b
	fExprloc                                                       = 0x18
	fRnglistx, fImplicit, fRefAlt, fStrpAlt, fFlagPresent, fRefUdt = 0x23, 0x21, 0x1f20, 0x1f21, 0x19, 0x15
)

// decl adds an abbreviation; pairs are attributes and forms, fImplicit and
// its value a triple.
func (d *debug) decl(code, tag uint64, children bool, pairs ...uint64) {
	d.abbrev.uleb2(code, tag)
	if children {
		d.abbrev.u8(1)
	} else {
		d.abbrev.u8(0)
	}
	for i := 0; i < len(pairs); i += 2 {
		d.abbrev.uleb2(pairs[i], pairs[i+1])
		if pairs[i+1] == fImplicit {
			i++
			d.abbrev.sleb(int64(pairs[i+1]))
		}
	}
	d.abbrev.u8(0, 0)
}

// unit adds a unit; fill writes its entries; start is the offset of its
// header.
func (d *debug) unit(fill func(w *writer, start uint64)) {
	w := &d.info
	start := w.at()
	w.sized(func() {
		w.u16(uint64(d.version))
		if d.version >= 5 {
			w.u8(1, byte(w.addr)).offset(0)
		} else {
			w.offset(0).u8(byte(w.addr))
		}
		fill(w, start)
	})
}

// program adds a line table of version 4 (or d.version below) with two files;
// fill writes the instructions.
func (d *debug) program(fill func(w *writer)) (off uint64) {
	w := &d.line
	off = w.at()
	w.sized(func() {
		w.u16(uint64(min(d.version, 4)))
		head := writer{big: w.big}
		head.u8(1)
		if d.version >= 4 {
			head.u8(1)
		}
		head.u8(1, 0xfb, 14, 13) // is_stmt, line_base -5, line_range 14, opcode_base 13
		head.u8(0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)
		head.str("inc").str("")
		head.str("a.c").u8(0, 0, 0).str("b.h").u8(1, 0, 0).u8(0)
		w.offset(uint64(len(head.b)))
		w.u8(head.b...)
		fill(w)
	})
	return off
}

// set, row and end are instructions of a line program. A row lies advance
// bytes behind the last one and delta lines below it.
func (w *writer) set(addr uint64) *writer { return w.u8(0, byte(1+w.addr), 2).address(addr) }
func (w *writer) end() *writer            { return w.u8(0, 1, 1) }
func (w *writer) row(advance, file uint64, delta int64, column uint64) *writer {
	return w.u8(2).uleb(advance).u8(4).uleb(file).u8(5).uleb(column).u8(3).sleb(delta).u8(1)
}

func (w *writer) sleb(v int64) *writer {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return w.u8(c)
		}
		w.u8(c | 0x80)
	}
}

func (d *debug) sections() dwarf.Sections {
	lim := d.limits.WithDefaults()
	in := func(name string, w *writer) *formats.Input {
		if len(w.b) == 0 {
			return nil
		}
		i := &formats.Input{Name: name, Size: int64(len(w.b)), Limits: &lim, Bytes: bytes.NewReader(w.b)}
		if !d.unmapped {
			i.Mapped = w.b
		}
		return i
	}
	s := dwarf.Sections{
		Info: in("info", &d.info), Abbrev: in("abbrev", &d.abbrev), Line: in("line", &d.line), LineStr: in("line_str", &d.lineStr),
		Str: in("str", &d.str), StrOffsets: in("str_offsets", &d.strOffsets), Addr: in("addr", &d.addrs),
		Ranges: in("ranges", &d.ranges), Rnglists: in("rnglists", &d.rnglists), Types: in("types", &d.types),
		BigEndian: d.info.big, AddrSize: d.info.addr, Format: "elf", AltID: d.altID,
	}
	if d.alt != nil {
		alt := d.alt.sections()
		s.Alt = &alt
	}
	return s
}

func (d *debug) open(t testing.TB) *Exploder {
	t.Helper()
	lim := d.limits.WithDefaults()
	data, err := dwarf.Open(context.Background(), d.sections(), &lim)
	if err != nil {
		t.Fatal(err)
	}
	x := Units(data, &d.image)
	x.Apart = d.apart
	return x
}

// explode prints the runs of all parts, a range a line, a blank line between
// runs, and the sum of the qualities.
func (d *debug) explode(t testing.TB) (string, symbol.Quality) {
	t.Helper()
	d.abbrev.u8(0)
	x := d.open(t)
	var out strings.Builder
	var sum symbol.Quality
	for i := range x.Parts() {
		c := newChecker(t)
		q, err := x.Part(context.Background(), i, func(r *symbol.Run) error {
			c.run(r)
			if out.Len() > 0 {
				out.WriteByte('\n')
			}
			for k, v := range r.Ranges {
				fmt.Fprintf(&out, "%04x %04x", v.Start, v.End)
				for _, f := range r.Chain(k, nil) {
					fmt.Fprintf(&out, " %s %s:%d:%d", f.Linkage, f.File, f.Line, f.Column)
				}
				out.WriteByte('\n')
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c.disjoint()
		sum.Units += q.Units
		sum.UnitsBroken += q.UnitsBroken
		sum.LinesBroken += q.LinesBroken
		sum.Missing = append(sum.Missing, q.Missing...)
		sum.Warnings = append(sum.Warnings, q.Warnings...)
	}
	return out.String(), sum
}

// expect compares what explode prints.
func (d *debug) expect(t *testing.T, want string) symbol.Quality {
	t.Helper()
	got, q := d.explode(t)
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	return q
}
