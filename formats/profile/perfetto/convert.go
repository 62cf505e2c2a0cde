package perfetto

import (
	"github.com/symlake/symlake/formats/samples"

	"github.com/symlake/symlake/formats/internal/protobuf"
)

// perf takes a sample of the kernel's counters.
func (m *maker) perf(s *told, f *protobuf.Fields, at int64) error {
	var pid, tid, id uint64
	has, other := false, false
	for f.Next() {
		switch f.Number {
		case samplePID:
			pid = f.Value
		case sampleTID:
			tid = f.Value
		case sampleStack:
			id, has = f.Value, true
		case sampleLost:
			m.to.Lost += f.Value
			other = true
		case sampleEvent:
			other = true
		}
	}
	if !has {
		if !other {
			m.to.Lost++
		}
		return nil
	}
	m.clear()
	m.values[m.kind.stacks] = 1
	return m.add(s, id, pid, tid, at)
}

// sampled takes a sample of any profiler.
func (m *maker) sampled(s *told, f *protobuf.Fields, at int64) error {
	var id, weight uint64
	var task, inline []byte
	counter := s.counter
	for f.Next() {
		switch f.Number {
		case stackTask:
			task = f.Bytes
		case stackTaskID:
			task = s.shared.tasks[f.Value]
		case stackInline:
			inline = f.Bytes
		case stackStack:
			id = f.Value
		case stackCounter:
			counter = counterType(f.Bytes)
		case stackCounterID:
			counter = s.shared.counts[f.Value]
		case stackWeight:
			weight = f.Value
		}
	}
	m.clear()
	m.values[m.kind.stacks] = 1
	for i, t := range m.weights {
		if t == counter {
			m.values[m.kind.weights+i] = int64(weight)
		}
	}
	var pid, tid uint64
	t := protobuf.Read(task)
	for t.Next() {
		switch t.Number {
		case taskPID:
			pid = t.Value
		case taskTID:
			tid = t.Value
		}
	}
	if inline == nil {
		return m.add(s, id, pid, tid, at)
	}
	stack, err := m.inline(inline)
	if err != nil {
		return err
	}
	return m.put(stack, pid, tid, at)
}

// inline returns a stack that stands in its sample.
func (m *maker) inline(b []byte) (stack int32, err error) {
	stack = samples.None
	f := protobuf.Read(b)
	for f.Next() {
		if !f.Is(inlineFrame) {
			continue
		}
		made := samples.Frame{}
		i := protobuf.Read(f.Bytes)
		for i.Next() {
			switch {
			case i.Is(inlineFunction):
				made.Function = string(i.Bytes)
			case i.Is(inlineSource):
				made.File = string(i.Bytes)
			case i.Number == inlineLine:
				made.Line = uint32(i.Value)
			}
		}
		if made.Function == "" {
			made.Function = "(unknown)"
		}
		if stack, err = m.call(stack, made); err != nil {
			return stack, err
		}
	}
	return stack, nil
}

// streamed takes samples of Chrome's sampler: stacks, and microseconds between them.
func (m *maker) streamed(s *told, f *protobuf.Fields) error {
	var stacks, deltas []uint64
	for f.Next() {
		switch f.Number {
		case streamingStack:
			f.Numbers(func(v uint64) { stacks = append(stacks, v) })
		case streamingDelta:
			f.Numbers(func(v uint64) { deltas = append(deltas, v) })
		}
	}
	m.clear()
	m.values[m.kind.stacks] = 1
	for i, id := range stacks {
		at := int64(noTime)
		if i < len(deltas) {
			s.time += int64(deltas[i])
			at = m.clocks.boot(clockMono, s.time*microTimes)
		}
		if err := m.add(s, id, s.pid, s.tid, at); err != nil {
			return err
		}
	}
	return nil
}

// heap takes a dump of allocations. A dump counts from the beginning of the profile: the last one of a process tells all.
func (m *maker) heap(s *told, f *protobuf.Fields) error {
	var dumps [][]byte
	continued := false
	for f.Next() {
		switch {
		case f.Is(profileDump):
			dumps = append(dumps, f.Bytes)
		case f.Number == profileContinued:
			continued = f.Value != 0
		case f.Number <= profileMappings && f.Wire == protobuf.Bytes:
			if err := m.old(s, f); err != nil {
				return err
			}
		}
	}
	for _, d := range dumps {
		if err := m.dump(s, d); err != nil {
			return err
		}
	}
	if s.own != nil && !continued {
		m.room += int64(s.own.taken)
		s.own = nil
	}
	return nil
}

// old takes an entry of a ProfilePacket's own tables.
func (m *maker) old(s *told, f *protobuf.Fields) error {
	if s.own == nil {
		s.own = newContent()
		s.own.tables = *newTables(true)
	}
	taken := 2*stringBytes + len(f.Bytes)
	if err := m.take(taken); err != nil {
		return err
	}
	s.own.taken += taken
	switch f.Number {
	case profileStrings:
		s.own.text(s.own.buildIDs, f.Bytes)
	case profileMappings:
		s.own.mapping(f.Bytes)
	case profileFrames:
		s.own.frame(f.Bytes)
	case profileStacks:
		s.own.stack(f.Bytes)
	}
	return nil
}

// dump takes the allocations of a process.
func (m *maker) dump(s *told, b []byte) error {
	var pid uint64
	heap := ""
	var all [][]byte
	f := protobuf.Read(b)
	for f.Next() {
		switch {
		case f.Number == dumpPID:
			pid = f.Value
		case f.Is(dumpHeap):
			heap = string(f.Bytes[:min(len(f.Bytes), 256)])
		case f.Is(dumpSample):
			all = append(all, f.Bytes)
		}
	}
	for _, one := range all {
		if err := m.allocated(s, allocation{pid: pid, heap: heap}, one); err != nil {
			return err
		}
	}
	return nil
}

// heldBytes is about what an allocation takes.
const heldBytes = 160

// allocated takes the allocations of a stack.
func (m *maker) allocated(s *told, key allocation, b []byte) error {
	var id uint64
	h := held{}
	f := protobuf.Read(b)
	for f.Next() {
		switch f.Number {
		case heapStack:
			id = f.Value
		case heapAlloc, heapMax:
			h.bytes = int64(f.Value)
		case heapFreed:
			h.free = int64(f.Value)
		case heapAllocs, heapMaxes:
			h.count = int64(f.Value)
		case heapFrees:
			h.frees = int64(f.Value)
		}
	}
	var st stack
	ok := false
	var err error
	if s.own != nil {
		st, ok, err = m.find(s.own, id)
	}
	if !ok && err == nil {
		st, ok, err = m.find(s.shared, id)
	}
	if err != nil {
		return err
	}
	if !ok {
		m.to.Lost++
		return nil
	}
	key.stack, h.stack, h.thread = st.hash, st.number, m.thread(key.pid, key.pid)
	last := m.heaps[key]
	if last == nil {
		if err := m.take(heldBytes + len(key.heap)); err != nil {
			return err
		}
		last = new(held)
		m.heaps[key], m.dumped = last, append(m.dumped, last)
	}
	*last = h
	return nil
}

// flush adds the allocations that the last dumps have.
func (m *maker) flush() error {
	for _, h := range m.dumped {
		m.clear()
		v := m.values[m.kind.heaps:]
		v[0], v[1], v[2], v[3] = h.count, h.bytes, h.count-h.frees, h.bytes-h.free
		if err := m.to.Add(samples.Sample{Stack: h.stack, Thread: h.thread, Time: noTime}, m.values...); err != nil {
			return err
		}
	}
	return nil
}
