package pprof

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
)

const (
	// maxMappings bounds the mappings that places are asked for in.
	maxMappings = 1 << 18
	// maxCalled bounds the ids of locations that are told apart as callers.
	maxCalled = 1 << 27
)

// tables are the parts of a profile that its places refer to.
type tables struct {
	in        section
	o         *profile.Options
	mappings  []mapping
	byID      map[uint64]int32  // of mappings
	spans     map[uint64]*span  // addresses of locations, by the id of their mapping
	functions []function        // with a name that may be another one in the source, in the end
	strings   uint64            // how many there are
	texts     map[uint64]string // strings that are referred to
	arena     []byte            // all strings, each behind its length, while they are few
	many      bool              // strings exceed their room
	ids       [1 << 13]byte     // highest bits of functions' ids that are taken
	lastID    uint64
	called    []uint64 // locations that are callers, a bit each
	fields    int64    // that are whole
	behind    int64    // where another profile begins; 0: there is none
	locations []byte   // all, each behind its offset and its length, while they are few
	longer    bool     // locations exceed their room
}

// border finds where another profile begins behind the first: types of samples behind strings, and an empty string, with
// which tables of strings begin.
type border struct {
	strings bool  // there was one
	begin   int64 // of types behind strings; 0: there were none
}

// found looks at a field, and reports whether the field is one of another profile, which begins at begin.
func (b *border) found(r *reader) bool {
	switch {
	case r.message(profileString):
		if b.begin > 0 && len(r.bytes()) == 0 {
			return true
		}
		b.strings = true
	case b.begin == 0 && b.strings && r.message(profileType):
		b.begin = r.at
	}
	return false
}

// readTables reads a profile but for its places. If another profile stands behind it, in ends before that.
func readTables(ctx context.Context, in section, o *profile.Options) (*tables, error) {
	before := o.Counts
	before.Kept = slices.Clone(before.Kept)
	t, err := readSection(ctx, in, o)
	if err != nil || t.behind == 0 {
		return t, err
	}
	o.Counts = before // the fields of the other profile are none of this one
	in.to = t.behind
	t, err = readSection(ctx, in, o)
	if t != nil {
		t.behind = in.to
	}
	return t, err
}

func readSection(ctx context.Context, in section, o *profile.Options) (*tables, error) {
	t := &tables{in: in, o: o, byID: map[uint64]int32{}, spans: map[uint64]*span{}, texts: map[uint64]string{}}
	r, err := newReader(in)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if o.Frame0 != report.Exact {
		r.pass = profileSample
	}
	var b border
	for {
		more, err := r.field()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if b.found(r) {
			t.behind = b.begin
			return t, nil
		}
		if t.fields++; t.fields&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.field(r)
	}
	if r.rest > 0 { // it is cut off inside the last field
		t.fields--
		if r.number == profileString {
			t.strings--
		}
	}
	if r.fault != "" {
		o.Counts.Keep(r.fault, place(r.at))
	}
	return t, t.readTexts(ctx)
}

// field notes a field of the profile.
func (t *tables) field(r *reader) {
	whole := true
	switch {
	case r.rest > 0:
		t.o.Counts.Keep("a field of more than 16 MiB stays as it came", place(r.at))
		if r.number == profileString {
			t.string(nil)
		}
	case r.message(profileSample):
		t.o.Counts.Samples++
		if t.o.Frame0 == report.Exact {
			whole = t.callers(r.bytes())
		}
	case r.message(profileMapping):
		whole = t.mapping(r)
	case r.message(profileLocation):
		var l location
		if l, whole = parseLocation(r.bytes()); whole && l.lines == 0 {
			t.location(&l)
		}
		if whole {
			t.keep(r)
		}
	case r.message(profileFunction):
		var f function
		if f, whole = parseFunction(r.bytes()); whole {
			t.function(&f)
		}
	case r.message(profileString):
		t.string(r.bytes())
	}
	if !whole {
		t.o.Counts.Keep("a message holds bytes that are no field", place(r.at))
	}
}

// mapping notes a mapping.
func (t *tables) mapping(r *reader) bool {
	m, ok := parseMapping(r.bytes())
	_, twice := t.byID[m.id]
	switch {
	case !ok:
	case m.id == 0:
		t.o.Counts.Keep("a mapping has no id", place(r.at))
	case twice:
		t.o.Counts.Keep("two mappings have one id, and the first counts", place(r.at))
	case len(t.mappings) == maxMappings:
		t.o.Counts.Keep("the profile has more than 262144 mappings, and locations of the others stay", place(r.at))
	default:
		t.byID[m.id] = int32(len(t.mappings))
		t.mappings = append(t.mappings, m)
	}
	return ok
}

// keep keeps a location, which need not be read again then.
func (t *tables) keep(r *reader) {
	if t.longer || int64(len(t.locations)+len(r.bytes())) > t.o.Room()/4 {
		t.longer, t.locations = true, nil
		return
	}
	t.locations = binary.AppendUvarint(t.locations, uint64(r.at))
	t.locations = append(binary.AppendUvarint(t.locations, uint64(len(r.bytes()))), r.bytes()...)
}

// eachLocation calls visit for all locations, in the order of the profile.
func (t *tables) eachLocation(ctx context.Context, visit func(at int64, b []byte) error) error {
	for b := t.locations; len(b) > 0; {
		at, n := binary.Uvarint(b)
		size, m := binary.Uvarint(b[n:])
		if err := visit(int64(at), b[n+m:n+m+int(size)]); err != nil {
			return err
		}
		b = b[n+m+int(size):]
	}
	if !t.longer {
		return ctx.Err()
	}
	r, err := newReader(t.in)
	if err != nil {
		return err
	}
	defer r.close()
	for range t.fields {
		if more, err := r.field(); err != nil || !more {
			return cmp.Or(err, ctx.Err())
		}
		if !r.message(profileLocation) {
			continue
		}
		if err := visit(r.at, r.bytes()); err != nil {
			return err
		}
	}
	return nil
}

// location notes the address of a location without lines.
func (t *tables) location(l *location) {
	s := t.spans[l.mapping]
	if s == nil {
		if len(t.spans) > maxMappings {
			return
		}
		s = &span{math.MaxUint64, 0}
		t.spans[l.mapping] = s
	}
	s.lowest, s.highest = min(s.lowest, l.address), max(s.highest, l.address)
}

// function notes the id of a function. A minifier may have given its name.
func (t *tables) function(f *function) {
	t.lastID = max(t.lastID, f.id)
	t.ids[f.id>>51] |= 1 << (f.id >> 48 & 7)
	switch {
	case t.many:
	case int64(len(t.functions))*functionBytes > t.o.Room()/4:
		t.tooMany()
	default:
		t.functions = append(t.functions, *f)
	}
}

// functionBytes is about what a function takes, with the string of its name.
const functionBytes = 96

// tooMany gives the names of functions up.
func (t *tables) tooMany() {
	t.many, t.functions, t.arena = true, nil, nil
}

// string notes the next string.
func (t *tables) string(b []byte) {
	if t.strings++; t.many {
		return
	}
	if int64(len(t.arena)+len(b)) > t.o.Room()/4 {
		t.tooMany()
		return
	}
	t.arena = append(binary.AppendUvarint(t.arena, uint64(len(b))), b...)
}

// callers notes the locations of a sample that are callers.
func (t *tables) callers(sample []byte) bool {
	leaf := true
	return protobuf.Each(sample, func(f *protobuf.Fields) {
		if f.Number != sampleLocation {
			return
		}
		f.Numbers(func(id uint64) {
			if !leaf && id < maxCalled {
				if more := int(id/64) + 1 - len(t.called); more > 0 {
					t.called = append(t.called, make([]uint64, max(more, len(t.called)))...)
				}
				t.called[id/64] |= 1 << (id % 64)
			}
			leaf = false
		})
	})
}

// isCaller reports whether a location is a caller in some sample.
func (t *tables) isCaller(id uint64) bool {
	return id >= maxCalled || id/64 < uint64(len(t.called)) && t.called[id/64]>>(id%64)&1 != 0
}

// readTexts finds the strings that mappings and functions refer to.
func (t *tables) readTexts(ctx context.Context) error {
	for i := range t.mappings {
		t.texts[t.mappings[i].file] = ""
		t.texts[t.mappings[i].build] = ""
	}
	for i := range t.functions {
		t.texts[t.functions[i].name] = ""
		t.texts[t.functions[i].file] = ""
	}
	if !t.many {
		for n, b := uint64(0), t.arena; len(b) > 0; n++ {
			size, used := binary.Uvarint(b)
			t.text(n, b[used:used+int(size)])
			b = b[used+int(size):]
		}
		t.arena = nil
		return nil
	}
	r, err := newReader(t.in)
	if err != nil {
		return err
	}
	defer r.close()
	n := uint64(0)
	for range t.fields {
		if more, err := r.field(); err != nil || !more {
			return err
		}
		if r.number != profileString {
			continue
		}
		if n++; r.message(profileString) {
			t.text(n-1, r.bytes())
			if _, ok := scripted(string(r.bytes()[:min(len(r.bytes()), maxText)]), 1<<32); ok {
				t.o.Counts.Keep("the profile has more names than memory holds, and its functions of scripts stay", place(r.at))
			}
		}
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// maxText bounds the strings that are kept: longer ones name no file and no function.
const maxText = 64 << 10

func (t *tables) text(n uint64, b []byte) {
	if _, wanted := t.texts[n]; wanted && len(b) <= maxText {
		t.texts[n] = string(b)
	}
}
