package perfetto

import (
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/android"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/symbol"
)

// gather collects what a trace leaves open: places of code without lines, and names that a mapping may have changed.
type gather struct {
	*ledger
	sequences map[uint64]*sequence
	modules   map[module]uint32
	numbers   map[biased]int
	images    []image
	places    *places.Spool
	had       *places.Set // places of modules that the trace has symbols of
	names     *names
	who       processes
}

// biased is what tells images of a module apart.
type biased struct {
	module uint32
	bias   uint64
}

// sequence is what a writer of packets has sent.
type sequence struct {
	shared *tables
	own    *tables // of a ProfilePacket and of its continuations; nil: none has any
	lost   bool    // packets are lost, and ids mean nothing until they begin anew
}

func newGather(o *profile.Options) *gather {
	room := o.Room()
	l := &ledger{counts: &o.Counts, room: room / 4}
	return &gather{
		ledger: l, sequences: map[uint64]*sequence{}, modules: map[module]uint32{}, numbers: map[biased]int{},
		places: places.NewSpool(room*3/8, o.Scratch), had: places.New(room / 8), names: newNames(l), who: newProcesses(),
	}
}

// drop ends tables.
func (g *gather) drop(t *tables) error {
	if t == nil {
		return nil
	}
	err := g.settle(t, true)
	g.room += t.taken
	return err
}

// interned takes new entries of tables, but for stacks.
func (g *gather) interned(t *tables, b []byte) {
	f := protobuf.Read(b)
	whole := true
	for f.Next() {
		if f.Wire != protobuf.Bytes {
			continue
		}
		ok := true
		switch f.Number {
		case internedBuildIDs:
			ok = g.text(t, t.buildIDs, f.Bytes, false)
		case internedPaths:
			ok = g.text(t, t.paths, f.Bytes, false)
		case internedSources:
			ok = g.text(t, t.sources, f.Bytes, true)
		case internedFunctions:
			ok = g.text(t, t.functions, f.Bytes, true)
		case internedMappings:
			ok = g.mapping(t, f.Bytes)
		case internedFrames:
			ok = g.frame(t, f.Bytes, readFrame)
		case internedLocations:
			ok = g.frame(t, f.Bytes, readLocation)
		case internedEventNames, internedViews:
			_, name, _ := entry(f.Bytes)
			g.names.say(name)
		}
		whole = whole && ok
	}
	if f.Bad || !whole {
		g.keep("interned data hold bytes that are no message")
	}
}

// text takes an interned string. Of functions only names of Java matter: others are known to exist.
func (g *gather) text(t *tables, to map[uint64]string, b []byte, java bool) bool {
	id, text, whole := entry(b)
	if java {
		if class, _ := javaClass(text); class == nil {
			text = nil
		}
	}
	if g.take(t, stringBytes+int64(len(text))) {
		to[id] = string(text)
	}
	return whole
}

func (g *gather) mapping(t *tables, b []byte) bool {
	id, m, whole := readMapping(b)
	if g.take(t, mappingBytes+8*int64(len(m.path))) {
		t.mappings[id] = m
	}
	return whole
}

func (g *gather) frame(t *tables, b []byte, read func([]byte) (frame, bool)) bool {
	fr, whole := read(b)
	if !g.take(t, idsPageBytes+frameBytes) { // a frame gives its part back when it is resolved
		return whole
	}
	taken := int64(0)
	if fr.stack {
		taken = t.frames.add(fr.id)
	}
	g.give(t, idsPageBytes-taken)
	t.waiting = append(t.waiting, fr)
	return whole
}

// stacks takes new stacks.
func (g *gather) stacks(t *tables, b []byte, number uint32) {
	f := protobuf.Read(b)
	for f.Next() {
		if !f.Is(number) {
			continue
		}
		s := protobuf.Read(f.Bytes)
		id, empty := uint64(0), true
		for s.Next() {
			switch s.Number {
			case entryID:
				id = s.Value
			case stackFrame:
				s.Bad = !s.Numbers(func(id uint64) {
					if empty = false; !t.frames.has(id) {
						g.keep("a stack refers to a frame that was never sent")
					}
				}) || s.Bad
			}
		}
		if s.Bad {
			g.keep("interned data hold bytes that are no message")
		}
		if empty {
			g.keep("a stack has no frames")
		}
		if g.take(t, idsPageBytes) {
			g.give(t, idsPageBytes-t.stacks.add(id))
		}
	}
}

// settle resolves frames that have their mappings and names. Frames that waited before are tried again after as many new
// ones as they are, and the last time, when those without are counted.
func (g *gather) settle(t *tables, last bool) error {
	t.tried += len(t.waiting) - t.late + 1
	from := t.late
	if last || t.tried >= t.late {
		from, t.tried = 0, 0
	}
	left := t.waiting[:from]
	for i := range t.waiting[from:] {
		fr := t.waiting[from+i]
		done, err := g.resolve(t, &fr, last)
		if err != nil {
			return err
		}
		if !done {
			left = append(left, fr)
			continue
		}
		g.give(t, frameBytes)
	}
	t.waiting, t.late = left, len(left)
	return nil
}

// resolve notes the place or the name of a frame. It returns false if it waits for more.
func (g *gather) resolve(t *tables, fr *frame, last bool) (bool, error) {
	function, known := "", true
	if fr.function != 0 {
		if function, known = t.functions[fr.function]; !known && !last {
			return false, nil
		}
	}
	if !known {
		g.keep("a frame refers to a name that was never sent")
	}
	if fr.mapping == 0 {
		g.names.frame("", function)
		return true, nil
	}
	m := t.mappings[fr.mapping]
	if m == nil {
		if last {
			g.keep("a frame refers to a mapping that was never sent")
		}
		return last, nil
	}
	if m.image == unresolved && !g.image(t, m, last) {
		return last, nil
	}
	if m.image < 0 {
		return true, nil
	}
	of := &g.images[m.image]
	switch {
	case of.kind == managed:
		if pkg := android.PackageOf(of.path); pkg != "" || !android.IsFramework(of.path) {
			g.names.frame(pkg, function)
		}
	case of.kind == native && (fr.line > 0 || fr.source > 0):
		g.counts.Named++ // the recorder knew it
	case of.kind == native:
		return true, g.places.Add(places.Place{Image: uint32(m.image), Address: fr.address})
	case function != "":
		g.names.frame("", function)
	}
	return true, nil
}

// image gives a mapping the number of its image. It returns false if a name of the mapping is missing.
func (g *gather) image(t *tables, m *mapping, last bool) bool {
	id, known := t.buildIDs[m.buildID]
	if !known && m.buildID != 0 {
		if last {
			g.keep("a mapping refers to a build-id that was never sent")
			m.image = unknown
		}
		return false
	}
	for _, part := range m.path {
		if _, known := t.paths[part]; known {
			continue
		}
		if !last {
			return false
		}
		g.keep("a mapping refers to a part of its path that was never sent")
		break
	}
	im := image{module: module{t.name(m), id}, bias: m.bias, told: m.exactly, mapped: symbol.Mapping{Offset: m.exact - m.startOffset, Size: m.end - m.start}}
	if m.exact < m.startOffset {
		im.mapped.Offset = 0
	}
	if m.end < m.start {
		im.mapped.Size = 0
	}
	number, ok := g.module(im.module)
	if !ok {
		m.image = unknown
		return false
	}
	im.number, im.kind = number, kindOf(&im.module)
	key := biased{number, m.bias}
	at, known := g.numbers[key]
	if !known {
		if !g.take(nil, imageBytes) {
			m.image = unknown
			return false
		}
		at = len(g.images)
		g.numbers[key], g.images = at, append(g.images, im)
	}
	m.image = at
	return true
}

// module returns the number of a module.
func (g *gather) module(m module) (uint32, bool) {
	n, known := g.modules[m]
	if known {
		return n, true
	}
	if !g.take(nil, imageBytes+int64(len(m.path)+len(m.id))) {
		return 0, false
	}
	n = uint32(len(g.modules))
	g.modules[m] = n
	return n, true
}

// end counts what the trace has left open.
func (g *gather) end() error {
	for _, s := range g.sequences {
		if err := g.drop(s.shared); err != nil {
			return err
		}
		if err := g.drop(s.own); err != nil {
			return err
		}
		s.shared, s.own = newTables(false), nil
	}
	return nil
}
