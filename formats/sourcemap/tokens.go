package sourcemap

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/lines"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/script"
)

// tokenNames finds what identifiers of the script are called in the source.
type tokenNames struct {
	parts    []script.Part // the identifiers, ascending
	at, lead []uint64      // their positions: the last one at which a segment may begin that names them, and the first one
	names    []string      // found; "": none
	next     int           // the identifier to be named next
	recent   recent
	room     int // bytes that names may still take
}

// segment is a segment of the map at its position in the script.
type segment struct {
	pos uint64
	mapfile.Mapping
}

// recent holds the last segments of a line.
type recent struct {
	line     uint32
	segments [lookBack]segment
	count    int
}

// lookBack is how many segments before an identifier may hold its name. TypeScript names the keyword
// function, and adds a segment for the space and one for the identifier.
const lookBack = 4

// namesPerByte is how many bytes the names of functions may take for each byte of a script.
const namesPerByte = 16

// anonymous is the name of a function without a name.
const anonymous = "<anonymous>"

// newTokenNames also counts the script's lines.
func newTokenNames(text []byte, all *script.List) (t *tokenNames, count uint32) {
	t = &tokenNames{parts: all.Identifiers(), room: namesPerByte*len(text) + 16<<20}
	n := len(t.parts)
	t.at, t.lead, t.names = make([]uint64, n), make([]uint64, n), make([]string, n)
	p := lines.NewCounter(text)
	for i, part := range t.parts {
		t.lead[i] = p.Of(int(part.Lead))
		if t.at[i] = p.Of(int(part.At)); text[part.At] == '#' {
			t.at[i]++ // or behind it
		}
	}
	return t, uint32(p.Of(len(text))>>32) + 1
}

// read looks through a map's segments for those that name identifiers.
func (t *tokenNames) read(e *emitter, in *formats.Input, l *mapfile.Layout) error {
	text := json.NewReader(mapfile.Name, in, 0)
	return l.Each(mapfile.Position{}, end, func(l *mapfile.Layout, from, to mapfile.Position) error {
		words := newEmitter(e.ctx, in.Limits, 0, nil)
		w, err := words.readWords(text, l)
		if err != nil {
			return err
		}
		name := func(m *mapfile.Mapping) string { return words.run.Strings[w.names[m.Name]] }
		r := mapfile.NewMappingReader(text, l, len(w.sources), len(w.names))
		t.recent = recent{}
		stop := uint64(to.Line)<<32 | uint64(to.Column)
		err = r.Read(l.Mappings, func(line uint32, segments []mapfile.Mapping, _ bool) (int, error) {
			at := from.Plus(line, 0)
			base := uint64(at.Line)<<32 | uint64(at.Column)
			if t.recent.line != at.Line {
				t.nameUpTo(min(base, stop), name)
				t.recent = recent{line: at.Line}
			}
			for i := range segments {
				pos := base + uint64(segments[i].Column)
				if pos >= stop {
					break
				}
				if t.next < len(t.at) && t.at[t.next] < pos {
					t.nameUpTo(pos, name)
				}
				t.recent.segments[t.recent.count%lookBack] = segment{pos, segments[i]}
				t.recent.count++
			}
			return len(segments), e.ctx.Err()
		})
		t.nameUpTo(stop, name)
		return err
	})
}

// nameUpTo names the identifiers before a position by recent segments.
func (t *tokenNames) nameUpTo(pos uint64, name func(*mapfile.Mapping) string) {
	r := &t.recent
	for ; t.next < len(t.at) && t.at[t.next] < pos; t.next++ {
		if r.count == 0 || uint32(t.at[t.next]>>32) != r.line {
			continue
		}
		m := naming(func(back int) *mapfile.Mapping {
			if back >= min(r.count, lookBack) || r.segments[(r.count-1-back)%lookBack].pos < t.lead[t.next] {
				return nil
			}
			return &r.segments[(r.count-1-back)%lookBack].Mapping
		})
		if m != nil {
			t.names[t.next] = name(m)
		}
	}
}

// naming is the segment that names an identifier: the last one before its end, or one before that which maps to the same
// place. back gives the segments from the last one on; nil: no more may name it.
func naming(back func(int) *mapfile.Mapping) *mapfile.Mapping {
	last := back(0)
	for m, i := last, 1; m != nil; i++ {
		if m.Name >= 0 {
			return m
		}
		if m = back(i); m != nil && m.Column != last.Column && (m.Source != last.Source || m.Line != last.Line || m.Original != last.Original) {
			return nil
		}
	}
	return nil
}

// fromPacked does the same with a map in memory.
func (t *tokenNames) fromPacked(p *packed, e *emitter) {
	for i, at := range t.at {
		segments := p.upTo(uint32(at>>32), uint32(at))
		m := naming(func(back int) *mapfile.Mapping {
			if back >= min(len(segments), lookBack) {
				return nil
			}
			if m := &segments[len(segments)-1-back]; at>>32<<32|uint64(m.Column) >= t.lead[i] {
				return m
			}
			return nil
		})
		if m != nil {
			t.names[i] = e.run.Strings[p.names[m.Name]]
		}
	}
}

// nameAliases names the identifiers that the map names elsewhere alone.
func (t *tokenNames) nameAliases(all *script.List) {
	for _, a := range all.Aliases {
		of, ok := t.find(a.Of)
		if use, found := t.find(a.At); ok && found && t.names[of] == "" {
			t.names[of] = t.names[use]
		}
	}
}

// find is the number of the identifier at an offset.
func (t *tokenNames) find(at int32) (int, bool) {
	return slices.BinarySearchFunc(t.parts, at, func(p script.Part, at int32) int { return cmp.Compare(p.At, at) })
}

// appendName appends a function's name as its source spells it.
func (t *tokenNames) appendName(name []byte, all *script.List, f *script.Placed) []byte {
	if f.From == f.To {
		return append(name, anonymous...)
	}
	for i := f.From; i < f.To; i++ {
		spelled := all.TextOf(i)
		k, ok := t.find(all.Parts[i].At)
		if !ok || t.names[k] == "" || len(t.names[k]) > t.room {
			name = append(name, spelled...)
			continue
		}
		if t.room -= len(t.names[k]); spelled[0] == '#' && t.names[k][0] != '#' {
			name = append(name, '#')
		}
		name = append(name, t.names[k]...)
	}
	return name
}
