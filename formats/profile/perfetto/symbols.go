package perfetto

import (
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/samples"
)

// symbols are the names that stand in a trace, behind the samples that need them, and what the trace says as a whole.
type symbols struct {
	to      *samples.Profile
	room    int64
	modules map[module]uint32
	at      map[places.Place]int32 // where a place's chain begins in chains
	chains  []int32                // of each its length, then numbers of frames, the innermost first
	methods map[string][]methodLine
	who     processes
	threads map[uint64]string // names, by tid
	clocks  clocks
	has     kinds
	weights []samples.Type // of samples that have a weight
}

// kinds are the kinds of samples that a trace has.
type kinds struct{ stacks, heaps, events bool }

// methodLine is a name that a method may have, for lines of the program if last is not 0.
type methodLine struct {
	name        string
	first, last uint32
	line        uint32 // in the source; 0: not known
}

const (
	symbolBytes = 72 // of a place
	methodBytes = 96 // of a method, beside its names
	maxWeights  = 16
)

func (s *symbols) take(n int) error {
	if s.room -= int64(n); s.room < 0 {
		return errRoom("a trace with fewer names, or one without conversion")
	}
	return nil
}

func errRoom(want string) error {
	return &formats.Error{Format: "perfetto", Want: want, Err: formats.ErrLimit}
}

// packet takes the names of a packet.
func (s *symbols) packet(p *packet) error {
	f := protobuf.Read(p.body)
	switch p.kind {
	case packetSymbols:
		return s.module(&f)
	case packetRenamed:
		return s.renamed(&f)
	case packetProcessTree:
		s.names(protobuf.Read(p.body))
		s.who.tree(&f)
	case packetProcess:
		s.who.descriptor(&f)
	case packetThread:
		s.thread(&f)
	case packetDescriptor:
		for f.Next() {
			switch {
			case f.Is(trackProcess):
				of := protobuf.Read(f.Bytes)
				s.who.descriptor(&of)
			case f.Is(trackThread):
				of := protobuf.Read(f.Bytes)
				s.thread(&of)
			}
		}
	case packetPackages:
		s.who.list(&f)
	case packetClocks:
		s.clocks.read(&f)
	case packetProfile:
		s.has.heaps = true
	case packetPerfSample, packetStreaming:
		s.has.stacks = true
	case packetStackSample:
		s.has.stacks = true
		for f.Next() {
			if f.Is(stackCounter) {
				s.weight(counterType(f.Bytes))
			}
		}
	case packetTrackEvent:
		for !s.has.events && f.Next() {
			s.has.events = f.Number == eventStack
		}
	}
	s.counters(p)
	return nil
}

// counters takes what samples of a sequence may weigh.
func (s *symbols) counters(p *packet) {
	for _, b := range p.interned {
		i := protobuf.Read(b)
		for i.Next() {
			if i.Is(internedCounters) {
				s.weight(counterType(i.Bytes))
			}
		}
	}
	d := protobuf.Read(p.defaults)
	for d.Next() {
		if !d.Is(defaultsStackSample) {
			continue
		}
		of := protobuf.Read(d.Bytes)
		for of.Next() {
			if of.Is(defaultsCounter) {
				s.weight(counterType(of.Bytes))
			}
		}
	}
}

// module takes the symbols of a module.
func (s *symbols) module(f *protobuf.Fields) error {
	m, addresses := readSymbols(f)
	number, known := s.modules[m]
	if !known {
		if err := s.take(imageBytes + len(m.path) + len(m.id)); err != nil {
			return err
		}
		number = uint32(len(s.modules))
		s.modules[m] = number
	}
	for _, b := range addresses {
		if err := s.address(number, m.path, b); err != nil {
			return err
		}
	}
	return nil
}

// address takes the lines of a place.
func (s *symbols) address(module uint32, path string, b []byte) error {
	p := places.Place{Image: module}
	from := len(s.chains)
	s.chains = append(s.chains, 0)
	var inner *samples.Frame
	add := func(f *samples.Frame) error {
		n, err := s.to.Frame(*f)
		s.chains = append(s.chains, n)
		return err
	}
	a := protobuf.Read(b)
	for a.Next() {
		switch {
		case a.Number == addressAddress && a.Wire == protobuf.Varint:
			p.Address = a.Value
		case a.Is(addressLine):
			if inner != nil { // another line says that it was inlined
				inner.Inlined = true
				if err := add(inner); err != nil {
					return err
				}
			}
			if inner = lineOf(a.Bytes, path); inner.Function == "" {
				inner = nil
			}
		}
	}
	if inner != nil {
		if err := add(inner); err != nil {
			return err
		}
	}
	if s.chains[from] = int32(len(s.chains) - from - 1); s.chains[from] == 0 {
		s.chains = s.chains[:from]
		return nil
	}
	if _, known := s.at[p]; !known {
		if err := s.take(symbolBytes + 4*(len(s.chains)-from)); err != nil {
			return err
		}
	}
	s.at[p] = int32(from)
	return nil
}

// lineOf reads a line of a place.
func lineOf(b []byte, module string) *samples.Frame {
	made := &samples.Frame{Module: module}
	l := protobuf.Read(b)
	for l.Next() {
		switch {
		case l.Is(lineFunction):
			made.Function = string(l.Bytes)
		case l.Is(lineSource):
			made.File = string(l.Bytes)
		case l.Number == lineLine:
			made.Line = uint32(l.Value)
		}
	}
	if made.Function == "??" { // as llvm-symbolizer says it
		made.Function = ""
	}
	return made
}

// renamed takes the names of a mapping.
func (s *symbols) renamed(f *protobuf.Fields) error {
	pkg, classes := readRenamed(f)
	for _, b := range classes {
		c := protobuf.Read(b)
		was, is := "", ""
		var methods [][]byte
		for c.Next() {
			switch {
			case c.Is(classOld):
				was = string(c.Bytes)
			case c.Is(classNew):
				is = string(c.Bytes)
			case c.Is(classMethod):
				methods = append(methods, c.Bytes)
			}
		}
		for _, m := range methods {
			if err := s.method(pkg, was, is, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// method takes a line of a mapping about a method.
func (s *symbols) method(pkg, was, is string, b []byte) error {
	old, l := "", methodLine{}
	f := protobuf.Read(b)
	for f.Next() {
		switch {
		case f.Is(memberOld):
			old = string(f.Bytes)
		case f.Is(memberNew):
			l.name = string(f.Bytes)
		case f.Number == memberFirst:
			l.first = uint32(f.Value)
		case f.Number == memberLast:
			l.last = uint32(f.Value)
		case f.Number == memberFrom:
			l.line = uint32(f.Value)
		}
	}
	if !strings.Contains(l.name, ".") {
		l.name = is + "." + l.name
	}
	key := pkg + "\x00" + was + "." + old
	if err := s.take(methodBytes + len(key) + len(l.name)); err != nil {
		return err
	}
	s.methods[key] = append(s.methods[key], l)
	return nil
}

// originals returns the names of a method of Java that stands at a line, the innermost first; nil: none is known. Where
// several are possible, they are one name, as Perfetto shows it.
func (s *symbols) originals(packages []string, function string, line uint32) []methodLine {
	for _, pkg := range packages {
		all := s.methods[pkg+"\x00"+function]
		if len(all) == 0 {
			continue
		}
		var chain []methodLine
		if line > 0 {
			for _, l := range all {
				if l.last == 0 || line >= l.first && line <= l.last {
					chain = append(chain, l)
				}
			}
		}
		if len(chain) > 0 {
			return chain
		}
		var names []string
		for _, l := range all {
			names = append(names, l.name)
		}
		slices.Sort(names)
		return []methodLine{{name: strings.Join(slices.Compact(names), " | ")}}
	}
	return nil
}

// names takes the names of threads.
func (s *symbols) names(f protobuf.Fields) {
	for f.Next() {
		if f.Is(treeThread) {
			t := protobuf.Read(f.Bytes)
			tid, name := uint64(0), ""
			for t.Next() {
				switch {
				case t.Number == threadTID:
					tid = t.Value
				case t.Is(threadName):
					name = string(t.Bytes[:min(len(t.Bytes), 256)])
				}
			}
			s.nameThread(tid, name)
		}
	}
}

// thread takes a thread that describes itself.
func (s *symbols) thread(f *protobuf.Fields) {
	tid, name := uint64(0), ""
	for f.Next() {
		switch {
		case f.Number == descriptorTID:
			tid = f.Value
		case f.Is(descriptorThreadName):
			name = string(f.Bytes[:min(len(f.Bytes), 256)])
		}
	}
	s.nameThread(tid, name)
}

func (s *symbols) nameThread(tid uint64, name string) {
	if name != "" && len(s.threads) < maxProcesses {
		s.threads[tid] = name
	}
}

// weight notes what samples weigh.
func (s *symbols) weight(t samples.Type) {
	if !slices.Contains(s.weights, t) && len(s.weights) < maxWeights {
		s.weights = append(s.weights, t)
	}
}

// counterType reads what a counter counts.
func counterType(b []byte) samples.Type {
	t := samples.Type{Name: "weight", Unit: "count"}
	f := protobuf.Read(b)
	for f.Next() {
		switch {
		case f.Is(counterName) && len(f.Bytes) > 0:
			t.Name = string(f.Bytes[:min(len(f.Bytes), 256)])
		case f.Is(counterUnitText) && len(f.Bytes) > 0:
			t.Unit = string(f.Bytes[:min(len(f.Bytes), 256)])
		case f.Number == counterUnit && f.Value == unitNanoseconds:
			t.Unit = "nanoseconds"
		case f.Number == counterUnit && f.Value == unitBytes:
			t.Unit = "bytes"
		}
	}
	return t
}
