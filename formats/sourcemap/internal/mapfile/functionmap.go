package mapfile

import (
	"cmp"
	"slices"
	"sort"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
)

// FunctionMap tells for each place in one source which function it is in: an
// element of x_facebook_sources. Names are indices into a run's strings.
type FunctionMap struct {
	places []functionPlace // ascending
}

type functionPlace struct {
	line, column uint32 // both from 0: the first place that belongs to it
	name         uint32
}

// At gives the name at a place; 0: there is none. hint is a place that was found
// before: neighbors in a script are neighbors here, mostly.
func (m *FunctionMap) At(line, column uint32, hint *int) uint32 {
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

// ReadFunctionMaps reads x_facebook_sources: per source null, or a list. Its
// first element is null or {names, mappings}. Lines in it count from 1.
func ReadFunctionMaps(t *json.Reader, at Span, sources int, intern func(string) uint32) ([]FunctionMap, error) {
	t.SeekTo(at.From)
	t.Section = "x_facebook_sources"
	if t.Null() {
		return nil, nil
	}
	maps := make([]FunctionMap, 0, min(sources, 1<<16))
	err := t.Array(0, func(i int) error {
		if i >= sources {
			return t.Skip(1) // some tools leave maps of dropped sources behind
		}
		maps = append(maps, FunctionMap{})
		if t.Null() {
			return nil
		}
		return t.Array(1, func(j int) error {
			if j > 0 || t.Null() {
				return skipOrNothing(t, j)
			}
			return maps[i].read(t, intern)
		})
	})
	return maps, err
}

// skipOrNothing passes over the element of a list that is of no use here.
func skipOrNothing(t *json.Reader, i int) error {
	if i == 0 {
		return nil // it was a null
	}
	return t.Skip(2)
}

func (m *FunctionMap) read(t *json.Reader, intern func(string) uint32) error {
	var names []uint32
	var mappings string
	var from int64
	err := t.Object(2, func(key string) error {
		switch key {
		case "names":
			return t.Array(3, func(i int) error {
				if i >= t.In.Limits.Symbols {
					return TooMuch(t.Section, t.Offset(), "fewer functions")
				}
				s, err := t.Name()
				names = append(names, intern(s))
				return err
			})
		case "mappings":
			t.Peek()
			from = t.Offset() + 1
			var err error
			mappings, err = t.String(t.In.Limits.SectionBytes)
			return err
		}
		return t.Skip(3)
	})
	if err != nil {
		return err
	}
	n := numbers{b: mappings, from: from, section: t.Section}
	return m.decode(&n, names, t.In.Limits)
}

// decode reads segments: column, name and line, each told against the one
// before; the column within the line. ';' begins a new run of columns.
func (m *FunctionMap) decode(n *numbers, names []uint32, lim *formats.Limits) error {
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
			return TooMuch(n.section, n.from+int64(start), "fewer functions")
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
