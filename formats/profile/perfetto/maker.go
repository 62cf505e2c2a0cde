package perfetto

import (
	"hash/maphash"
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile/internal/android"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/samples"
)

// maker makes samples of a trace.
type maker struct {
	*symbols
	sequences map[uint64]*told
	threadAt  map[[2]uint64]int32
	heaps     map[allocation]*held
	dumped    []*held
	values    []int64
	seed      maphash.Seed
	packages  []string // that were sampled
	kind      struct{ stacks, heaps, events, weights int }
	first     int64 // time of a sample, in the clock of the trace
	last      int64
}

// told is what a sequence has sent.
type told struct {
	shared, own *content
	lost        bool
	clock       uint64
	counter     samples.Type // of samples that name none
	pid, tid    uint64       // of the thread that writes it
	time        int64        // of it, in microseconds since an unknown time
}

// content is what ids of a sequence stand for.
type content struct {
	tables
	all    map[uint64]frame
	chains map[uint64][]byte
	stacks map[uint64]stack
	tasks  map[uint64][]byte
	counts map[uint64]samples.Type
	taken  int
}

// stack is a stack as samples number it, and what tells it from others, also from those with the same names.
type stack struct {
	number int32
	hash   uint64
}

// allocation is where a process allocated memory.
type allocation struct {
	pid   uint64
	heap  string
	stack uint64
}

// held is the memory that was allocated there.
type held struct {
	stack                     int32
	thread                    int32
	count, bytes, frees, free int64
}

// Memory of a conversion beside the samples, in bytes.
const (
	namesRoom   = 48 << 20
	packetsRoom = 48 << 20
)

func newContent() *content {
	return &content{tables: *newTables(false), all: map[uint64]frame{}, chains: map[uint64][]byte{}, stacks: map[uint64]stack{}, tasks: map[uint64][]byte{}, counts: map[uint64]samples.Type{}}
}

// defaults takes what packets of a sequence have in common.
func (m *maker) defaults(s *told, p *packet) {
	d := protobuf.Read(p.defaults)
	for d.Next() {
		switch {
		case d.Number == packetClock:
			s.clock = d.Value
		case d.Is(defaultsStackSample):
			of := protobuf.Read(d.Bytes)
			for of.Next() {
				if of.Is(defaultsCounter) {
					s.counter = counterType(of.Bytes)
				}
			}
		}
	}
}

// describe takes the thread that a sequence is of.
func (s *told) describe(f *protobuf.Fields) {
	for f.Next() {
		switch f.Number {
		case descriptorPID:
			s.pid = f.Value
		case descriptorTID:
			s.tid = f.Value
		case descriptorTime:
			s.time = int64(f.Value)
		}
	}
}

// interned takes new entries of tables.
func (m *maker) interned(c *content, b []byte) error {
	f := protobuf.Read(b)
	for f.Next() {
		if f.Wire != protobuf.Bytes {
			continue
		}
		taken := 2*stringBytes + len(f.Bytes)
		if err := m.take(taken); err != nil {
			return err
		}
		c.taken += taken
		switch f.Number {
		case internedBuildIDs:
			c.text(c.buildIDs, f.Bytes)
		case internedPaths:
			c.text(c.paths, f.Bytes)
		case internedSources:
			c.text(c.sources, f.Bytes)
		case internedFunctions:
			c.text(c.functions, f.Bytes)
		case internedMappings:
			c.mapping(f.Bytes)
		case internedFrames:
			c.frame(f.Bytes)
		case internedStacks:
			c.stack(f.Bytes)
		case internedTasks:
			t := protobuf.Read(f.Bytes)
			for t.Next() {
				if t.Number == entryID {
					c.tasks[t.Value] = append([]byte(nil), f.Bytes...)
				}
			}
		case internedCounters:
			t := protobuf.Read(f.Bytes)
			for t.Next() {
				if t.Number == entryID {
					c.counts[t.Value] = counterType(f.Bytes)
				}
			}
		default:
			m.room += int64(taken)
			c.taken -= taken
		}
	}
	return nil
}

func (c *content) text(to map[uint64]string, b []byte) {
	id, text, _ := entry(b)
	to[id] = string(text)
}

func (c *content) mapping(b []byte) {
	if id, m, whole := readMapping(b); whole {
		c.mappings[id] = m
	}
}

func (c *content) frame(b []byte) {
	if fr, whole := readFrame(b); whole {
		c.all[fr.id] = fr
	}
}

func (c *content) stack(b []byte) {
	f := protobuf.Read(b)
	for f.Next() {
		if f.Number == entryID {
			c.chains[f.Value] = append([]byte(nil), b...)
			delete(c.stacks, f.Value)
		}
	}
}

// find returns the stack of an id. ok is false if a part of it was never sent.
func (m *maker) find(c *content, id uint64) (st stack, ok bool, err error) {
	if st, ok = c.stacks[id]; ok {
		return st, st.number != samples.None, nil
	}
	b, known := c.chains[id]
	if !known {
		return stack{number: samples.None}, false, nil
	}
	st.number = samples.None
	var h maphash.Hash
	h.SetSeed(m.seed)
	f := protobuf.Read(b)
	whole := true
	for f.Next() {
		if f.Number != stackFrame {
			continue
		}
		f.Numbers(func(id uint64) {
			fr, known := c.all[id]
			if whole = whole && known; whole && err == nil {
				st.number, err = m.push(c, &fr, st.number, &h)
			}
		})
	}
	if !whole || f.Bad {
		st.number = samples.None
	}
	st.hash = h.Sum64()
	c.stacks[id] = st
	return st, st.number != samples.None, err
}

// push adds a frame, and the functions that were inlined there, to a stack.
func (m *maker) push(c *content, fr *frame, caller int32, h *maphash.Hash) (number int32, err error) {
	of := module{}
	if at := c.mappings[fr.mapping]; at != nil && fr.mapping > 0 {
		of = module{c.name(at), c.buildIDs[at.buildID]}
	}
	function := c.functions[fr.function]
	maphash.WriteComparable(h, of)
	maphash.WriteComparable(h, fr.address)
	h.WriteString(function)
	if n, known := m.modules[of]; known {
		if from, known := m.at[places.Place{Image: n, Address: fr.address}]; known {
			chain := m.chains[from+1 : from+1+m.chains[from]]
			for i := len(chain) - 1; i >= 0 && err == nil; i-- {
				caller, err = m.to.Push(caller, chain[i])
			}
			return caller, err
		}
	}
	if strings.Contains(function, ".") && kindOf(&of) != native {
		packages := m.packages
		if pkg := android.PackageOf(of.path); pkg != "" {
			packages = []string{pkg, unknownPackage}
		}
		chain := m.originals(packages, function, uint32(fr.line))
		for i := len(chain) - 1; i >= 0 && err == nil; i-- {
			caller, err = m.call(caller, samples.Frame{Function: chain[i].name, Linkage: function, Line: chain[i].line, Module: of.path, Inlined: i < len(chain)-1})
		}
		if len(chain) > 0 {
			return caller, err
		}
	}
	made := samples.Frame{Function: demangle.Name(function), File: c.sources[fr.source], Line: uint32(fr.line), Module: of.path}
	if made.Function != function {
		made.Linkage = function
	}
	if made.Function == "" {
		made.Function, made.Address = "0x"+strconv.FormatUint(fr.address, 16), fr.address
		if of.path != "" {
			made.Function = path.Base(of.path[strings.LastIndexByte(of.path, '!')+1:]) + "+" + made.Function
		}
	}
	return m.call(caller, made)
}

// call adds a frame to a stack.
func (m *maker) call(caller int32, f samples.Frame) (int32, error) {
	n, err := m.to.Frame(f)
	if err != nil {
		return caller, err
	}
	return m.to.Push(caller, n)
}

// clear makes all values 0.
func (m *maker) clear() { clear(m.values) }

// add adds a sample with the values at hand.
func (m *maker) add(s *told, id, pid, tid uint64, at int64) error {
	st, ok, err := m.find(s.shared, id)
	if err != nil {
		return err
	}
	if !ok {
		m.to.Lost++
		return nil
	}
	return m.put(st.number, pid, tid, at)
}

func (m *maker) put(stack int32, pid, tid uint64, at int64) error {
	if at >= 0 {
		if m.first < 0 || at < m.first {
			m.first = at
		}
		m.last = max(m.last, at)
	}
	return m.to.Add(samples.Sample{Stack: stack, Thread: m.thread(pid, tid), Time: at}, m.values...)
}

// thread returns the number of a thread.
func (m *maker) thread(pid, tid uint64) int32 {
	if pid == 0 && tid == 0 {
		return samples.None
	}
	key := [2]uint64{pid, tid}
	n, known := m.threadAt[key]
	if !known {
		if len(m.to.Threads) >= maxProcesses {
			return samples.None
		}
		n = int32(len(m.to.Threads))
		m.threadAt[key] = n
		m.to.Threads = append(m.to.Threads, samples.Thread{PID: int64(pid), TID: int64(tid), Name: m.threads[tid], Process: m.who.known[pid].name})
	}
	return n
}
