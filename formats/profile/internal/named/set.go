package named

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Function is a function that a name became.
type Function struct {
	Name         string
	File         string // "": not known
	Line, Column uint32 // from 1, and from 1; 0: not known
	Inlined      bool   // into the function before it
}

// Set is distinct names that say places. The zero value is not ready. One goroutine.
type Set struct {
	Full bool // there was no room for another name

	room  int64
	ids   map[key]int32
	all   []entry
	java  []int32 // without a line
	lined []int32 // Java with a line
	bytes int64
}

type key struct {
	text   string
	caller bool
}

type entry struct {
	Place
	text  string
	names []Function // outermost first; nil: it stays
}

// entryBytes is about what a name takes with its answer, without its text.
const entryBytes = 512

// New returns a set that takes at most room bytes.
func New(room int64) *Set { return &Set{room: room, ids: map[key]int32{}} }

// Add returns the number of a name; ok is false if it says no place.
func (s *Set) Add(text string, caller bool) (id int32, ok bool) {
	if id, known := s.Find(text, caller); known {
		return id, true
	}
	p := Parse(text, caller)
	if p.Kind == Nothing {
		return 0, false
	}
	return s.Put(p, text, caller)
}

// Put adds a place that stands beside its name.
func (s *Set) Put(p Place, text string, caller bool) (id int32, ok bool) {
	caller = caller && p.Kind == Native
	if id, known := s.ids[key{text, caller}]; known {
		return id, true
	}
	if s.bytes += entryBytes + int64(3*len(text)); s.bytes > s.room {
		s.Full = true
		return 0, false
	}
	id = int32(len(s.all))
	s.ids[key{strings.Clone(text), caller}] = id
	s.all = append(s.all, entry{Place: p, text: text})
	return id, true
}

// Find returns the number of a name that was added.
func (s *Set) Find(text string, caller bool) (id int32, ok bool) {
	if id, ok = s.ids[key{text, caller}]; !ok {
		id, ok = s.ids[key{text, false}]
		ok = ok && s.all[id].Kind != Native
	}
	return id, ok
}

// Names returns the functions that a name became, outermost first; nil: the name stays.
func (s *Set) Names(id int32) []Function { return s.all[id].names }

// Place returns the place of a name.
func (s *Set) Place(id int32) *Place { return &s.all[id].Place }

// askedAtOnce bounds the questions in memory.
const askedAtOnce = 4 << 10

// Ask looks all places up, each once.
func (s *Set) Ask(ctx context.Context, o *profile.Options) error {
	var order []int32
	for i := range s.all {
		switch e := &s.all[i]; {
		case e.Kind == Java && e.Line == 0:
			s.java = append(s.java, int32(i))
		case e.Kind == Java:
			e.Frame = report.Frame{Kind: symbol.R8, Managed: &report.Managed{Class: e.Class, Method: e.Method, Line: e.Line, Lined: true}}
			s.lined = append(s.lined, int32(i))
		case e.Kind != Java:
			order = append(order, int32(i))
		}
	}
	compare := func(a, b int32) int {
		p, q := &s.all[a].Frame, &s.all[b].Frame
		if c := strings.Compare(p.File, q.File); c != 0 {
			return c
		}
		if p.At.Space != q.At.Space {
			return int(p.At.Space) - int(q.At.Space)
		}
		switch {
		case p.At.Value < q.At.Value:
			return -1
		case p.At.Value > q.At.Value:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, compare)
	for len(order) > 0 {
		n := min(len(order), askedAtOnce)
		for n < len(order) && compare(order[n-1], order[n]) == 0 {
			n++
		}
		if err := s.look(ctx, o, order[:n], compare); err != nil {
			return err
		}
		order = order[n:]
	}
	return s.classes(ctx, o)
}

// look asks for native code and scripts.
func (s *Set) look(ctx context.Context, o *profile.Options, some []int32, compare func(a, b int32) int) error {
	var frames []report.Frame
	first := make([]int, 0, len(some)+1)
	for i, id := range some {
		if i == 0 || compare(some[i-1], id) != 0 {
			frames, first = append(frames, s.all[id].Frame), append(first, i)
		}
	}
	first = append(first, len(some))
	return o.Look(ctx, frames, func(k int, a *symbol.Answer) {
		if a.Status != symbol.Found || len(a.Frames) == 0 {
			return
		}
		for _, id := range some[first[k]:first[k+1]] {
			s.all[id].names = s.all[id].functions(a.Frames)
		}
	})
}

// functions are the functions of an answer, outermost first.
func (e *entry) functions(frames []symbol.Frame) (all []Function) {
	if e.Kind == Script {
		frames = frames[:1] // the position is where a function begins: the innermost one's
	}
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		to := Function{Name: f.Readable(), File: f.File, Line: f.Line, Column: f.Column, Inlined: i < len(frames)-1}
		if e.Kind == Script {
			to.Column++
			to.Name = strings.TrimPrefix(to.Name, "new ")
			if to.Name == "<anonymous>" || to.Name == "<global>" || to.Name == "" {
				to.Name = e.Function
			}
		} else if to.Name == "" {
			return nil
		}
		all = append(all, to)
	}
	return all
}

// classes asks for the classes of Java's methods, if a mapping is known.
func (s *Set) classes(ctx context.Context, o *profile.Options) error {
	if len(s.java)+len(s.lined) == 0 || o.Classes == nil {
		return nil
	}
	if o.Mapped != nil {
		if known, err := o.Mapped(ctx, nil); err != nil || !known {
			return err
		}
	}
	for some := range slices.Chunk(s.lined, askedAtOnce) {
		frames := make([]report.Frame, len(some))
		for i, id := range some {
			frames[i] = s.all[id].Frame
		}
		err := o.Look(ctx, frames, func(i int, a *symbol.Answer) {
			if a.Status == symbol.Found && len(a.Frames) > 0 {
				s.all[some[i]].names = s.all[some[i]].functions(a.Frames)
			}
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(s.java, func(a, b int32) int { return strings.Compare(s.all[a].Class, s.all[b].Class) })
	for len(s.java) > 0 {
		var names []string
		first := []int{}
		n := 0
		for ; n < len(s.java); n++ {
			class := s.all[s.java[n]].Class
			if len(names) > 0 && names[len(names)-1] == class {
				continue
			}
			if len(names) == askedAtOnce {
				break
			}
			names, first = append(names, class), append(first, n)
		}
		first = append(first, n)
		err := o.Classes(ctx, nil, names, func(i int, c *profile.Class) {
			if c == nil {
				return
			}
			for _, id := range s.java[first[i]:first[i+1]] {
				e := &s.all[id]
				if name := e.method(c); name != e.Class+"."+e.Method {
					e.names = []Function{{Name: name}}
				}
			}
		})
		if err != nil {
			return err
		}
		s.java = s.java[n:]
	}
	return nil
}

// method returns the name of a method in the source. Where several methods have its name, the class alone is certain.
func (e *entry) method(c *profile.Class) string {
	original := ""
	for _, m := range c.Methods {
		switch {
		case m.Name != e.Method:
		case original == "":
			original = m.Original
		case original != m.Original:
			return c.Original + "." + e.Method
		}
	}
	switch {
	case original == "":
		return c.Original + "." + e.Method
	case strings.IndexByte(original, '.') >= 0:
		return original
	}
	return c.Original + "." + original
}

// Text returns a function in the way that the name was written.
func (p *Place) Text(f *Function) string {
	switch p.Kind {
	case Script:
		at := f.File + ":" + strconv.Itoa(int(f.Line)) + ":" + strconv.Itoa(int(f.Column))
		switch {
		case p.Wrapped:
			return p.Before + f.Name + " (" + at + ")" + p.Behind
		case f.Name == "":
			return p.Before + at + p.Behind
		}
		return p.Before + f.Name + " " + at + p.Behind
	case Java:
		name := f.Name
		if dot := strings.LastIndexByte(name, '.'); p.Slashed && dot >= 0 {
			name = strings.ReplaceAll(name[:dot], ".", "/") + name[dot:]
		}
		if p.Line > 0 && f.Line > 0 {
			name += ":" + strconv.Itoa(int(f.Line))
		}
		return name + p.Behind
	}
	return f.Name
}
