package gecko

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/scripts"
	"github.com/symlake/symlake/formats/symbol"
)

// place is a place that is asked for once. Many frames may be there.
type place struct {
	kind  kind
	image int32  // a library, a script or a method
	at    uint64 // an address; or a line and a column, from 1
}

// site is a function of an answer.
type site struct {
	name, file   string
	line, column uint32 // from 1; 0: not known
}

// places are the distinct places of a profile and their answers.
type places struct {
	room    *room
	wanted  []place
	images  map[string]int32
	libs    []*lib
	scripts []string // URLs, and methods
	hints   map[place]string
	found   []int32 // of each place: a chain, or null
	chains  [][]site
	words   map[string]string
}

const (
	// askAtOnce is how many questions are made at a time.
	askAtOnce = 8 << 10
	// placeBytes is about what a place takes while it is asked for.
	placeBytes = 48
)

// add notes a place. ok is false if memory is used up.
func (p *places) add(at place, function string) (ok bool) {
	if p.room.left -= placeBytes; p.room.left < 0 {
		return false
	}
	p.wanted = append(p.wanted, at)
	if at.kind == script && function != "" {
		if _, known := p.hints[at]; !known {
			p.room.left -= placeBytes
			p.hints[at] = function
		}
	}
	return true
}

// image returns the number of a library, of a script or of a method.
func (p *places) image(kind kind, l *lib, text string) int32 {
	key := string(rune('0'+kind)) + text
	if l != nil {
		key = strings.Join(l.names, "\x00") + "\x01" + l.path
	}
	if n, known := p.images[key]; known {
		return n
	}
	n := int32(len(p.images))
	p.images[key] = n
	p.libs, p.scripts = append(p.libs, l), append(p.scripts, text)
	return n
}

// of returns the place of a frame; back: its address is a return address. ok is false if nothing can be asked.
func (p *places) of(f *frame, back bool) (at place, ok bool) {
	switch f.kind {
	case native:
		if f.lib == nil || !f.lib.canAsk() {
			return at, false
		}
		address := f.address
		if back && address > 0 { // the call ends at the byte before
			address--
		}
		return place{native, p.image(native, f.lib, ""), address}, true
	case script:
		if f.line == 0 || f.column == 0 {
			return at, false
		}
		return p.inScript(f, [2]uint32{f.line, f.column})
	case managed:
		return place{managed, p.image(managed, nil, strings.TrimSuffix(f.function, "()")), 0}, true
	}
	return at, false
}

// begin returns the place where the function of a script begins.
func (p *places) begin(f *frame) (at place, ok bool) {
	if f.kind != script || f.at[0] == 0 || f.at[1] == 0 {
		return at, false
	}
	return p.inScript(f, f.at)
}

func (p *places) inScript(f *frame, at [2]uint32) (place, bool) {
	if _, ok := scripts.Place("", f.url, uint64(at[0]), uint64(at[1]-1)); !ok {
		return place{}, false
	}
	return place{script, p.image(script, nil, f.url), uint64(at[0])<<32 | uint64(at[1])}, true
}

// question returns the question for a place.
func (p *places) question(at place) (f report.Frame) {
	switch at.kind {
	case native:
		return p.libs[at.image].question(at.at)
	case script:
		f, _ = scripts.Place(p.hints[at], p.scripts[at.image], at.at>>32, at.at&(1<<32-1)-1)
		return f
	}
	name := p.scripts[at.image]
	dot := strings.LastIndexByte(name, '.')
	return report.Frame{Kind: symbol.R8, Managed: &report.Managed{Class: name[:dot], Method: name[dot+1:], Line: -1}}
}

// compare orders places by image and address.
func compare(a, b place) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.image, b.image), cmp.Compare(a.at, b.at))
}

// settle sorts the places, and keeps each once.
func (p *places) settle() {
	slices.SortFunc(p.wanted, compare)
	p.wanted = slices.Compact(p.wanted)
}

// ask asks for all places.
func (p *places) ask(ctx context.Context, o *profile.Options) error {
	p.settle()
	p.found = make([]int32, len(p.wanted))
	for from := 0; from < len(p.wanted); from += askAtOnce {
		some := p.wanted[from:min(from+askAtOnce, len(p.wanted))]
		questions := make([]report.Frame, len(some))
		for i := range some {
			questions[i] = p.question(some[i])
		}
		err := o.Look(ctx, questions, func(i int, a *symbol.Answer) { p.found[from+i] = p.chain(&questions[i], a) })
		if err != nil {
			return err
		}
		if p.room.left < 0 {
			return &formats.Error{Format: "gecko", Want: "a profile with fewer places", Err: formats.ErrLimit}
		}
	}
	return nil
}

// chain keeps an answer.
func (p *places) chain(q *report.Frame, a *symbol.Answer) int32 {
	if a.Status != symbol.Found || len(a.Frames) == 0 {
		return null
	}
	c := make([]site, len(a.Frames))
	for i := range a.Frames {
		f := &a.Frames[i]
		c[i] = site{p.word(f.Readable()), p.word(f.File), f.Line, 0}
		if q.Script != nil && f.Line > 0 {
			c[i].column = f.Column + 1
		}
	}
	if q.Managed != nil {
		c = []site{{name: p.word(method(q.Managed, a) + "()")}}
	}
	p.room.left -= int64(48*len(c) + 32)
	p.chains = append(p.chains, c)
	return int32(len(p.chains) - 1)
}

// method returns the name of a method in the source. Where a mapping has several for one name, the class alone is certain.
func method(m *report.Managed, a *symbol.Answer) string {
	name := a.Frames[len(a.Frames)-1].Readable()
	for _, other := range a.Or {
		if len(other) > 0 && other[len(other)-1].Readable() != name {
			return name[:strings.LastIndexByte(name, '.')+1] + m.Method
		}
	}
	return name
}

// word returns a copy of a name that all its uses share.
func (p *places) word(text string) string {
	if kept, known := p.words[text]; known {
		return kept
	}
	kept := strings.Clone(text)
	p.words[kept] = kept
	p.room.left -= int64(64 + 2*len(kept))
	return kept
}

// answer returns the functions of a place, innermost first; nil: it has none.
func (p *places) answer(at place) []site {
	if i, known := slices.BinarySearchFunc(p.wanted, at, compare); known && p.found[i] >= 0 {
		return p.chains[p.found[i]]
	}
	return nil
}
