package pclntab

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Indices into the tables of a function.
const (
	pcdataInline   = 2
	funcdataInline = 3
)

// none stands for data that a function does not have.
const none = math.MaxUint32

// part reads functions, one after the other. Its memory is used again.
type part struct {
	t    *Table
	img  *native.Image
	lim  *formats.Limits
	emit func(*symbol.Run) error

	names, files native.NameTable
	known        [2]map[uint32]uint32 // offsets of names and files, to their index in run.Strings
	left         int                  // bytes of values that may still be read

	run symbol.Run
	f   function
}

// function is one function. Its addresses count from its entry.
type function struct {
	size                uint64
	units               uint32 // where its compilation unit's list of files begins
	file, line, inlined []step
	tree                []byte
	scopes              map[int32]int32 // of inlined calls, to their index in run.Scopes; pending while they are made
	depth               map[int32]int   // of scopes
}

// pending marks a scope while its parent is looked for: it must not be its own.
const pending = -2

// step is a value up to an address.
type step struct {
	end   uint64
	value int32
}

// Explode emits the runs of one part, in unslid addresses less img.Base. A function that is damaged, or lies outside of
// the code, counts as a broken unit. emit's error comes back unchanged. Strings of runs alias the file.
func (t *Table) Explode(ctx context.Context, img *native.Image, lim *formats.Limits, i int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	var q symbol.Quality
	if i < 0 || i >= t.Parts() {
		return q, fmt.Errorf("pclntab: part %d of %d", i, t.Parts())
	}
	source := &native.Source{Format: "pclntab"}
	const share = 64 // times the values that a part may read: functions share them
	p := &part{t: t, img: img, lim: lim, emit: emit, left: 1<<20 + share*len(t.tab)/t.Parts(),
		names: native.NameTable{File: source, Section: "function names", B: t.b[t.names:t.units], Max: lim.NameBytes},
		files: native.NameTable{File: source, Section: "file names", B: t.b[t.files:t.data], Max: lim.NameBytes},
		known: [2]map[uint32]uint32{{}, {}},
		run:   symbol.Run{Rank: symbol.RankBreakpad, Strings: []string{""}, Table: new(int)},
		f:     function{scopes: map[int32]int32{}, depth: map[int32]int{}},
	}
	first := i * partFuncs
	for i := first; i < min(t.count, first+partFuncs); i++ {
		if i%256 == 0 && ctx.Err() != nil {
			return q, ctx.Err()
		}
		q.Units++
		err := p.function(i)
		if errors.Is(err, errDamaged) {
			q.UnitsBroken++
			continue
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// errDamaged says that a function cannot be read.
var errDamaged = errors.New("damaged function")

func (p *part) function(i int) error {
	t, f := p.t, &p.f
	start, next := t.entry(i), t.entry(i+1)
	span, inside := p.img.Span(start)
	if !inside || start < p.img.Base {
		return errDamaged
	}
	end := span.End
	if next > start {
		end = min(end, next)
	} else if len(t.module.sections) == 0 {
		return errDamaged
	}
	f.size = end - start

	head, word := t.number(2*i+1), uint64(t.entrySize())
	fixed := word + 36 // bytes before the offsets of values
	if t.version == go120 {
		fixed += 4
	}
	from := uint64(t.funcs) + head
	if head > uint64(len(t.b)) || from+fixed > uint64(len(t.b)) {
		return errDamaged
	}
	r := native.Fields{B: t.b[from:], Order: t.mem.Order}
	at := int(word)
	values, data := uint64(r.U32(at+24)), uint64(r.B[fixed-1])
	if fixed+4*values+data*word > uint64(len(r.B)) {
		return errDamaged
	}
	f.units = r.U32(at + 28)
	var err error
	if f.file, err = p.steps(r.U32(at+16), f.file); err != nil {
		return err
	}
	if f.line, err = p.steps(r.U32(at+20), f.line); err != nil {
		return err
	}
	f.inlined, f.tree = f.inlined[:0], nil
	if values > pcdataInline && data > funcdataInline {
		if f.inlined, err = p.steps(r.U32(int(fixed)+4*pcdataInline), f.inlined); err != nil {
			return err
		}
		if f.tree, err = t.inlineTree(from, fixed+4*values, r); err != nil {
			return err
		}
	}
	name, err := p.name(r.U32(at))
	if err != nil {
		return err
	}
	return p.lines(start-p.img.Base, name)
}

// inlineTree returns the memory from a function's inlined calls on. Its data begins off behind its head, which is at from.
func (t *Table) inlineTree(from, off uint64, r native.Fields) ([]byte, error) {
	if t.version != go116 {
		v := r.U32(int(off) + 4*funcdataInline)
		if v == none || t.module.funcdata == 0 {
			return nil, nil
		}
		return t.tree(t.module.funcdata + uint64(v))
	}
	size := uint64(t.mem.AddrSize)
	at := (t.addr+from+off+size-1)&^(size-1) - t.addr + funcdataInline*size
	if at+size > uint64(len(t.b)) {
		return nil, errDamaged
	}
	addr := t.mem.Word(t.b[at:], t.addr+at)
	if addr == 0 {
		return nil, nil
	}
	return t.tree(addr)
}

// steps reads values by address, into the memory of to. Offset 0 has none.
func (p *part) steps(off uint32, to []step) ([]step, error) {
	to = to[:0]
	if off == 0 {
		return to, nil
	}
	if uint64(off) >= uint64(len(p.t.tab)) {
		return to, errDamaged
	}
	b := p.t.tab[off:]
	pc, value := uint64(0), int32(-1)
	for pc < p.f.size {
		delta, n := uvarint(b)
		if n == 0 {
			return to, errDamaged
		}
		if delta == 0 && pc != 0 {
			break
		}
		advance, m := uvarint(b[n:])
		if m == 0 {
			return to, errDamaged
		}
		if p.left -= n + m; p.left < 0 {
			return to, &formats.Error{Format: "pclntab", Section: "values", Offset: int64(off), Want: "values that functions do not share without end", Err: formats.ErrLimit}
		}
		b = b[n+m:]
		value += int32(delta>>1) ^ -int32(delta&1)
		if advance > 0 {
			pc = min(pc+uint64(advance)*p.t.quantum, p.f.size)
			to = append(to, step{pc, value})
		}
	}
	return to, nil
}

// uvarint reads a number of at most 32 bits; n is 0 if it is cut off or longer.
func uvarint(b []byte) (v uint32, n int) {
	for i := 0; i < len(b) && i < 5; i++ {
		v |= uint32(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// name returns the index of a function's name.
func (p *part) name(off uint32) (uint32, error) { return p.text(&p.names, 0, off) }

// file returns the index of a file's name, by its number in the compilation unit.
func (p *part) file(number int32) (uint32, error) {
	at := uint64(p.t.units) + 4*(uint64(p.f.units)+uint64(uint32(number)))
	if number < 0 || at+4 > uint64(p.t.files) {
		return 0, nil
	}
	off := p.t.mem.Order.Uint32(p.t.b[at:])
	if off == none {
		return 0, nil
	}
	return p.text(&p.files, 1, off)
}

func (p *part) text(table *native.NameTable, kind int, off uint32) (uint32, error) {
	if i, ok := p.known[kind][off]; ok {
		return i, nil
	}
	text, err := table.At(uint64(off))
	if err != nil {
		return 0, err
	}
	i := uint32(0)
	if text != "" {
		i = uint32(len(p.run.Strings))
		p.run.Strings = append(p.run.Strings, text)
	}
	p.known[kind][off] = i
	return i, nil
}
