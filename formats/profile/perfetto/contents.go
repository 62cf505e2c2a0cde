package perfetto

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile/internal/android"
	"github.com/symlake/symlake/formats/profile/internal/places"
)

// packet takes the next packet of the trace.
func (g *gather) packet(p *packet) error {
	g.at = p.at
	s := g.sequences[p.sequence]
	if s == nil {
		if !g.take(nil, sequenceBytes) {
			return nil
		}
		s = &sequence{shared: newTables(false)}
		g.sequences[p.sequence] = s
	}
	switch {
	case p.cleared:
		if err := g.drop(s.shared); err != nil {
			return err
		}
		s.shared, s.lost = newTables(false), false
	case p.lost:
		s.lost = true
	}
	if len(p.interned) > 0 && !s.lost {
		for _, b := range p.interned {
			g.interned(s.shared, b)
		}
		if err := g.settle(s.shared, false); err != nil {
			return err
		}
		for _, b := range p.interned {
			g.stacks(s.shared, b, internedStacks)
		}
	}
	if p.body == nil || p.needs && s.lost {
		return nil
	}
	return g.body(s, p)
}

// body takes what a packet holds beside its tables.
func (g *gather) body(s *sequence, p *packet) error {
	f := protobuf.Read(p.body)
	switch p.kind {
	case packetPerfSample:
		g.perf(s, &f)
	case packetStackSample:
		g.stackSample(s, &f)
	case packetStreaming:
		for f.Next() {
			if f.Number == streamingStack {
				f.Bad = !f.Numbers(func(id uint64) { g.sample(s, id) }) || f.Bad
			}
		}
	case packetProfile:
		return g.heap(s, &f)
	case packetHeapGraph:
		g.graph(&f)
	case packetTrackEvent:
		g.event(s, &f)
	case packetDescriptor:
		g.track(&f)
	case packetFtrace:
		g.ftrace(&f)
	case packetProcessTree:
		g.who.tree(&f)
	case packetProcess:
		g.who.descriptor(&f)
	case packetPackages:
		g.who.list(&f)
	case packetSymbols:
		g.symbols(&f)
	case packetRenamed:
		g.names.renamed(&f)
	}
	if f.Bad {
		g.keep("a packet holds bytes that are no field")
	}
	return nil
}

// sample counts a sample with a stack.
func (g *gather) sample(s *sequence, stack uint64) {
	g.counts.Samples++
	if !s.shared.stacks.has(stack) && (s.own == nil || !s.own.stacks.has(stack)) {
		g.keep("a sample refers to a stack that was never sent")
	}
}

// perf takes a sample of the kernel's counters.
func (g *gather) perf(s *sequence, f *protobuf.Fields) {
	for f.Next() {
		switch f.Number {
		case samplePID:
			g.who.sampled(f.Value)
		case sampleStack:
			g.sample(s, f.Value)
		}
	}
}

// stackSample takes a sample of any profiler.
func (g *gather) stackSample(s *sequence, f *protobuf.Fields) {
	for f.Next() {
		switch f.Number {
		case stackTask:
			t := protobuf.Read(f.Bytes)
			for t.Next() {
				if t.Number == taskPID {
					g.who.sampled(t.Value)
				}
			}
		case stackStack:
			g.sample(s, f.Value)
		case stackInline:
			g.counts.Samples++
		}
	}
}

// heap takes a dump of allocations.
func (g *gather) heap(s *sequence, f *protobuf.Fields) error {
	var dumps [][]byte
	continued := false
	body := f.Rest()
	for f.Next() {
		switch {
		case f.Is(profileDump):
			dumps = append(dumps, f.Bytes)
		case f.Number == profileContinued:
			continued = f.Value != 0
		case f.Number <= profileMappings && f.Wire == protobuf.Bytes:
			if s.own == nil {
				s.own = newTables(true)
				s.own.buildIDs[0] = ""
			}
			g.old(s.own, f)
		}
	}
	if s.own != nil {
		if err := g.settle(s.own, false); err != nil {
			return err
		}
		g.stacks(s.own, body, profileStacks)
	}
	for _, d := range dumps {
		g.dump(s, d)
	}
	if s.own == nil || continued {
		return nil
	}
	t := s.own
	s.own = nil
	return g.drop(t)
}

// old takes an entry of a ProfilePacket's own tables.
func (g *gather) old(t *tables, f *protobuf.Fields) {
	whole := true
	switch f.Number {
	case profileStrings:
		whole = g.text(t, t.functions, f.Bytes, false)
	case profileMappings:
		whole = g.mapping(t, f.Bytes)
	case profileFrames:
		whole = g.frame(t, f.Bytes, readFrame)
	}
	if !whole {
		g.keep("interned data hold bytes that are no message")
	}
}

// dump takes the allocations of a process.
func (g *gather) dump(s *sequence, b []byte) {
	f := protobuf.Read(b)
	for f.Next() {
		switch {
		case f.Number == dumpPID:
			g.who.sampled(f.Value)
		case f.Is(dumpSample):
			h := protobuf.Read(f.Bytes)
			for h.Next() {
				if h.Number == heapStack {
					g.sample(s, h.Value)
				}
			}
		}
	}
	if f.Bad {
		g.keep("a packet holds bytes that are no field")
	}
}

// graph takes the classes and fields of a heap of Java.
func (g *gather) graph(f *protobuf.Fields) {
	for f.Next() {
		switch {
		case f.Number == heapPID:
			g.who.sampled(f.Value)
		case f.Is(heapField):
			_, name, _ := entry(f.Bytes)
			if i := bytes.IndexByte(name, ' '); i >= 0 { // its type stands before it
				name = name[i+1:]
			}
			if class, _ := javaClass(name); class != nil {
				g.names.add("", class)
			}
		case f.Is(heapLocation):
			_, path, _ := entry(f.Bytes)
			g.names.group(android.PackageOf(string(path)))
		case f.Is(heapType):
			t := protobuf.Read(f.Bytes)
			for t.Next() {
				if t.Is(typeClassName) {
					g.names.add("", bareType(t.Bytes))
				}
			}
		}
	}
}

// event takes the name of a slice or an instant, and what it says of classes.
func (g *gather) event(s *sequence, f *protobuf.Fields) {
	for f.Next() {
		switch {
		case f.Is(eventName):
			g.names.say(f.Bytes)
		case f.Is(eventViews):
			g.views(f.Bytes)
		case f.Number == eventStack && f.Wire == protobuf.Varint:
			g.sample(s, f.Value)
		}
	}
}

// views takes the classes of a dump of views.
func (g *gather) views(b []byte) {
	f := protobuf.Read(b)
	for f.Next() {
		if !f.Is(viewsActivity) {
			continue
		}
		a := protobuf.Read(f.Bytes)
		for a.Next() {
			if !a.Is(activityView) {
				continue
			}
			v := protobuf.Read(a.Bytes)
			for v.Next() {
				if v.Is(viewClass) {
					g.names.add("", v.Bytes)
				}
			}
		}
	}
}

// track takes the name of a track, such as a counter's, and the process that it belongs to.
func (g *gather) track(f *protobuf.Fields) {
	for f.Next() {
		switch {
		case f.Is(trackName), f.Is(trackStaticName), f.Is(trackSystemName):
			g.names.say(f.Bytes)
		case f.Is(trackProcess):
			of := protobuf.Read(f.Bytes)
			g.who.descriptor(&of)
		}
	}
}

// ftrace takes the names of slices and counters that programs write into the kernel's trace: "B|12|name", "C|12|name|3".
func (g *gather) ftrace(f *protobuf.Fields) {
	for f.Next() {
		if !f.Is(bundleEvent) {
			continue
		}
		e := protobuf.Read(f.Bytes)
		for e.Next() {
			if !e.Is(ftracePrint) {
				continue
			}
			p := protobuf.Read(e.Bytes)
			for p.Next() {
				if p.Is(printText) {
					g.printed(p.Bytes)
				}
			}
		}
	}
}

// printed takes a line of the kernel's trace.
func (g *gather) printed(b []byte) {
	if len(b) < 4 || b[1] != '|' {
		return
	}
	if i := bytes.IndexByte(b[2:], '|'); i >= 0 {
		g.names.say(b[2+i+1:])
	}
}

// symbols takes symbols that the trace has already.
func (g *gather) symbols(f *protobuf.Fields) {
	m, addresses := readSymbols(f)
	number, ok := g.module(m)
	if !ok {
		return
	}
	for _, b := range addresses {
		a := protobuf.Read(b)
		at, lines := uint64(0), false
		for a.Next() {
			switch a.Number {
			case addressAddress:
				at = a.Value
			case addressLine:
				lines = true
			}
		}
		if lines {
			g.had.Add(places.Place{Image: number, Address: at}) // what finds no room is asked for again
		}
	}
}
