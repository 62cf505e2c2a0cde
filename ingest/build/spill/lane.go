package spill

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row/classes"
)

const (
	// floorBytes is what a lane may hold however tight the budget is, so that
	// what it spills is worth a write.
	floorBytes = 1 << 20
	firstRefs  = 16
	firstChunk = 1 << 10
	chunkBytes = 256 << 10
	// fanIn is how many sorted pieces a lane keeps on disk before it merges
	// them into one: a merge holds a page of each.
	fanIn = 64
	// fewStrings is how many that are new are better looked up one by one.
	fewStrings = 4
)

// Lane takes the runs of one worker: whole parts, one after the other.
type Lane struct {
	s     *Sorter
	part  int
	seq   int
	total uint64 // runs of all parts
	runs  uint32 // for uses

	uses   []use     // of the strings of the table of the run being added
	table  any       // that table, nil: the part's own
	tables []table   // others that runs may come back to
	counts []uint32  // by interner id: runs that use it
	refs   [][]ref   // one a run, in lists; each has twice the room of the list before
	chunks [][]byte  // encoded runs, each with its length (4 bytes) before it
	held   int64     // bytes of refs and chunks, which spilling frees
	kept   int64     // bytes of counts and uses
	sorted []segment // spilled runs
	buf    []byte    // the run being encoded
	err    error     // the first; a lane that failed stays failed
	text   []string  // of the run being added
	batch  batch

	packer *classes.Packer // nil: no class came yet
	near   []near          // strings of classes that were shared lately, by hash
}

// buffers are the buffers of lanes that have ended. None is larger than pooledBytes.
var buffers sync.Pool // of *[]byte

const pooledBytes = 64 << 10

type use struct{ id, run uint32 } // run: the last that used it, from 1

// table is a string table that several parts have, see symbol.Run.
type table struct {
	is   any
	uses []use
}

// maxTables bounds the tables of a lane: parsers have one for each goroutine.
const maxTables = 16

type ref struct {
	start uint64
	order Order
	at    uint64 // chunk<<32 | offset
}

const refBytes = int64(unsafe.Sizeof(ref{}))

// Add takes a run of code and keeps nothing of it. Runs of a part come one after the other, and no
// other lane has runs of that part.
func (l *Lane) Add(part int, r *symbol.Run) error {
	if l.err == nil && r.Rank == symbol.RankScript {
		l.err = refuse(part, "code")
	}
	if l.err == nil {
		l.err = l.add(part, r, nil)
	}
	return l.err
}

// AddScript takes a run of a script, as Add does with code.
func (l *Lane) AddScript(part int, s *symbol.Script) error {
	if l.err == nil && (s.Rank != symbol.RankScript || len(s.Marks) != len(s.Ranges)) {
		l.err = refuse(part, "a script with a mark a range")
	}
	if l.err == nil {
		l.err = l.add(part, &s.Run, s.Marks)
	}
	return l.err
}

// AddClass takes a class, as Add does with code.
func (l *Lane) AddClass(part int, c *symbol.Class) error {
	if l.err == nil {
		l.err = l.addClass(part, c)
	}
	return l.err
}

func (l *Lane) addClass(part int, c *symbol.Class) error {
	if err := l.enter(part, nil); err != nil {
		return err
	}
	position, err := l.encodeClass(c)
	if err != nil {
		return err
	}
	return l.keep(position, symbol.RankMapping)
}

// enter makes part the part of the next run, with its table.
func (l *Lane) enter(part int, table any) error {
	if part != l.part || table != l.table {
		l.turn(part, table)
	}
	if part < 0 || part > maxPart || l.seq > maxSeq {
		return &formats.Error{Format: "run", Section: fmt.Sprintf("part %d", part), Want: "fewer parts, or runs in it", Err: formats.ErrLimit}
	}
	return nil
}

// add takes a run, of a script with the marks of its ranges.
func (l *Lane) add(part int, r *symbol.Run, marks []symbol.Mark) error {
	if err := l.enter(part, r.Table); err != nil {
		return err
	}
	if len(r.Ranges) == 0 {
		return refuse(part, "a run with a range")
	}
	if n, had := len(r.Strings), len(l.uses); n > had {
		l.growUses(n, cap(r.Strings))
		if r.Table != nil && n-had >= fewStrings { // most of what parts share is used
			l.s.strings.ids(&l.batch, r.Strings[had:], l.uses[had:])
		}
	}
	if l.runs++; l.runs == 0 { // after 2^32: all that was used is forgotten
		l.tables, l.runs = nil, 1
		clear(l.uses)
	}
	l.text = r.Strings
	err := l.encode(r, marks)
	l.text = nil
	if err != nil {
		return err
	}
	if total := l.s.strings.total.Load(); total > l.s.o.StringBytes {
		return LongNames(total, l.s.o.StringBytes)
	}
	return l.keep(r.Ranges[0].Start, r.Rank)
}

// keep takes the run in buf into the sort.
func (l *Lane) keep(start uint64, rank symbol.Rank) error {
	at, err := l.place(l.buf)
	if err != nil {
		return err
	}
	last := &l.refs[len(l.refs)-1]
	*last = append(*last, ref{start, order(rank, l.part, l.seq), at})
	l.seq++
	l.total++
	return nil
}

// turn switches uses to a part's table.
func (l *Lane) turn(part int, is any) {
	if part != l.part {
		l.part, l.seq = part, 0
	}
	if is != nil && is == l.table {
		return
	}
	if l.table != nil {
		l.tables = append(l.tables, table{l.table, l.uses})
		l.uses = nil
	}
	clear(l.uses)
	l.uses, l.table = l.uses[:0], is
	if is == nil {
		return
	}
	for i := range l.tables {
		if t := &l.tables[i]; t.is == is {
			l.uses = t.uses
			l.tables = slices.Delete(l.tables, i, i+1)
			return
		}
	}
	if l.uses = nil; len(l.tables) >= maxTables {
		l.tables = nil
	}
}

// growUses makes room for n strings, or for the room of their table.
func (l *Lane) growUses(n, room int) {
	if n > cap(l.uses) {
		grown := make([]use, n, room)
		clear(grown[:room]) // the kernel maps a page twice that is read before it is written
		copy(grown, l.uses)
		grew := int64(cap(grown)-cap(l.uses)) * int64(unsafe.Sizeof(use{}))
		l.kept += grew
		l.s.o.Budget.Force(grew)
		l.uses = grown
	}
	l.uses = l.uses[:n]
}

// place keeps an encoded run and makes room for its ref.
func (l *Lane) place(b []byte) (at uint64, err error) {
	need := len(b) + 4
	if need > math.MaxInt32 {
		return 0, refuse(l.part, "a run below 2 GiB")
	}
	if err := l.reserve(need); err != nil {
		return 0, err
	}
	last := len(l.chunks) - 1
	c := l.chunks[last]
	at = uint64(last)<<32 | uint64(len(c))
	c = binary.LittleEndian.AppendUint32(c, uint32(len(b)))
	l.chunks[last] = append(c, b...)
	return at, nil
}

// reserve makes room for one ref and need bytes. It spills the lane's runs if the
// budget says so.
func (l *Lane) reserve(need int) error {
	refs, chunk := l.lacks(need)
	more := int64(refs)*refBytes + int64(chunk)
	if more == 0 {
		return nil
	}
	if !l.s.o.Budget.Take(more) {
		if l.held+more > floorBytes && len(l.refs) > 0 {
			if err := l.spill(); err != nil {
				return err
			}
			refs, chunk = l.lacks(need)
			more = int64(refs)*refBytes + int64(chunk)
		}
		l.s.o.Budget.Force(more)
	}
	l.held += more
	if refs > 0 {
		l.refs = append(l.refs, make([]ref, 0, refs))
	}
	if chunk > 0 {
		l.chunks = append(l.chunks, make([]byte, 0, chunk))
	}
	return nil
}

// lacks returns the missing room: the length of a list of refs and the size of a chunk.
func (l *Lane) lacks(need int) (refs, chunk int) {
	if n := len(l.refs); n == 0 {
		refs = firstRefs
	} else if full := l.refs[n-1]; len(full) == cap(full) {
		refs = 2 * cap(full)
	}
	last := len(l.chunks) - 1
	if last < 0 {
		return refs, max(firstChunk, need)
	}
	if c := l.chunks[last]; cap(c)-len(c) < need {
		chunk = max(min(chunkBytes, 2*cap(c)), need)
	}
	return refs, chunk
}

// id is the interner's number of the string at index i of the part; 0 for "",
// at whichever index a parser has it.
func (l *Lane) id(i uint32) uint32 {
	u := &l.uses[i]
	if u.run == l.runs {
		return u.id
	}
	if u.id == 0 {
		if l.text[i] == "" {
			return 0
		}
		u.id = l.s.strings.id(l.text[i])
	}
	u.run = l.runs
	if int(u.id) >= len(l.counts) {
		l.growCounts(int(u.id) + 1)
	}
	l.counts[u.id]++
	return u.id
}

func (l *Lane) growCounts(n int) {
	grown := make([]uint32, max(n, 2*len(l.counts), 256))
	copy(grown, l.counts)
	grew := int64(len(grown)-len(l.counts)) * 4
	l.kept += grew
	l.s.o.Budget.Force(grew)
	l.counts = grown
}

// release drops what only the taking of runs needed.
func (l *Lane) release() {
	l.s.o.Budget.Give(l.kept)
	l.kept = 0
	if n := cap(l.buf); n > 0 && n <= pooledBytes {
		b := l.buf[:0]
		buffers.Put(&b)
	}
	if l.packer != nil {
		l.packer.Release()
	}
	l.counts, l.uses, l.tables, l.buf, l.batch, l.packer, l.near = nil, nil, nil, nil, batch{}, nil, nil
}
