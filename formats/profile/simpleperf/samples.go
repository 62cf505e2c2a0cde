package simpleperf

import (
	"context"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// mostChain bounds a stack. Android records 1,024 entries at most; of a longer chain the innermost ones count.
const mostChain = 64 << 10

// maker makes samples of a profile.
type maker struct {
	*contents
	to      *samples.Profile
	frames  map[shown]int32
	threads map[uint32]int32
	chain   []entry
	counted []int64
}

// shown is what tells one frame from another.
type shown struct {
	place
	inlined bool
}

// samplesOf reads the samples of a profile, with the names that it has. Values are samples, then each event's counts.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	c, err := read(ctx, in, samples.RoomBytes/2, nil, nil)
	if err != nil {
		return err
	}
	m := &maker{contents: c, to: to, frames: map[shown]int32{}, threads: map[uint32]int32{}}
	to.Name, to.Lost = c.app, c.lost
	to.Types = []samples.Type{{Name: "samples", Unit: "count"}}
	for _, event := range c.events {
		to.Types = append(to.Types, samples.Type{Name: event, Unit: unitOf(event)})
	}
	if len(c.events) > 0 {
		to.Default = 1
	}
	for _, id := range sortedThreads(c.threads) {
		t := c.threads[id]
		m.threads[id] = int32(len(to.Threads))
		to.Threads = append(to.Threads, samples.Thread{PID: int64(t.process), TID: int64(id), Name: t.name, Process: c.threads[t.process].name})
	}
	first, last := int64(-1), int64(-1)
	_, err = read(ctx, in, samples.RoomBytes/2, nil, func(sample []byte) error {
		time, err := m.sample(sample, first)
		if first < 0 {
			first = time
		}
		last = max(last, time)
		return err
	})
	if first >= 0 {
		to.Duration = last - first
	}
	return err
}

// sortedThreads are the numbers of threads, ascending.
func sortedThreads(threads map[uint32]thread) []uint32 {
	ids := make([]uint32, 0, len(threads))
	for id := range threads {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// unitOf returns what an event counts.
func unitOf(event string) string {
	if name, _, _ := strings.Cut(event, ":"); name == "cpu-clock" || name == "task-clock" {
		return "nanoseconds"
	}
	return "count"
}

// sample adds a sample, and returns its time.
func (m *maker) sample(b []byte, first int64) (int64, error) {
	time, count, event := int64(0), int64(1), uint64(0)
	thread := int32(samples.None)
	m.chain = m.chain[:0]
	protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case sampleTime:
			time = int64(f.Value)
		case sampleCount:
			count = int64(f.Value)
		case sampleEvent:
			event = f.Value
		case sampleThread:
			if at, known := m.threads[uint32(f.Value)]; known {
				thread = at
			}
		case sampleChain:
			if e, ok := parseEntry(f.Bytes); ok && len(m.chain) < mostChain {
				m.chain = append(m.chain, e)
			}
		}
	})
	stack, err := m.stack()
	if err != nil {
		return time, err
	}
	m.counted = append(m.counted[:0], 1)
	for range m.events {
		m.counted = append(m.counted, 0)
	}
	if event < uint64(len(m.events)) {
		m.counted[1+event] = count
	}
	at := int64(0)
	if first >= 0 {
		at = max(time-first, 0)
	}
	return time, m.to.Add(samples.Sample{Stack: stack, Thread: thread, Time: at}, m.counted...)
}

// stack returns the stack of the chain at hand. Of entries at one address, all but the outermost were inlined.
func (m *maker) stack() (int32, error) {
	stack := int32(samples.None)
	for i := len(m.chain) - 1; i >= 0; i-- {
		e := &m.chain[i]
		inlined := i+1 < len(m.chain) && m.chain[i+1].address == e.address && m.chain[i+1].file == e.file && m.chain[i+1].symbol != e.symbol && e.isNative()
		n, err := m.frame(e, inlined)
		if err != nil {
			return stack, err
		}
		if stack, err = m.to.Push(stack, n); err != nil {
			return stack, err
		}
	}
	return stack, nil
}

// frame returns the number of an entry's frame.
func (m *maker) frame(e *entry, inlined bool) (int32, error) {
	key := shown{place{0, e.file, e.symbol}, inlined}
	if e.symbol == none {
		key.address = e.address
	}
	if n, known := m.frames[key]; known {
		return n, nil
	}
	made := samples.Frame{Inlined: inlined}
	of := m.files[e.file]
	if of != nil {
		made.Module = of.path
		if e.symbol >= 0 && int(e.symbol) < len(of.symbols) {
			made.Function = of.symbols[e.symbol]
			if len(of.mangled) == len(of.symbols) && of.mangled[e.symbol] != made.Function {
				made.Linkage = of.mangled[e.symbol]
			}
		}
	}
	if made.Function == "" {
		made.Address = e.address
		made.Function = "0x" + strconv.FormatUint(e.address, 16)
		if of != nil && of.path != "" {
			made.Function = path.Base(of.path[strings.LastIndexByte(of.path, '!')+1:]) + "+" + made.Function
		}
	}
	n, err := m.to.Frame(made)
	m.frames[key] = n
	return n, err
}
