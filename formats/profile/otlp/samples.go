package otlp

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/otlp/internal/carriage"
	"github.com/symlake/symlake/formats/samples"
)

// readSamples reads the samples of all messages. Profiles of several types become one: a sample has values of its own type, and 0 of
// the others.
func readSamples(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	s := &sampling{to: to, threads: map[samples.Thread]int32{}}
	for s.types = true; ; s.types = false { // types first: each sample has a value of each
		err := each(ctx, in, profile.MemoryBytes, func(p *carriage.Part, c carriage.Carriage) error {
			if p.Why != "" || p.Blank {
				return nil
			}
			s.m = &message{reader: reader{b: p.Bytes, json: c == carriage.Objects}, o: &profile.Options{}, at: p.At, left: profile.MemoryBytes}
			err := s.message()
			if formats.Rejects(err) {
				return err
			}
			return nil // a damaged message has no samples
		})
		if err != nil || !s.types {
			return err
		}
		if s.start != math.MaxUint64 {
			to.Start = int64(s.start)
		}
	}
}

// sampling reads samples.
type sampling struct {
	to    *samples.Profile
	types bool // only types and times are read
	start uint64
	m     *message

	resource samples.Thread
	t        *tables
	one      profileFacts
	stacks   map[stackKey]int32
	threads  map[samples.Thread]int32
}

// profileFacts are what a profile says beside its samples.
type profileFacts struct {
	kinds    []samples.Type
	period   int64
	start    uint64
	duration uint64
	indices  []int32 // of locations, in older versions
}

// stackKey names a stack of a message.
type stackKey struct {
	set         *tables
	first, size int32 // in older versions a part of indices, else the stack's number
}

// message reads a message.
func (s *sampling) message() error {
	m := s.m
	s.stacks = map[stackKey]int32{}
	if err := m.read(); err != nil {
		return err
	}
	if s.start == 0 {
		s.start = math.MaxUint64
	}
	if len(m.sets) > 0 {
		s.t = m.sets[0]
	}
	var stacks []span
	for _, t := range m.sets {
		if t.kind != kTables {
			continue
		}
		if err := t.each(func(f *field) error {
			if f.name == nStacks {
				stacks = append(stacks, span{int32(f.body), int32(f.end)})
			}
			return nil
		}); err != nil {
			return err
		}
	}
	set := 0
	return m.fields(kData, 0, len(m.b), func(f *field) error {
		if f.name != nResourceProfiles {
			return nil
		}
		if err := s.facts(f); err != nil {
			return err
		}
		return m.fields(kResourceProfiles, f.body, f.end, func(f *field) error {
			if f.name == nScopeProfiles {
				return m.fields(kScopeProfiles, f.body, f.end, func(f *field) error {
					if f.name != nProfiles {
						return nil
					}
					if len(m.sets) > 0 && m.sets[0].kind == kProfile && set < len(m.sets) && m.sets[set].homes[0].from == int32(f.body) {
						s.t = m.sets[set]
						set++
					}
					return s.profile(f, stacks)
				})
			}
			return nil
		})
	})
}

// profile reads a profile.
func (s *sampling) profile(f *field, stacks []span) error {
	if s.t == nil {
		return nil
	}
	m := s.m
	s.one = profileFacts{}
	err := m.fields(kProfile, f.body, f.end, func(f *field) error {
		switch f.name {
		case nSampleType:
			kind := samples.Type{}
			err := m.fields(kType, f.body, f.end, func(f *field) error {
				switch f.name {
				case nName:
					kind.Name = s.t.string(index(f.value))
				case nUnit:
					kind.Unit = s.t.string(index(f.value))
				}
				return nil
			})
			s.one.kinds = append(s.one.kinds, kind)
			return err
		case nTime:
			s.one.start = f.value
		case nDuration:
			s.one.duration = f.value
		case nPeriod:
			s.one.period = int64(f.value)
		case nIndices:
			return m.ints(f, func(v uint64) { s.one.indices = append(s.one.indices, index(v)) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(s.one.kinds) == 0 {
		s.one.kinds = []samples.Type{{Name: "samples", Unit: "count"}}
	}
	at := make([]int, len(s.one.kinds))
	for i, kind := range s.one.kinds {
		at[i] = s.kind(kind)
	}
	if s.types {
		if s.one.start > 0 {
			s.start = min(s.start, s.one.start)
		}
		s.to.Duration = max(s.to.Duration, int64(min(s.one.duration, math.MaxInt64)))
		if s.to.Period == 0 {
			s.to.Period = s.one.period
		}
		return nil
	}
	return m.fields(kProfile, f.body, f.end, func(f *field) error {
		if f.name != nSamples {
			return nil
		}
		return s.sample(f, stacks, at)
	})
}

// kind returns the number of a type.
func (s *sampling) kind(k samples.Type) int {
	for i := range s.to.Types {
		if s.to.Types[i] == k {
			return i
		}
	}
	s.to.Types = append(s.to.Types, k)
	return len(s.to.Types) - 1
}

// sample reads a sample: one for each of its times, or one.
func (s *sampling) sample(f *field, stacks []span, kinds []int) error {
	m := s.m
	key := stackKey{set: s.t, size: none}
	var values []int64
	var times []uint64
	thread := s.resource
	err := m.fields(kSample, f.body, f.end, func(f *field) error {
		switch f.name {
		case nStack:
			key.first = index(f.value)
		case nFirst:
			key.first, key.size = index(f.value), max(key.size, 0)
		case nLength:
			key.size = index(f.value)
		case nValues:
			return m.ints(f, func(v uint64) { values = append(values, int64(v)) })
		case nTimes:
			return m.ints(f, func(v uint64) { times = append(times, v) })
		case nAttributeIndices:
			return s.t.eachAttribute(f, func(a attribute) {
				switch a.key {
				case threadKey:
					thread.TID = int64(a.number)
				case threadNameKey:
					thread.Name = a.text
				}
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	stack, err := s.stack(key, stacks)
	if err != nil {
		return err
	}
	if stack == samples.None {
		s.to.Lost++
		return nil
	}
	row := make([]int64, len(s.to.Types))
	add := func(i int) error {
		clear(row)
		one := samples.Sample{Stack: stack, Thread: s.thread(thread), Time: -1}
		if i < len(times) && times[i] >= s.start {
			one.Time = int64(times[i] - s.start)
		}
		switch {
		case len(values) == 0:
			row[kinds[0]] = 1
		case len(kinds) > 1:
			for k := 0; k < len(kinds) && k < len(values); k++ {
				row[kinds[k]] = values[k]
			}
		case i < len(values):
			row[kinds[0]] = values[i]
		}
		return s.to.Add(one, row...)
	}
	n := len(times)
	if n == 0 && len(kinds) == 1 {
		n = len(values)
	}
	if len(kinds) > 1 {
		n = 1
	}
	for i := range max(n, 1) {
		if err := add(i); err != nil {
			return err
		}
	}
	return nil
}

// thread returns the number of a thread.
func (s *sampling) thread(t samples.Thread) int32 {
	if t == (samples.Thread{}) {
		return samples.None
	}
	n, known := s.threads[t]
	if !known {
		n = int32(len(s.to.Threads))
		s.to.Threads = append(s.to.Threads, t)
		s.threads[t] = n
	}
	return n
}

// stack returns the number of a stack, callers first.
func (s *sampling) stack(key stackKey, stacks []span) (int32, error) {
	if n, known := s.stacks[key]; known {
		return n, nil
	}
	var at []int32
	if key.size == none {
		if int(key.first) >= len(stacks) {
			return samples.None, nil
		}
		if err := s.m.fields(kStack, int(stacks[key.first].from), int(stacks[key.first].to), func(f *field) error {
			if f.name != nIndices {
				return nil
			}
			return s.m.ints(f, func(v uint64) { at = append(at, index(v)) })
		}); err != nil {
			return samples.None, err
		}
	} else {
		indices := s.one.indices
		if indices == nil { // the samples name locations themselves
			return samples.None, nil
		}
		first := min(int(key.first), len(indices))
		at = indices[first:min(first+int(key.size), len(indices))]
	}
	n := int32(samples.None)
	for i := len(at) - 1; i >= 0; i-- {
		if int(at[i]) >= len(s.t.locations) {
			continue
		}
		var err error
		if n, err = s.push(n, at[i]); err != nil {
			return samples.None, err
		}
	}
	s.stacks[key] = n
	return n, nil
}

// push pushes the frames of a location on a stack.
func (s *sampling) push(n int32, at int32) (int32, error) {
	t := s.t
	l := &t.locations[at]
	module := ""
	if l.mapping >= 0 && int(l.mapping) < len(t.mappings) {
		module = t.string(t.mappings[l.mapping].file)
	}
	lines := t.lines[l.first : l.first+l.lines]
	for i := len(lines) - 1; i >= 0; i-- {
		ln := &lines[i]
		f := samples.Frame{Line: ln.line, Column: ln.column, Module: module, Inlined: i < len(lines)-1}
		if int(ln.function) < len(t.functions) {
			fn := t.functions[ln.function]
			f.Function, f.Linkage, f.File = t.string(fn.name), t.string(fn.system), t.string(fn.file)
		}
		if f.Function == "" {
			f.Function = f.Linkage
		}
		if f.Function == "" {
			if len(lines) > 1 || l.address > 0 {
				continue
			}
			f.Function = "[unknown]"
		}
		if f.Linkage == f.Function {
			f.Linkage = ""
		}
		var err error
		if n, err = s.frame(n, f); err != nil {
			return n, err
		}
	}
	if len(lines) > 0 && t.isNamed(l) {
		return n, nil
	}
	if len(lines) > 0 && l.address == 0 {
		return n, nil
	}
	return s.frame(n, samples.Frame{Function: unnamed(module, l), Module: module, Address: l.address})
}

// unnamed returns what stands for the name of a location.
func unnamed(module string, l *location) string {
	module = module[strings.LastIndexAny(module, `/\`)+1:]
	if module == "" {
		if l.address == 0 {
			return "[unknown]"
		}
		return fmt.Sprintf("%#x", l.address)
	}
	return module + "+0x" + strconv.FormatUint(l.address, 16)
}

// frame pushes a frame.
func (s *sampling) frame(n int32, f samples.Frame) (int32, error) {
	at, err := s.to.Frame(f)
	if err != nil {
		return n, err
	}
	return s.to.Push(n, at)
}
