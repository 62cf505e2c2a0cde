package sourcemap

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/symlake/symlake/formats"
)

// functionMap tells for each place in one source which function it is in: an
// element of x_facebook_sources. Names are indices into a run's strings.
type functionMap struct {
	places []functionPlace // ascending
}

type functionPlace struct {
	line, column uint32 // both from 0: the first place that belongs to it
	name         uint32
}

// at gives the name at a place; 0: there is none. hint is a place that was found
// before: neighbours in a script are neighbours here, mostly.
func (m *functionMap) at(line, column uint32, hint *int) uint32 {
	holds := func(i int) bool { // place i begins at or before
		p := &m.places[i]
		return p.line < line || p.line == line && p.column <= column
	}
	i := *hint
	if i >= len(m.places) || !holds(i) || i+1 < len(m.places) && holds(i+1) {
		i = sort.Search(len(m.places), func(i int) bool { return !holds(i) }) - 1
		if i < 0 {
			return 0
		}
		*hint = i
	}
	return m.places[i].name
}

// readFunctionMaps reads x_facebook_sources: per source null, or a list whose
// first element is null or {names, mappings}. Lines in it count from 1.
func readFunctionMaps(t *text, at span, sources int, intern func(string) uint32) ([]functionMap, error) {
	t.seek(at.from)
	t.section = "x_facebook_sources"
	if t.null() {
		return nil, nil
	}
	maps := make([]functionMap, 0, min(sources, 1<<16))
	err := t.array(0, func(i int) error {
		if i >= sources {
			return t.skip(1) // some tools leave those of dropped sources behind
		}
		maps = append(maps, functionMap{})
		if t.null() {
			return nil
		}
		return t.array(1, func(j int) error {
			if j > 0 || t.null() {
				return skipOrNothing(t, j)
			}
			return maps[i].read(t, intern)
		})
	})
	return maps, err
}

// skipOrNothing passes over the element of a list that is of no use here.
func skipOrNothing(t *text, i int) error {
	if i == 0 {
		return nil // it was a null
	}
	return t.skip(2)
}

func (m *functionMap) read(t *text, intern func(string) uint32) error {
	var names []uint32
	var mappings string
	var from int64
	err := t.object(2, func(key string) error {
		switch key {
		case "names":
			return t.array(3, func(i int) error {
				if i >= t.in.Limits.Symbols {
					return tooMuch(t.section, t.offset(), "fewer functions")
				}
				s, err := t.name()
				names = append(names, intern(s))
				return err
			})
		case "mappings":
			t.peek()
			from = t.offset() + 1
			var err error
			mappings, err = t.string(t.in.Limits.SectionBytes)
			return err
		}
		return t.skip(3)
	})
	if err != nil {
		return err
	}
	n := numbers{b: mappings, from: from, section: t.section}
	return m.decode(&n, names, t.in.Limits)
}

// decode reads segments: column, name and line, each told against the one
// before; the column within the line. ';' begins a new run of columns.
func (m *functionMap) decode(n *numbers, names []uint32, lim *formats.Limits) error {
	var column, name, line int64 = 0, 0, 1
	for n.at < len(n.b) {
		start := n.at
		switch digits[n.b[n.at]] {
		case semicolon:
			n.at++
			column = 0
			continue
		case comma:
			n.at++
			continue
		}
		if err := n.add(&column); err != nil {
			return err
		}
		if err := n.add(&name); err != nil {
			return err
		}
		if !n.ends() {
			if err := n.add(&line); err != nil {
				return err
			}
		}
		if !n.ends() || name >= int64(len(names)) || line < 1 {
			return n.fault(start, "a column, a name below "+strconv.Itoa(len(names))+" and a line from 1")
		}
		p := functionPlace{uint32(line - 1), uint32(column), names[name]}
		if len(m.places) >= lim.Symbols {
			return tooMuch(n.section, n.from+int64(start), "fewer functions")
		}
		m.places = append(m.places, p)
	}
	order := func(a, b functionPlace) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	}
	if !slices.IsSortedFunc(m.places, order) {
		slices.SortStableFunc(m.places, order)
	}
	return nil
}
