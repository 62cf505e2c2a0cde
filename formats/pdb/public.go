package pdb

import (
	"context"
	"slices"
	"sort"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/demangle/msvc"
	"github.com/symlake/symlake/formats/internal/codeview"
	"github.com/symlake/symlake/formats/internal/msf"
	"github.com/symlake/symlake/formats/symbol"
)

// publics are the public symbols of code, ascending by place; of several at one place, in the order of their names.
type publics struct {
	stream  msf.Stream
	at      []uint32 // places before code was moved
	records []uint32 // where the record of each begins
}

// windowBytes is how much of the stream is looked at at a time.
const windowBytes = 256 << 10

// read finds the symbols. Records before a damage count.
func (ps *publics) read(ctx context.Context, o *object) error {
	n := int(o.dbi.symbols)
	if n == noStream {
		return nil
	}
	var err error
	if ps.stream, err = o.file.Stream("symbol records", n); err != nil {
		return err
	}
	var keys []uint64
	var room []byte
	sorted := true
	for off := int64(0); off < ps.stream.Size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := ps.stream.At(off, min(windowBytes, ps.stream.Size-off), &room)
		if err != nil {
			return err
		}
		whole := len(b)
		for {
			kind, body, rest, ok := codeview.Next(b)
			if !ok {
				break
			}
			if kind == codeview.Public || kind == codeview.PublicOld {
				if _, c, _, ok := codeview.ReadPublic(kind, body); ok {
					if at, _, ok := o.layout.code(c.Section, c.Offset, ^uint32(0)); ok {
						key := uint64(at)<<32 | uint64(off)
						sorted = sorted && (len(keys) == 0 || keys[len(keys)-1] < key)
						keys = append(keys, key)
					}
				}
			}
			off += int64(len(b) - len(rest))
			b = rest
		}
		if len(b) == whole {
			break
		}
		if len(keys) > o.in.Limits.Symbols {
			return &formats.Error{Format: name, Section: "symbol records", Offset: off, Want: "fewer public symbols", Err: formats.ErrLimit}
		}
	}
	if !sorted {
		slices.Sort(keys)
	}
	ps.at, ps.records = make([]uint32, len(keys)), make([]uint32, len(keys))
	for i, k := range keys {
		ps.at[i], ps.records[i] = uint32(k>>32), uint32(k)
	}
	return nil
}

// next returns the index of the first symbol behind at.
func (ps *publics) next(at uint32) int {
	return sort.Search(len(ps.at), func(i int) bool { return ps.at[i] > at })
}

// name returns the name of symbol i, and whether it is a view that lasts. Others stand in room.
func (ps *publics) name(i int, room *[]byte) (text []byte, lasting bool, err error) {
	off := int64(ps.records[i])
	head, err := ps.stream.At(off, 2, room)
	if err != nil {
		return nil, false, err
	}
	n := int64(u16(head)) + 2
	b, err := ps.stream.At(off, n, room)
	if err != nil {
		return nil, false, err
	}
	kind, body, _, _ := codeview.Next(b)
	_, _, text, _ = codeview.ReadPublic(kind, body)
	return text, ps.stream.Lasting(off, n), nil
}

// publicAt returns the index of the name of the public symbol at a place; 0 if there is none. own is the name of the
// procedure there.
func (p *part) publicAt(at uint32, own []byte) (uint32, error) {
	ps := &p.o.publics
	last := ps.next(at) - 1
	if last < 0 || ps.at[last] != at {
		return 0, nil
	}
	return p.publicName(last, own)
}

// maxAliases bounds how many symbols of one place are compared.
const maxAliases = 64

// publicName returns the index of the name of the public symbols at one place. last is the index of the
// last one.
func (p *part) publicName(last int, own []byte) (uint32, error) {
	ps, t := &p.o.publics, p.table
	text, lasting, err := ps.name(last, &t.room)
	if err != nil {
		return 0, err
	}
	if last == 0 || ps.at[last-1] != ps.at[last] {
		return t.add(p.plainName(p.text(text, lasting))), nil
	}
	bare := bareName(own)
	best := p.text(text, lasting)
	spells := bare != "" && spelled(best, bare)
	for i := last - 1; i >= 0 && i > last-maxAliases && ps.at[i] == ps.at[last]; i-- {
		if text, lasting, err = ps.name(i, &t.room); err != nil {
			return 0, err
		}
		s := view(text)
		if also := bare != "" && spelled(s, bare); also && !spells || also == spells && s > best {
			best, spells = p.text(text, lasting), also
		}
	}
	return t.add(p.plainName(best)), nil
}

// plainName returns the name of a C function of x86 without what its calling convention added.
func (p *part) plainName(decorated string) string {
	if p.o.dbi.machine != machineX86 {
		return decorated
	}
	return msvc.Undecorated(decorated)
}

// bareName is the last part of a qualified name, without what stands in brackets.
func bareName(own []byte) string {
	s := view(own)
	if i := strings.IndexByte(s, '<'); i > 0 && !strings.HasSuffix(s[:i], "operator") {
		s = s[:i]
	}
	return s[strings.LastIndexByte(s, ':')+1:]
}

// spelled reports whether a decorated name spells a bare one.
func spelled(decorated, bare string) bool { return strings.Contains(decorated, bare) }

// publics emits the code of the public symbols.
func (p *part) publics(ctx context.Context) error {
	ps, l := &p.o.publics, p.o.layout
	p.begin(symbol.RankSymtab)
	contributed := p.o.dbi.contributions
	for last := 0; last < len(ps.at); last++ {
		if last&0xfff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		at := ps.at[last]
		if last+1 < len(ps.at) && ps.at[last+1] == at {
			continue
		}
		span, ok := l.spans.Span(uint64(at))
		if !ok {
			continue
		}
		end := uint32(span.End)
		if last+1 < len(ps.at) {
			end = min(end, ps.at[last+1])
		}
		for len(contributed) > 0 {
			if start, ok := l.place(contributed[0].section, contributed[0].off); ok && start > at {
				end = min(end, start)
				break
			}
			contributed = contributed[1:]
		}
		if end <= at {
			continue
		}
		text, err := p.publicName(last, nil)
		if err != nil {
			return err
		}
		if err := p.alone(at, end, text); err != nil {
			return err
		}
	}
	return p.flush()
}
