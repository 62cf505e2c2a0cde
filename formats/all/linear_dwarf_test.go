package all_test

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/formattest"
)

// Tags, attributes and forms of DWARF.
const (
	tagUnit, tagSub, tagInlined, tagBlock, tagSpace, tagClass   = 0x11, 0x2e, 0x1d, 0x0b, 0x39, 0x02
	atSibling, atName, atLines, atLow, atHigh, atLang           = 0x01, 0x03, 0x10, 0x11, 0x12, 0x13
	atOrigin, atSpec, atRanges, atCallLine, atLinkage           = 0x31, 0x47, 0x55, 0x59, 0x6e
	formAddr, formData8, formString, formRef4, formAt, formByte = 0x01, 0x07, 0x08, 0x13, 0x17, 0x0b
	atSplitName, atSplitID                                      = 0x2130, 0x2131
	formRefAddr                                                 = 0x10
)

// Abbreviations that every unit has.
const (
	cUnit = iota + 1
	cSub
	cInlined
	cSpace
	cAbstract
	cRanges
	cConcrete
	cSpec
	cBlock
	cFar
	cSkeleton
)

// debug is the debug sections of a file.
type debug struct{ abbrev, info, line, ranges, str blob }

// decl declares an abbreviation: a tag with attributes and forms.
func (d *debug) decl(code, tag uint64, children bool, pairs ...uint64) *debug {
	d.abbrev.uleb(code).uleb(tag)
	if children {
		d.abbrev.u8(1)
	} else {
		d.abbrev.u8(0)
	}
	for _, v := range pairs {
		d.abbrev.uleb(v)
	}
	d.abbrev.u8(0, 0)
	return d
}

// usual declares the abbreviations above and ends the table.
func (d *debug) usual() *debug {
	d.decl(cUnit, tagUnit, true, atName, formString, atLang, formByte, atLow, formAddr, atLines, formAt)
	d.decl(cSub, tagSub, true, atName, formString, atLow, formAddr, atHigh, formData8)
	d.decl(cInlined, tagInlined, true, atOrigin, formRef4, atLow, formAddr, atHigh, formData8, atCallLine, formByte)
	d.decl(cSpace, tagSpace, true, atName, formString)
	d.decl(cAbstract, tagSub, false, atName, formString)
	d.decl(cRanges, tagSub, true, atName, formString, atRanges, formAt)
	d.decl(cConcrete, tagSub, false, atOrigin, formRef4, atLow, formAddr, atHigh, formData8)
	d.decl(cSpec, tagSub, false, atSpec, formRef4)
	d.decl(cBlock, tagBlock, true, atLow, formAddr, atHigh, formData8)
	d.decl(cFar, tagSub, false, atOrigin, formRefAddr, atLow, formAddr, atHigh, formData8)
	d.decl(cSkeleton, tagUnit, false, atSplitName, formString, atSplitID, formData8, atLines, formAt, atLow, formAddr, atHigh, formData8)
	d.abbrev.u8(0)
	return d
}

// unit adds a unit of version 4 with the entries that fill writes, with the abbreviations and line table at these offsets. at is
// where a position in the entries is, counted from the unit.
func (d *debug) unit(abbrev, lines int, fill func(w *blob)) {
	w := new(blob).u32(0).u16(4).u32(uint32(abbrev)).u8(8)
	w.uleb(cUnit).str("a.cc").u8(4).u64(0).u32(uint32(lines))
	fill(w)
	w.u8(0)
	copy(w.b, new(blob).u32(uint32(len(w.b)-4)).b)
	d.info.u8(w.b...)
}

// lineTable adds a line table with n files and the program that fill writes, and returns its offset.
func (d *debug) lineTable(files int, fill func(w *blob)) int { return d.lineTableIn("d", files, fill) }

// lineTableIn is lineTable with the folder of all files.
func (d *debug) lineTableIn(folder string, files int, fill func(w *blob)) int {
	at := len(d.line.b)
	head := new(blob).u8(1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1)
	head.str(folder).u8(0)
	for i := range files {
		head.str(fmt.Sprintf("f%d.cc", i)).u8(1, 0, 0)
	}
	head.u8(0)
	program := &blob{}
	fill(program)
	d.line.u32(uint32(2 + 4 + len(head.b) + len(program.b))).u16(4).u32(uint32(len(head.b))).u8(head.b...).u8(program.b...)
	return at
}

func (w *blob) setAddress(addr uint64) *blob { return w.u8(0, 9, 2).u64(addr) }
func (w *blob) endSequence() *blob           { return w.u8(0, 1, 1) }

// function writes a function, which the caller ends.
func (w *blob) function(name string, low, size uint64) *blob {
	return w.uleb(cSub).str(name).u64(low).u64(size)
}

func (w *blob) inlined(origin int, low, size uint64) *blob {
	return w.uleb(cInlined).u32(uint32(origin)).u64(low).u64(size).u8(7)
}

func (d *debug) elf() string {
	all := symbolsOf(1, one)
	for _, s := range []struct {
		name string
		body *blob
	}{{".debug_abbrev", &d.abbrev}, {".debug_info", &d.info}, {".debug_line", &d.line}, {".debug_ranges", &d.ranges}, {".debug_str", &d.str}} {
		all = append(all, section{name: s.name, kind: 1, body: s.body.b})
	}
	return elfOf(all...)
}

// dwarf is a shape of a file with one unit, which has entries for n, and a line table for n.
func dwarf(name string, n int, entries func(w *blob, n int), files int, program func(w *blob, n int)) formattest.Shape {
	return of("dwarf/"+name, "a.so", n, func(n int) string {
		d := new(debug).usual()
		lines := d.lineTable(files, func(w *blob) { program(w, n) })
		d.unit(0, lines, func(w *blob) { entries(w, n) })
		return d.elf()
	})
}

func function(w *blob, _ int) { w.function("f", codeStart, 1<<20).u8(0) }
func row(w *blob, _ int)      { w.setAddress(codeStart).u8(1).u8(2).uleb(1 << 20).endSequence() }

// origin writes the function that others are copies of, and returns where it is.
func origin(w *blob) int {
	at := len(w.b)
	w.uleb(cAbstract).str("g")
	return at
}

func repeat(n int, write func(i int)) {
	for i := range n {
		write(i)
	}
}

var dwarfShapes = []formattest.Shape{
	dwarf("functions", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function(fmt.Sprint("f", i), codeStart+16*uint64(i), 16).u8(0) })
	}, 1, row),
	dwarf("functions at one address", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function("f", codeStart, 16).u8(0) })
	}, 1, row),
	dwarf("functions over each other", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function("f", codeStart+16*uint64(i), 1<<20).u8(0) })
	}, 1, row),
	dwarf("functions around each other", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function("f", codeStart+16*uint64(i), 1<<24-32*uint64(i)).u8(0) })
	}, 1, row),
	dwarf("functions backward", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function("f", codeStart+1<<24-16*uint64(i), 16).u8(0) })
	}, 1, row),
	dwarf("functions in functions", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function("f", codeStart+16*uint64(i), 1<<24-32*uint64(i)) })
		repeat(n, func(int) { w.u8(0) })
	}, 1, row),
	dwarf("inlined functions", 3000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.inlined(g, codeStart+16*uint64(i), 8).u8(0) })
		w.u8(0)
	}, 1, row),
	dwarf("inlined functions at one address", 3000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.inlined(g, codeStart, 8).u8(0) })
		w.u8(0)
	}, 1, row),
	dwarf("inlined functions over each other", 3000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.inlined(g, codeStart+16*uint64(i), 1<<20).u8(0) })
		w.u8(0)
	}, 1, row),
	dwarf("inlined functions around each other", 3000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.inlined(g, codeStart+16*uint64(i), 1<<20-32*uint64(i)).u8(0) })
		w.u8(0)
	}, 1, row),
	dwarf("nested inlined functions", 450, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.inlined(g, codeStart, 1<<20) })
		repeat(n+1, func(int) { w.u8(0) })
	}, 1, row),
	dwarf("deep inlined functions", 2000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.inlined(g, codeStart+16*uint64(i), 1<<24-32*uint64(i)) })
		repeat(n+1, func(int) { w.u8(0) })
	}, 1, row),
	dwarf("rows under deep inlined functions", 2000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(200, func(i int) { w.inlined(g, codeStart, 1<<24) })
		repeat(200+1, func(int) { w.u8(0) })
	}, 1, func(w *blob, n int) {
		w.setAddress(codeStart)
		repeat(n, func(int) { w.u8(2, 4, 3, 1, 1) })
		w.endSequence()
	}),
	dwarf("blocks", 3000, func(w *blob, n int) {
		g := origin(w)
		w.function("f", codeStart, 1<<24)
		repeat(n, func(i int) { w.uleb(cBlock).u64(codeStart).u64(1 << 20) })
		w.inlined(g, codeStart, 8).u8(0)
		repeat(n+1, func(int) { w.u8(0) })
	}, 1, row),
	dwarf("scopes", 3000, func(w *blob, n int) {
		repeat(n, func(i int) { w.uleb(cSpace).str("n") })
		w.function("f", codeStart, 16).u8(0)
		repeat(n, func(int) { w.u8(0) })
	}, 1, row),
	dwarf("functions in scopes", 2000, func(w *blob, n int) {
		repeat(n, func(i int) {
			w.uleb(cSpace).str("n").function("f", codeStart+16*uint64(i), 16).u8(0)
		})
		repeat(n, func(int) { w.u8(0) })
	}, 1, row),
	dwarf("names of scopes", 2000, func(w *blob, n int) {
		repeat(n, func(i int) {
			w.uleb(cSpace).str(fmt.Sprint("n", i)).function("f", codeStart+16*uint64(i), 16).u8(0).u8(0)
		})
	}, 1, row),
	dwarf("chain of origins", 3000, func(w *blob, n int) {
		last := origin(w)
		repeat(n, func(i int) {
			at := len(w.b)
			w.uleb(cSpec).u32(uint32(last))
			last = at
			w.uleb(cConcrete).u32(uint32(last)).u64(codeStart + 16*uint64(i)).u64(16)
		})
	}, 1, row),
	dwarf("origins in a circle", 3000, func(w *blob, n int) {
		at := len(w.b)
		w.uleb(cSpec).u32(uint32(at + 5)).uleb(cSpec).u32(uint32(at))
		repeat(n, func(i int) { w.uleb(cConcrete).u32(uint32(at)).u64(codeStart + 16*uint64(i)).u64(16) })
	}, 1, row),
	dwarf("rows", 5000, function, 1, func(w *blob, n int) {
		w.setAddress(codeStart)
		repeat(n, func(int) { w.u8(2, 4, 3, 1, 1) })
		w.endSequence()
	}),
	dwarf("rows at one address", 5000, function, 1, func(w *blob, n int) {
		w.setAddress(codeStart)
		repeat(n, func(int) { w.u8(3, 1, 1) })
		w.u8(2, 4).endSequence()
	}),
	dwarf("sequences", 3000, function, 1, func(w *blob, n int) {
		repeat(n, func(i int) { w.setAddress(codeStart+16*uint64(i)).u8(1, 2, 8).endSequence() })
	}),
	dwarf("sequences at one address", 3000, function, 1, func(w *blob, n int) {
		repeat(n, func(i int) { w.setAddress(codeStart).u8(1, 2, 8).endSequence() })
	}),
	dwarf("sequences over each other", 3000, function, 1, func(w *blob, n int) {
		repeat(n, func(i int) { w.setAddress(codeStart+16*uint64(i)).u8(1, 2).uleb(1 << 20).endSequence() })
	}),
	dwarf("sequences backward", 3000, function, 1, func(w *blob, n int) {
		repeat(n, func(i int) { w.setAddress(codeStart+1<<20-16*uint64(i)).u8(1, 2, 8).endSequence() })
	}),
	dwarf("rows and functions", 2000, func(w *blob, n int) {
		repeat(n, func(i int) { w.function("f", codeStart+16*uint64(i), 16).u8(0) })
	}, 1, func(w *blob, n int) {
		w.setAddress(codeStart)
		repeat(n, func(int) { w.u8(2, 8, 3, 1, 1) })
		w.endSequence()
	}),
	of("dwarf/files", "a.so", 3000, func(n int) string {
		d := new(debug).usual()
		lines := d.lineTable(n, func(w *blob) {
			w.setAddress(codeStart)
			repeat(n, func(i int) { w.u8(4).uleb(uint64(i+1)).u8(2, 4, 1) })
			w.endSequence()
		})
		d.unit(0, lines, func(w *blob) { function(w, n) })
		return d.elf()
	}),
	rejects("shorter paths", of("dwarf/files of a long folder", "a.so", 1500, func(n int) string {
		d := new(debug).usual()
		lines := d.lineTableIn(strings.Repeat("d", 60_000), n, func(w *blob) {
			w.setAddress(codeStart)
			repeat(n, func(i int) { w.u8(4).uleb(uint64(i+1)).u8(2, 4, 1) })
			w.endSequence()
		})
		d.unit(0, lines, func(w *blob) { function(w, n) })
		return d.elf()
	})),
	units("units", 2000, func(d *debug, w *blob, i int) { w.function("f", codeStart+16*uint64(i), 16).u8(0) }),
	of("dwarf/split units that are missing", "a.so", 500, func(n int) string {
		d := new(debug).usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		repeat(n, func(i int) {
			w := new(blob).u32(0).u16(4).u32(0).u8(8)
			w.uleb(cSkeleton).str(fmt.Sprintf("x%d.dwo", i)).u64(uint64(i)).u32(uint32(lines)).u64(codeStart).u64(16)
			copy(w.b, new(blob).u32(uint32(len(w.b)-4)).b)
			d.info.u8(w.b...)
		})
		return d.elf()
	}),
	units("units at one address", 2000, func(d *debug, w *blob, i int) { w.function("f", codeStart, 16).u8(0) }),
	units("empty units", 5000, func(d *debug, w *blob, i int) {
		if i == 0 {
			function(w, 0)
		}
	}),
	of("dwarf/units with tables of their own", "a.so", 1000, func(n int) string {
		d := &debug{}
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		for i := range n {
			at := len(d.abbrev.b)
			d.usual()
			d.unit(at, lines, func(w *blob) { w.function("f", codeStart+16*uint64(i), 16).u8(0) })
		}
		return d.elf()
	}),
	of("dwarf/units that share a large table", "a.so", 500, func(n int) string {
		d := &debug{}
		repeat(n, func(i int) { d.decl(uint64(100+i), tagSub, false, atName, formString) })
		d.usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		repeat(n, func(i int) { d.unit(0, lines, func(w *blob) { w.function("f", codeStart+16*uint64(i), 16).u8(0) }) })
		return d.elf()
	}),
	rejects("abbreviation tables", of("dwarf/units inside one large table", "a.so", 2000, func(n int) string {
		d := &debug{}
		var at []int
		repeat(n, func(i int) {
			at = append(at, len(d.abbrev.b))
			d.decl(uint64(100+i), tagSub, false, atName, formString)
		})
		d.usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		repeat(n, func(i int) {
			d.unit(at[i], lines, func(w *blob) { w.function("f", codeStart+16*uint64(i), 16).u8(0) })
		})
		return d.elf()
	})),
	of("dwarf/sparse abbreviations", "a.so", 2000, func(n int) string {
		d := &debug{}
		repeat(n, func(i int) { d.decl(uint64(1000+7919*i), tagSub, false, atName, formString) })
		d.usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		d.unit(0, lines, func(w *blob) {
			repeat(n, func(i int) { w.uleb(uint64(1000 + 7919*i)).str("x") })
			function(w, 0)
		})
		return d.elf()
	}),
	of("dwarf/references to a unit with a large table", "a.so", 500, func(n int) string {
		d := &debug{}
		repeat(n, func(i int) { d.decl(uint64(100+i), tagSub, false, atName, formString) })
		d.usual()
		far := len(d.abbrev.b)
		d.usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		var at int
		d.unit(0, lines, func(w *blob) { at = origin(w) })
		repeat(n, func(i int) {
			d.unit(far, lines, func(w *blob) { w.uleb(cFar).u32(uint32(at)).u64(codeStart + 16*uint64(i)).u64(16) })
		})
		return d.elf()
	}),
	of("dwarf/references to all units", "a.so", 1000, func(n int) string {
		d := new(debug).usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		var at []int
		repeat(n, func(i int) {
			start := len(d.info.b)
			d.unit(0, lines, func(w *blob) { at = append(at, start+origin(w)) })
		})
		d.unit(0, lines, func(w *blob) {
			repeat(n, func(i int) { w.uleb(cFar).u32(uint32(at[i])).u64(codeStart + 16*uint64(i)).u64(16) })
		})
		return d.elf()
	}),
	of("dwarf/ranges of one function", "a.so", 3000, func(n int) string {
		d := new(debug).usual()
		repeat(n, func(i int) { d.ranges.u64(codeStart + 32*uint64(i)).u64(codeStart + 32*uint64(i) + 16) })
		d.ranges.u64(0).u64(0)
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		d.unit(0, lines, func(w *blob) { w.uleb(cRanges).str("f").u32(0).u8(0) })
		return d.elf()
	}),
	of("dwarf/ranges over each other", "a.so", 3000, func(n int) string {
		d := new(debug).usual()
		repeat(n, func(i int) { d.ranges.u64(codeStart + 32*uint64(i)).u64(codeStart + 1<<20) })
		d.ranges.u64(0).u64(0)
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		d.unit(0, lines, func(w *blob) { w.uleb(cRanges).str("f").u32(0).u8(0) })
		return d.elf()
	}),
}

// units is a shape of n units that share their tables.
func units(name string, n int, entries func(d *debug, w *blob, i int)) formattest.Shape {
	return of("dwarf/"+name, "a.so", n, func(n int) string {
		d := new(debug).usual()
		lines := d.lineTable(1, func(w *blob) { row(w, 0) })
		repeat(n, func(i int) { d.unit(0, lines, func(w *blob) { entries(d, w, i) }) })
		return d.elf()
	})
}
