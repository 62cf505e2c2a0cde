package pdb

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/codeview"
	"github.com/symlake/symlake/formats/symbol"
)

// part explodes parts, one after the other. It keeps its room from part to part.
type part struct {
	o      *object
	table  *table
	emit   func(*symbol.Run) error
	failed error // of emit
	run    symbol.Run

	room     []byte // of the stream of a module
	module   int    // its number
	files    []byte // its table of files
	names    []uint32
	inlinees []codeview.Inlinee
	sorted   bool // inlinees are
	rows     []codeview.Row
	lines    []line
	blocks   []block
	procs    []proc
	apart    []apart
	tree     tree
}

// line is code with one place, before code was moved.
type line struct {
	start, end uint32
	at         symbol.Site
}

// block is the lines of a piece of code.
type block struct {
	start, end  uint32
	first, last int // lines[first:last]
}

// proc is a procedure.
type proc struct {
	start, end uint32
	name       uint32
	rank       symbol.Rank
}

// apart is code of a procedure that lies apart from it.
type apart struct{ start, end, parent uint32 }

// module explodes a module.
func (p *part) explodeModule(ctx context.Context, i int, q *symbol.Quality) error {
	m := &p.o.dbi.modules[i]
	s, err := p.o.file.Stream("module", int(m.stream))
	if err != nil {
		return err
	}
	size := int64(m.symbols) + int64(m.old) + int64(m.c13)
	b, err := s.At(0, size, &p.room)
	if err != nil {
		return err
	}
	p.module = i
	lasting := s.Lasting(0, size)
	p.subsections(b[int64(m.symbols)+int64(m.old):], q)
	const signature = 4
	if m.symbols > signature {
		if err := p.symbols(ctx, b[:m.symbols], lasting); err != nil {
			return err
		}
	}
	return p.between()
}

// subsections reads the lines of a module, and finds its files and inlined functions.
func (p *part) subsections(b []byte, q *symbol.Quality) {
	p.lines, p.blocks, p.inlinees, p.files = p.lines[:0], p.blocks[:0], p.inlinees[:0], nil
	for rest := b; ; {
		kind, body, next, ok := codeview.NextSubsection(rest)
		if !ok {
			break
		}
		if rest = next; kind == codeview.FileChecksums {
			p.files = body
			n := len(body)/4 + 1
			p.names = slices.Grow(p.names[:0], n)[:n]
			clear(p.names)
		}
	}
	for {
		kind, body, next, ok := codeview.NextSubsection(b)
		if !ok {
			break
		}
		b = next
		switch kind {
		case codeview.Lines:
			ok = p.readLines(body)
		case codeview.InlineeLines:
			p.inlinees, ok = codeview.ReadInlinees(body, p.inlinees)
		}
		if !ok {
			q.LinesBroken++
		}
	}
	byStart := func(a, b block) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(p.blocks, byStart) {
		slices.SortStableFunc(p.blocks, byStart)
	}
	p.sorted = false
}

// readLines reads the lines of a piece of code.
func (p *part) readLines(b []byte) bool {
	code, rows, ok := codeview.ReadLines(b, p.rows[:0])
	p.rows = rows
	start, end, placed := p.o.layout.code(code.Section, code.Offset, code.Size)
	if !placed || len(rows) == 0 {
		return ok
	}
	byOffset := func(a, b codeview.Row) int { return cmp.Compare(a.Offset, b.Offset) }
	if !slices.IsSortedFunc(rows, byOffset) {
		slices.SortStableFunc(rows, byOffset)
	}
	shift := start - code.Offset
	first := len(p.lines)
	file, name := ^uint32(0), uint32(0)
	for i := range rows {
		r := &rows[i]
		l := line{start: r.Offset + shift, end: end}
		if i+1 < len(rows) {
			l.end = rows[i+1].Offset + shift
		}
		if l.end = min(l.end, end); l.start >= l.end || l.start < start {
			continue
		}
		if r.File != file {
			file, name = r.File, p.fileName(r.File)
		}
		l.at = symbol.Site{File: name, Line: r.Line, Column: r.Column}
		p.lines = append(p.lines, l)
	}
	if len(p.lines) > first {
		p.blocks = append(p.blocks, block{start, end, first, len(p.lines)})
	}
	return ok
}

// fileName returns the index of the name of a file of the module.
func (p *part) fileName(file uint32) uint32 {
	if uint64(file)+4 > uint64(len(p.files)) {
		return 0
	}
	known := &p.names[file/4]
	if *known == 0 {
		off, _ := codeview.FileName(p.files, file)
		*known = p.file(off) + 1
	}
	return *known - 1
}

// reading is where a reader of symbol records stands.
type reading struct {
	at    proc
	until int // where the records of the procedure at end; 0: there is none
}

// symbols reads the symbol records of a module and emits its procedures.
func (p *part) symbols(ctx context.Context, all []byte, lasting bool) error {
	p.procs, p.apart = p.procs[:0], p.apart[:0]
	const signature = 4
	b := all[signature:]
	var r reading
	for n := 0; ; n++ {
		if n&0xffff == 0xffff {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		kind, body, rest, ok := codeview.Next(b)
		off := len(all) - len(b)
		if r.until > 0 && (!ok || off >= r.until || isProc(kind)) {
			if err := p.procedure(&r.at); err != nil {
				return err
			}
			r.until = 0
		}
		if !ok {
			return p.separated()
		}
		b = rest
		if err := p.record(&r, kind, body, off, lasting); err != nil {
			return err
		}
	}
}

// record takes one symbol record, which stands at off.
func (p *part) record(r *reading, kind codeview.Kind, body []byte, off int, lasting bool) error {
	switch kind {
	case codeview.GlobalProc, codeview.LocalProc, codeview.GlobalProcID, codeview.LocalProcID, codeview.LocalProcDPC, codeview.LocalDPCID, codeview.GlobalProcOld, codeview.LocalProcOld:
		if proc, ok := codeview.ReadProc(kind, body); ok {
			entered, err := p.enter(&r.at, &proc, lasting)
			if entered {
				r.until = max(int(u32(body[4:])), off+1)
			}
			return err
		}
	case codeview.Thunk, codeview.ThunkOld:
		if proc, ok := codeview.ReadThunk(kind, body); ok && r.until == 0 {
			entered, err := p.enter(&r.at, &proc, lasting)
			if entered {
				r.until = off + 1
			}
			return err
		}
	case codeview.InlineSite, codeview.InlineSite2:
		if id, annotations, ok := codeview.ReadInlineSite(kind, body); ok && r.until > 0 {
			return p.inline(&r.at, id, annotations)
		}
	case codeview.InlineSiteEnd:
		p.tree.leave()
	case codeview.Separated:
		if c, parent, ok := codeview.ReadSeparated(body); ok {
			start, end, placed := p.o.layout.code(c.Section, c.Offset, c.Size)
			if from, ok := p.o.layout.place(parent.Section, parent.Offset); placed && ok {
				p.apart = append(p.apart, apart{start, end, from})
			}
		}
	case codeview.Trampoline:
		return p.trampoline(body)
	}
	return nil
}

func isProc(kind codeview.Kind) bool {
	switch kind {
	case codeview.GlobalProc, codeview.LocalProc, codeview.GlobalProcID, codeview.LocalProcID, codeview.LocalProcDPC, codeview.LocalDPCID, codeview.GlobalProcOld, codeview.LocalProcOld:
		return true
	}
	return false
}

// enter begins a procedure. ok is false if it has no code.
func (p *part) enter(at *proc, r *codeview.Proc, lasting bool) (ok bool, err error) {
	start, end, ok := p.o.layout.code(r.Section, r.Offset, r.Size)
	if !ok {
		return false, nil
	}
	*at = proc{start: start, end: end, rank: symbol.RankDWARF}
	if p.foreign(r.Section, r.Offset) {
		at.rank = symbol.RankBreakpad
	}
	if at.name, err = p.publicAt(start, r.Name); err == nil && at.name == 0 {
		at.name = p.table.add(p.text(r.Name, lasting))
	}
	p.tree.reset()
	return true, err
}

// foreign reports whether another module contributed the code at a place.
func (p *part) foreign(section uint16, off uint32) bool {
	list := p.o.dbi.contributions
	i := sort.Search(len(list), func(i int) bool {
		c := &list[i]
		return c.section > section || c.section == section && c.off > off
	}) - 1
	if i < 0 {
		return false
	}
	c := &list[i]
	return c.section == section && off-c.off < c.size && int(c.module) != p.module
}

// trampoline emits a stub that the linker made, by the name of the function that it jumps to.
func (p *part) trampoline(body []byte) error {
	c, target, ok := codeview.ReadTrampoline(body)
	if !ok {
		return nil
	}
	start, end, ok := p.o.layout.code(c.Section, c.Offset, c.Size)
	to, known := p.o.layout.place(target.Section, target.Offset)
	if !ok || !known {
		return nil
	}
	text, err := p.publicAt(to, nil)
	if err != nil || text == 0 {
		return err
	}
	p.begin(symbol.RankDWARF)
	if err := p.alone(start, end, text); err != nil {
		return err
	}
	return p.flush()
}

// separated emits code that lies apart from its procedure.
func (p *part) separated() error {
	slices.SortStableFunc(p.procs, func(a, b proc) int { return cmp.Compare(a.start, b.start) })
	all := p.procs
	for _, a := range p.apart {
		i := sort.Search(len(all), func(i int) bool { return all[i].start > a.parent }) - 1
		if i < 0 || a.parent >= all[i].end {
			continue
		}
		piece := proc{a.start, a.end, all[i].name, all[i].rank}
		p.tree.reset()
		if err := p.procedure(&piece); err != nil {
			return err
		}
	}
	if len(p.procs) > len(all) {
		slices.SortStableFunc(p.procs, func(a, b proc) int { return cmp.Compare(a.start, b.start) })
	}
	return nil
}

// linesOf returns the lines of code, and those behind it.
func (p *part) linesOf(start uint32) []line {
	i := sort.Search(len(p.blocks), func(i int) bool { return p.blocks[i].end > start })
	if i == len(p.blocks) {
		return nil
	}
	// Blocks ascend by their starts. Of damaged blocks, which overlap, some are not found.
	b := &p.blocks[i]
	lines := p.lines[b.first:b.last]
	return lines[sort.Search(len(lines), func(i int) bool { return lines[i].end > start }):]
}

// between emits the lines of code outside procedures.
func (p *part) between() error {
	procs := p.procs
	for i := range p.blocks {
		b := &p.blocks[i]
		for len(procs) > 0 && procs[0].end <= b.start {
			procs = procs[1:]
		}
		at := b.start
		for k := 0; k < len(procs) && procs[k].start < b.end && at < b.end; k++ {
			if err := p.outside(b, at, min(b.end, procs[k].start)); err != nil {
				return err
			}
			at = max(at, procs[k].end)
		}
		if err := p.outside(b, at, b.end); err != nil {
			return err
		}
	}
	return nil
}

// outside emits lines of a block that lie in no procedure.
func (p *part) outside(b *block, start, end uint32) error {
	if start >= end {
		return nil
	}
	ps := &p.o.publics
	lines := p.lines[b.first:b.last]
	lines = lines[sort.Search(len(lines), func(i int) bool { return lines[i].end > start }):]
	for start < end {
		i := ps.next(start)
		text, until := uint32(0), end
		if i < len(ps.at) {
			until = min(until, ps.at[i])
		}
		if i > 0 && ps.at[i-1] >= b.start {
			var err error
			if text, err = p.publicName(i-1, nil); err != nil {
				return err
			}
		}
		p.begin(symbol.RankDWARF)
		p.run.Scopes = append(p.run.Scopes, symbol.Scope{Parent: -1, Function: text})
		for ; len(lines) > 0 && lines[0].start < until; lines = lines[1:] {
			l := &lines[0]
			if from, to := max(l.start, start), min(l.end, until); from < to {
				if err := p.leaf(from, to, 0, l.at); err != nil {
					return err
				}
			}
			if l.end > until {
				break
			}
		}
		if err := p.flush(); err != nil {
			return err
		}
		start = until
	}
	return nil
}
