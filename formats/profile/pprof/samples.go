package pprof

import (
	"context"
	"errors"
	"io"
	"strconv"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// maker makes samples of a profile.
type maker struct {
	to        *samples.Profile
	strings   []string
	functions map[uint64]function
	mappings  map[uint64]mapping
	places    map[uint64]placed // by the ids of locations
	frames    []int32           // of places, outermost first
	types     [][2]uint64       // strings
	period    [2]uint64
	preferred uint64
	first     uint64 // mapping of the main program
	threads   map[samples.Thread]int32
	taken     int64
	other     bool // it counts other things than the profile before it

	locations []uint64
	values    []int64
}

// placed is the frames of a location.
type placed struct{ from, to int32 }

// samplesOf reads the samples of a profile.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	s := section{in, 0, -1}
	for range maxProfiles {
		behind, err := makeSamples(ctx, s, to)
		if err != nil || behind == 0 {
			return err
		}
		s.from = behind
	}
	return nil
}

// makeSamples reads the samples of the first profile of a section, and returns where the next one begins; 0: there is none.
// Samples of a profile that counts other things than the first one are lost.
func makeSamples(ctx context.Context, in section, to *samples.Profile) (behind int64, err error) {
	var b border
	find := &maker{}
	err = find.each(ctx, in, func(r *reader) error {
		if b.found(r) {
			behind = b.begin
			return io.EOF
		}
		return nil
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if behind > 0 {
		in.to = behind
	}
	m := &maker{to: to, functions: map[uint64]function{}, mappings: map[uint64]mapping{}, places: map[uint64]placed{}, threads: map[samples.Thread]int32{}}
	if err := m.each(ctx, in, m.table); err != nil {
		return 0, err
	}
	m.setTypes(in.from == 0)
	if err := m.each(ctx, in, m.location); err != nil {
		return 0, err
	}
	return behind, m.each(ctx, in, m.sample)
}

// each calls take for the fields of a profile.
func (m *maker) each(ctx context.Context, in section, take func(r *reader) error) error {
	r, err := newReader(in)
	if err != nil {
		return err
	}
	defer r.close()
	for n := 0; ; n++ {
		if more, err := r.field(); err != nil || !more {
			return err
		}
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if r.rest == 0 {
			if err := take(r); err != nil {
				return err
			}
		}
	}
}

// take counts memory that the tables of the profile hold.
func (m *maker) take(bytes int) error {
	room := m.to.Room
	if room == 0 {
		room = samples.RoomBytes
	}
	if m.taken += int64(bytes); m.taken > room/2 {
		return &formats.Error{Format: "pprof", Offset: 0, Want: "a smaller profile, or one without conversion", Err: formats.ErrLimit}
	}
	return nil
}

// entryBytes is about what an entry of a table takes.
const entryBytes = 96

// table notes a field that locations and samples refer to.
func (m *maker) table(r *reader) error {
	switch {
	case r.message(profileString):
		m.strings = append(m.strings, string(r.bytes()))
		return m.take(16 + len(r.bytes()))
	case r.message(profileFunction):
		if f, ok := parseFunction(r.bytes()); ok {
			if _, twice := m.functions[f.id]; !twice {
				m.functions[f.id] = f
			}
		}
		return m.take(entryBytes)
	case r.message(profileMapping):
		if at, ok := parseMapping(r.bytes()); ok {
			if _, twice := m.mappings[at.id]; !twice {
				m.mappings[at.id] = at
			}
			if m.first == 0 {
				m.first = at.id
			}
		}
		return m.take(entryBytes)
	case r.message(profileType):
		m.types = append(m.types, typeOf(r.bytes()))
		return m.take(entryBytes)
	case r.message(profileUnit):
		m.period = typeOf(r.bytes())
	case r.kind != protobuf.Varint:
	case r.number == profileTime:
		m.to.Start = int64(r.value)
	case r.number == profileDuration:
		m.to.Duration = int64(r.value)
	case r.number == profilePeriod:
		m.to.Period = int64(r.value)
	case r.number == profileDefault:
		m.preferred = r.value
	}
	return nil
}

// typeOf reads a ValueType.
func typeOf(b []byte) (t [2]uint64) {
	protobuf.Each(b, func(f *protobuf.Fields) {
		if f.Number == typeName || f.Number == typeUnit {
			t[f.Number-1] = f.Value
		}
	})
	return t
}

// text returns a string of the profile.
func (m *maker) text(n uint64) string {
	if n < uint64(len(m.strings)) {
		return m.strings[n]
	}
	return ""
}

// setTypes notes what samples count. Without a choice of the profile, the last type is shown first, as pprof does.
func (m *maker) setTypes(first bool) {
	if !first {
		m.other = len(m.types) != len(m.to.Types)
		for i := range min(len(m.types), len(m.to.Types)) {
			m.other = m.other || m.text(m.types[i][0]) != m.to.Types[i].Name || m.text(m.types[i][1]) != m.to.Types[i].Unit
		}
		return
	}
	m.to.Default = max(len(m.types)-1, 0)
	for i, t := range m.types {
		m.to.Types = append(m.to.Types, samples.Type{Name: m.text(t[0]), Unit: m.text(t[1])})
		if m.preferred != 0 && t[0] == m.preferred {
			m.to.Default = i
		}
	}
	if len(m.types) == 0 || m.types[m.to.Default] != m.period {
		m.to.Period = 0
	}
	m.to.Name = baseOf(m.text(m.mappings[m.first].file))
}

// location notes the frames of a location.
func (m *maker) location(r *reader) error {
	if !r.message(profileLocation) {
		return nil
	}
	l, ok := parseLocation(r.bytes())
	if _, twice := m.places[l.id]; twice || !ok {
		return nil
	}
	of := m.mappings[l.mapping]
	module := m.text(of.file)
	var lines []line
	protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
		if at, whole := parseLine(f.Bytes); f.Number == locationLine && f.Bytes != nil && whole {
			lines = append(lines, at)
		}
	})
	at := placed{from: int32(len(m.frames))}
	for i := len(lines) - 1; i >= 0; i-- {
		f := m.functions[lines[i].function]
		made := samples.Frame{Function: m.text(f.name), Linkage: m.text(f.system), File: m.text(f.file), Module: module,
			Line: small(lines[i].line), Column: small(lines[i].column), Inlined: i < len(lines)-1}
		if made.Function == "" {
			made.Function = made.Linkage
		}
		if made.Linkage == made.Function {
			made.Linkage = ""
		}
		if made.Function == "" {
			lines = lines[:min(i, 0)]
			break
		}
		if err := m.frame(made); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		m.frames = m.frames[:at.from]
		made, address := samples.Frame{Module: module}, l.address
		if of.start > 0 && address >= of.start && address < of.limit {
			address += of.offset - of.start // in the file
		} else {
			made.Address = address
		}
		made.Function = "0x" + strconv.FormatUint(address, 16)
		if name := baseOf(module); name != "" {
			made.Function = name + "+" + made.Function
		}
		if err := m.frame(made); err != nil {
			return err
		}
	}
	at.to = int32(len(m.frames))
	m.places[l.id] = at
	return m.take(entryBytes)
}

// small returns a line or column, 0 if it can be none.
func small(v int64) uint32 {
	if v < 0 || v > 1<<31 {
		return 0
	}
	return uint32(v)
}

func (m *maker) frame(f samples.Frame) error {
	n, err := m.to.Frame(f)
	m.frames = append(m.frames, n)
	return err
}

// sample adds a sample.
func (m *maker) sample(r *reader) error {
	if !r.message(profileSample) {
		return nil
	}
	m.locations, m.values = m.locations[:0], m.values[:0]
	var t samples.Thread
	said := false
	whole := protobuf.Each(r.bytes(), func(f *protobuf.Fields) {
		switch f.Number {
		case sampleLocation:
			f.Numbers(func(v uint64) { m.locations = append(m.locations, v) })
		case sampleValue:
			f.Numbers(func(v uint64) { m.values = append(m.values, int64(v)) })
		case sampleLabel:
			said = m.label(&t, f.Bytes) || said
		}
	})
	if !whole {
		return nil
	}
	stack := int32(samples.None)
	for i := len(m.locations) - 1; i >= 0; i-- {
		at, known := m.places[m.locations[i]]
		if !known {
			continue
		}
		for _, f := range m.frames[at.from:at.to] {
			var err error
			if stack, err = m.to.Push(stack, f); err != nil {
				return err
			}
		}
	}
	if stack == samples.None || m.other {
		m.to.Lost++
		return nil
	}
	thread := int32(samples.None)
	if said {
		known := false
		if thread, known = m.threads[t]; !known {
			thread = int32(len(m.to.Threads))
			m.threads[t] = thread
			m.to.Threads = append(m.to.Threads, t)
			if err := m.take(entryBytes + len(t.Name) + len(t.Process)); err != nil {
				return err
			}
		}
	}
	return m.to.Add(samples.Sample{Stack: stack, Thread: thread, Time: -1}, m.values...)
}

// label reads what a label says of the thread.
func (m *maker) label(t *samples.Thread, b []byte) bool {
	var name, text, number uint64
	protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case labelKey:
			name = f.Value
		case labelString:
			text = f.Value
		case labelNumber:
			number = f.Value
		}
	})
	id := func() int64 {
		if text != 0 {
			v, _ := strconv.ParseInt(m.text(text), 10, 64)
			return v
		}
		return int64(number)
	}
	switch m.text(name) {
	case "thread", "thread_name", "thread name", "thread_comm", "comm":
		t.Name = m.text(text)
	case "tid", "thread_id", "thread id":
		t.TID = id()
	case "pid", "process_id", "process id":
		t.PID = id()
	case "process", "process_name", "process name":
		t.Process = m.text(text)
	default:
		return false
	}
	return true
}
