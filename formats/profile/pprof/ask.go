package pprof

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// wanted is a place of the window.
type wanted struct {
	of     int32  // the code: an image, or a function or script that has a name
	as     int32  // the mapping; of a line that has a name the function, counted down from -1
	number int32  // in the window, by the order of the profile
	at     uint64 // in the code; of a line that has a name the line, and the column from 0
}

// compareWanted orders places by code and address.
func compareWanted(x, y wanted) int {
	return cmp.Or(cmp.Compare(x.of, y.of), cmp.Compare(x.at, y.at), cmp.Compare(x.as, y.as))
}

// renamed is a function with a name that may be another one in the source.
type renamed struct {
	name, file string
	managed    bool // Java; else a script
	of         int32
}

// asker asks for the places of a profile, and keeps what became of each.
type asker struct {
	*tables
	images  []image
	renamed []renamed
	codes   map[string]int32 // numbers of images and functions, by what questions say of them
	byName  map[uint64]int32 // renamed, by the ids of functions
	byStart []int32          // mappings by where they begin; nil until they are needed
	names   *names
	window  []wanted
	full    bool // names exceed their room
	records *spool
	flags   []byte // of mappings: what answers gave, as bits of fields 7 to 10
	buffer  []byte
}

// newAsker makes images and functions ready to be asked for. nil: no answer can be added to the profile.
func newAsker(t *tables) *asker {
	n, ok := newNames(t)
	if !ok {
		t.o.Counts.Keep("the ids of functions leave no room for others, and all locations stay", "functions")
		return nil
	}
	a := &asker{tables: t, images: t.images(), names: n, codes: map[string]int32{}, byName: map[uint64]int32{}, records: newSpool(t.o), flags: make([]byte, len(t.mappings))}
	for i := range a.images {
		a.images[i].of = a.code(a.images[i].key())
	}
	for i := range t.functions {
		f := &t.functions[i]
		r := renamed{name: t.texts[f.name], file: t.texts[f.file]}
		q, script := scripted(r.file, 1<<32)
		if !script {
			if q, _, _, r.managed = managed(r.name, r.file, 0); !r.managed || r.file != "" && !isManagedFile(r.file) {
				continue
			}
		}
		r.of = a.code(keyOf(&q))
		if _, twice := a.byName[f.id]; !twice {
			a.byName[f.id] = int32(len(a.renamed))
			a.renamed = append(a.renamed, r)
		}
	}
	t.functions = nil
	return a
}

// images returns the mappings as places ask for them.
func (t *tables) images() []image {
	all := make([]image, len(t.mappings))
	for i := range t.mappings {
		m := &t.mappings[i]
		all[i] = imageOf(m, t.texts[m.file], t.texts[m.build], t.spans[m.id])
	}
	return all
}

// code returns the number of an image or a function.
func (a *asker) code(key string) int32 {
	n, known := a.codes[key]
	if !known {
		n = int32(len(a.codes))
		a.codes[key] = n
	}
	return n
}

// parts calls each for the places of a location that are asked for, in order: i is the line that has a name, or -1.
func (a *asker) parts(l *location, b []byte, each func(w wanted, i int)) (ok bool) {
	if l.lines == 0 {
		at, known := a.byID[l.mapping]
		switch {
		case l.mapping == 0:
			at, known = a.mappingAt(l.address)
			if !known {
				return false
			}
		case !known:
			return false
		}
		im := &a.images[at]
		if im.space == unasked || !im.holds(l.address) {
			return false
		}
		each(wanted{of: im.of, as: at, at: im.within(a.step(l))}, -1)
		return true
	}
	if len(a.renamed) == 0 {
		return false
	}
	dex := l.mapping == 0 && l.address == 0
	if at, known := a.byID[l.mapping]; known {
		dex = a.images[at].dex
	}
	i := -1
	protobuf.Each(b, func(f *protobuf.Fields) {
		if f.Number != locationLine || f.Bytes == nil {
			return
		}
		i++
		of, whole := parseLine(f.Bytes)
		n, known := a.byName[of.function]
		if !known || !whole {
			return
		}
		r := &a.renamed[n]
		w := wanted{of: r.of, as: -1 - n}
		switch {
		case of.line > math.MaxInt32, of.column > math.MaxInt32, r.managed && !dex && !isMapID(r.file), !r.managed && of.line <= 0:
			return
		case r.managed:
			w.at = uint64(max(of.line, 0))
		default:
			w.at = uint64(of.line)<<32 | uint64(max(of.column, 1)-1) // columns of pprof count from 1
		}
		ok = true
		each(w, i)
	})
	return ok
}

// mappingAt returns the mapping that holds the address of a location without one.
func (a *asker) mappingAt(address uint64) (int32, bool) {
	if a.byStart == nil {
		a.byStart = make([]int32, len(a.mappings))
		for i := range a.byStart {
			a.byStart[i] = int32(i)
		}
		slices.SortStableFunc(a.byStart, func(x, y int32) int { return cmp.Compare(a.mappings[x].start, a.mappings[y].start) })
	}
	behind := sort.Search(len(a.byStart), func(i int) bool { return a.mappings[a.byStart[i]].start > address })
	if behind == 0 {
		return 0, false
	}
	at := a.byStart[behind-1]
	m := &a.mappings[at]
	return at, m.start > 0 && address < m.limit
}

// step returns where a location's address is looked up.
func (a *asker) step(l *location) uint64 {
	if a.o.Frame0 == report.Return || a.o.Frame0 == report.Exact && a.isCaller(l.id) {
		return report.Step("", l.address)
	}
	return l.address
}

// question returns the question for a place.
func (a *asker) question(w *wanted) report.Frame {
	if w.as >= 0 {
		return a.images[w.as].question(w.at)
	}
	r := &a.renamed[-1-w.as]
	if !r.managed {
		q, _ := scripted(r.file, w.at)
		return q
	}
	q, _, _, _ := managed(r.name, r.file, w.at)
	return q
}

// record appends the record of a place to the buffer, and returns where it begins. as says for which mapping or function.
func (a *asker) record(as int32, found *symbol.Answer) uint32 {
	if found.Status != symbol.Found || len(found.Frames) == 0 || a.full {
		return 0
	}
	if a.names.bytes() > a.o.Room()/2 {
		a.full = true
		a.o.Counts.Keep("the answers have more names than memory holds, and the last locations stay", "locations")
		return 0
	}
	at := uint32(len(a.buffer))
	if as >= 0 {
		a.buffer = a.names.appendRecord(a.buffer, found.Frames, 1, func(*symbol.Frame) string { return "" })
		for i := range found.Frames {
			f := &found.Frames[i]
			a.flags[as] |= flag(mappingInlined, true) | flag(mappingFunctions, f.Linkage != "" || f.Function != "") |
				flag(mappingFiles, f.File != "") | flag(mappingLines, f.Line != 0)
		}
		return at
	}
	r := &a.renamed[-1-as]
	if !r.managed {
		a.buffer = a.names.appendRecord(a.buffer, found.Frames, 0, func(f *symbol.Frame) string { return cmp.Or(f.Readable(), r.name) })
		return at
	}
	_, from, to, _ := managed(r.name, r.file, 0)
	frames := found.Frames
	if len(found.Or) > 0 { // without a line, several methods may be meant
		frames = frames[len(frames)-1:]
	}
	outer := &frames[len(frames)-1]
	class, method := certain(found)
	a.buffer = a.names.appendRecord(a.buffer, frames, 1, func(f *symbol.Frame) string {
		if f != outer {
			return f.Readable()
		}
		if !method {
			_, own, _ := cutMethod(r.name[from:to])
			return r.name[:from] + class + "." + own + r.name[to:]
		}
		return r.name[:from] + f.Readable() + r.name[to:]
	})
	return at
}

// certain returns the class that all meanings of an answer have, and whether they have one method too.
func certain(found *symbol.Answer) (class string, method bool) {
	name := found.Frames[len(found.Frames)-1].Readable()
	class, _, _ = cutMethod(name)
	method = true
	for _, other := range found.Or {
		method = method && (len(other) == 0 || other[len(other)-1].Readable() == name)
	}
	return class, method
}

// cutMethod parts the name of a method from its class.
func cutMethod(name string) (class, method string, ok bool) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[:i], name[i+1:], true
		}
	}
	return "", name, false
}

// flag returns the bit of a field of a Mapping that says what its locations have.
func flag(field uint32, has bool) byte {
	if !has {
		return 0
	}
	return 1 << (field - mappingFunctions)
}
