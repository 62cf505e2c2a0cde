package sourcemap

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/script"
)

// places tells lines and columns of a script, front to back.
type places struct {
	script       []byte
	at           int
	line, column uint32
}

// of gives the place of an offset, which is none before the last one asked for, as a position of a script.
func (p *places) of(offset int) uint64 {
	const each = 0x0101010101010101
	for p.at < offset {
		if p.at+8 <= offset {
			// Eight bytes that are ASCII and end no line: none is below 0x0e.
			if b := binary.LittleEndian.Uint64(p.script[p.at:]); (b|(b-each*0x0e)&^b)&(each*0x80) == 0 {
				p.at, p.column = p.at+8, p.column+8
				continue
			}
		}
		switch c := p.script[p.at]; {
		case c == '\n', c == '\r' && (p.at+1 == len(p.script) || p.script[p.at+1] != '\n'):
			p.line, p.column, p.at = p.line+1, 0, p.at+1
		case c < utf8.RuneSelf:
			p.column, p.at = p.column+1, p.at+1
		default:
			r, n := utf8.DecodeRune(p.script[p.at:])
			if p.column++; r > 0xffff {
				p.column++
			}
			p.at += n
		}
	}
	return uint64(p.line)<<32 | uint64(p.column)
}

// tokenNames finds what identifiers of the script are called in the source.
type tokenNames struct {
	offsets []int32 // of identifiers, ascending
	at      []uint64
	names   []string // found; "": none
}

// newTokenNames also counts the script's lines.
func newTokenNames(script []byte, all *script.List) (t *tokenNames, lines uint32) {
	t = &tokenNames{offsets: all.Identifiers()}
	t.at, t.names = make([]uint64, len(t.offsets)), make([]string, len(t.offsets))
	p := &places{script: script}
	for i, offset := range t.offsets {
		t.at[i] = p.of(int(offset))
	}
	return t, uint32(p.of(len(script))>>32) + 1
}

// read looks through a map's segments for named ones that begin where an identifier does.
func (t *tokenNames) read(e *emitter, in *formats.Input, l *mapfile.Layout) error {
	next := 0 // the wanted places, and the segments, come in the same order
	text := json.NewReader(mapfile.Name, in, 0)
	return l.Each(mapfile.Position{}, end, func(l *mapfile.Layout, from, to mapfile.Position) error {
		words := newEmitter(e.ctx, in.Limits, 0, nil)
		w, err := words.readWords(text, l)
		if err != nil {
			return err
		}
		r := mapfile.NewMappingReader(text, l, len(w.sources), len(w.names))
		return r.Read(l.Mappings, func(line uint32, segments []mapfile.Mapping, _ bool) (int, error) {
			at := from.Plus(line, 0)
			for i := range segments {
				m := &segments[i]
				if m.Name < 0 {
					continue
				}
				pos := uint64(at.Line)<<32 | uint64(at.Column+m.Column)
				if pos >= uint64(to.Line)<<32|uint64(to.Column) {
					break
				}
				for next < len(t.at) && t.at[next] < pos {
					next++
				}
				if next == len(t.at) {
					break
				}
				if t.at[next] == pos {
					t.names[next] = words.run.Strings[w.names[m.Name]]
				}
			}
			return len(segments), e.ctx.Err()
		})
	})
}

// fromPacked does the same with a map in memory.
func (t *tokenNames) fromPacked(p *packed, e *emitter) {
	for i, at := range t.at {
		if m := p.at(uint32(at>>32), uint32(at)); m != nil && m.Name >= 0 && m.Column == uint32(at) {
			t.names[i] = e.run.Strings[p.names[m.Name]]
		}
	}
}

// appendName appends a function's name as its source spells it.
func (t *tokenNames) appendName(name []byte, all *script.List, f *script.Placed) []byte {
	if f.From == f.To {
		return append(name, script.Anonymous...)
	}
	for i := f.From; i < f.To; i++ {
		if k, ok := slices.BinarySearch(t.offsets, all.Parts[i].At); ok && t.names[k] != "" {
			name = append(name, t.names[k]...)
		} else {
			name = append(name, all.TextOf(i)...)
		}
	}
	return name
}
