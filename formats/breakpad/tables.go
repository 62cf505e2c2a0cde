package breakpad

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// tables are what records all over a file refer to.
type tables struct {
	strings []string          // index 0 is ""
	files   map[uint32]uint32 // number in the file → index into strings
	origins map[uint32]uint32
	public  []public // ascending, one an address
	starts  []uint64 // of functions, ascending
	end     uint64   // first position behind all code
	text    uint64   // bytes of functions
	rank    symbol.Rank
	stack   int64          // offset of the first STACK record, 0: there is none
	quality symbol.Quality // of the records read here
}

type public struct {
	addr uint64
	name uint32
}

var (
	fileWord   = []byte("FILE ")
	originWord = []byte("INLINE_ORIGIN ")
	inlineWord = []byte("INLINE ")
	funcWord   = []byte("FUNC ")
	publicWord = []byte("PUBLIC ")
	stackWord  = []byte("STACK ")
)

const pageBytes = 4096

// readTables reads all records but lines and INLINE.
func readTables(ctx context.Context, in *formats.Input) (*tables, error) {
	t := &tables{strings: []string{""}, files: map[uint32]uint32{}, origins: map[uint32]uint32{}, rank: symbol.RankSymtab}
	s := newScanner(ctx, in, 0)
	texts := map[string]uint32{"": 0}
	text := func(b []byte) (uint32, error) {
		if i, ok := texts[string(b)]; ok && !s.isCut() {
			return i, nil
		}
		own, err := s.name(b)
		i, ok := texts[own]
		if !ok {
			i = uint32(len(t.strings))
			t.strings, texts[own] = append(t.strings, own), i
		}
		return i, err
	}
	for {
		more, err := s.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if len(s.line) == 0 || s.line[0] < 'F' { // most records are lines
			continue
		}
		switch {
		case s.line[0] > 'P': // PUBLIC is the last of the others
			t.noteStack(s)
		case bytes.HasPrefix(s.line, fileWord), bytes.HasPrefix(s.line, originWord):
			to, most, at := t.files, in.Limits.Files, len(fileWord)
			if s.line[0] == 'I' {
				to, most, at = t.origins, in.Limits.Symbols, len(originWord)
			}
			t.quality.Lines++
			f := fields{s.line[at:], true}
			n := f.number(10)
			if !f.ok || n > 1<<32-1 {
				bad(&t.quality, s.from, "a number and a name")
				continue
			}
			if s.line[0] == 'I' {
				f.fileOfOrigin()
			}
			if to[uint32(n)], err = text(f.rest()); err != nil {
				return nil, err
			}
			if len(to) > most {
				return nil, &formats.Error{Format: name, Offset: s.from, Want: fmt.Sprintf("at most %d records of this kind", most), Err: formats.ErrLimit}
			}
		case bytes.HasPrefix(s.line, publicWord):
			t.quality.Lines++
			f := fields{s.line[len(publicWord):], true}
			f.marked()
			addr := f.number(16)
			f.number(16)
			if !f.ok || addr == 1<<64-1 {
				bad(&t.quality, s.from, "an address, a size of parameters and a name")
				continue
			}
			name, err := text(f.rest())
			if err != nil {
				return nil, err
			}
			t.public = append(t.public, public{addr, name})
		case bytes.HasPrefix(s.line, funcWord):
			f, ok := parseFunc(s.line)
			if !ok {
				continue // told where its part is read
			}
			t.rank = symbol.RankBreakpad
			t.starts = append(t.starts, f.start)
			t.end = max(t.end, f.end)
			t.text += f.end - f.start
		}
		if n := len(t.public) + len(t.starts); n > in.Limits.Symbols {
			return nil, &formats.Error{Format: name, Offset: s.from, Want: fmt.Sprintf("at most %d symbols", in.Limits.Symbols), Err: formats.ErrLimit}
		}
	}
	slices.Sort(t.starts)
	slices.SortStableFunc(t.public, func(a, b public) int { return cmp.Compare(a.addr, b.addr) })
	t.public = slices.CompactFunc(t.public, func(a, b public) bool { return a.addr == b.addr })
	if n := len(t.public); n > 0 {
		t.end = max(t.end, t.reach(n-1))
	}
	return t, nil
}

// noteStack remembers where STACK records begin.
func (t *tables) noteStack(s *scanner) {
	if t.stack == 0 && bytes.HasPrefix(s.line, stackWord) {
		t.stack = s.from
	}
}

// reach is where the symbol in place i ends.
func (t *tables) reach(i int) uint64 {
	addr := t.public[i].addr
	end := addr | (pageBytes - 1)
	if end != 1<<64-1 {
		end++
	}
	next := uint64(1<<64 - 1)
	if i+1 < len(t.public) {
		next = t.public[i+1].addr
	}
	if k, _ := slices.BinarySearch(t.starts, addr+1); k < len(t.starts) {
		next = min(next, t.starts[k])
	}
	if next != 1<<64-1 {
		return next
	}
	return end
}

// explodePublic emits the PUBLIC symbols.
func (t *tables) explodePublic(emit func(*symbol.Run) error) error {
	run := symbol.Run{Rank: symbol.RankSymtab, Strings: t.strings, Ranges: make([]symbol.Range, 1), Scopes: []symbol.Scope{{Parent: -1}}}
	for i, p := range t.public {
		run.Scopes[0].Function = p.name
		run.Ranges[0] = symbol.Range{Start: p.addr, End: t.reach(i)}
		if err := emit(&run); err != nil {
			return err
		}
	}
	return nil
}
