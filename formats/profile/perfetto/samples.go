package perfetto

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/samples"
)

// samplesOf reads the samples of a trace, with the names that stand in it.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	s := &symbols{to: to, room: namesRoom, modules: map[module]uint32{}, at: map[places.Place]int32{}, methods: map[string][]methodLine{}, who: newProcesses(), threads: map[uint64]string{}}
	if err := each(ctx, in, s.packet); err != nil {
		return err
	}
	m := &maker{symbols: s, sequences: map[uint64]*told{}, threadAt: map[[2]uint64]int32{}, heaps: map[allocation]*held{}, seed: maphash.MakeSeed(), first: noTime}
	m.types()
	for pkg := range s.who.versions {
		m.packages = append(m.packages, pkg)
	}
	m.packages = append(append(s.who.everyone(), m.packages...), unknownPackage)
	if err := each(ctx, in, m.packet); err != nil {
		return err
	}
	if err := m.flush(); err != nil {
		return err
	}
	if m.first >= 0 {
		for i := range to.Samples {
			if to.Samples[i].Time >= 0 {
				to.Samples[i].Time -= m.first
			}
		}
		to.Start, to.Duration = s.clocks.real(m.first), m.last-m.first
	}
	return nil
}

// each calls see with every packet of a trace.
func each(ctx context.Context, in *profile.Input, see func(*packet) error) error {
	r, err := in.Open()
	if err != nil {
		return err
	}
	_, err = trace(ctx, r, packetsRoom, &profile.Counts{}, see)
	return errors.Join(err, r.Close())
}

// types says what values samples have.
func (m *maker) types() {
	add := func(on bool, all ...samples.Type) int {
		at := len(m.to.Types)
		if on {
			m.to.Types = append(m.to.Types, all...)
		}
		return at
	}
	m.kind.stacks = add(m.has.stacks, samples.Type{Name: "samples", Unit: "count"})
	m.kind.weights = add(len(m.weights) > 0, m.weights...)
	m.kind.events = add(m.has.events, samples.Type{Name: "events", Unit: "count"})
	m.kind.heaps = add(m.has.heaps, samples.Type{Name: "alloc_objects", Unit: "count"}, samples.Type{Name: "alloc_space", Unit: "bytes"},
		samples.Type{Name: "inuse_objects", Unit: "count"}, samples.Type{Name: "inuse_space", Unit: "bytes"})
	if !m.has.stacks && m.has.heaps {
		m.to.Default = m.kind.heaps + 3
	}
	m.values = make([]int64, len(m.to.Types))
}

// packet takes the next packet of the trace.
func (m *maker) packet(p *packet) error {
	s := m.sequences[p.sequence]
	if s == nil {
		if err := m.take(2 * sequenceBytes); err != nil {
			return err
		}
		s = &told{shared: newContent()}
		m.sequences[p.sequence] = s
	}
	switch {
	case p.cleared:
		m.room += int64(s.shared.taken)
		s.shared, s.lost = newContent(), false
	case p.lost:
		s.lost = true
	}
	m.defaults(s, p)
	if !s.lost {
		for _, b := range p.interned {
			if err := m.interned(s.shared, b); err != nil {
				return err
			}
		}
	}
	if p.body == nil || p.needs && s.lost {
		return nil
	}
	clock := p.clock
	if clock == 0 {
		clock = s.clock
	}
	at := m.clocks.boot(clock, p.time)
	f := protobuf.Read(p.body)
	switch p.kind {
	case packetPerfSample:
		return m.perf(s, &f, at)
	case packetStackSample:
		return m.sampled(s, &f, at)
	case packetStreaming:
		return m.streamed(s, &f)
	case packetProfile:
		return m.heap(s, &f)
	case packetThread:
		s.describe(&f)
	case packetDescriptor:
		for f.Next() {
			if f.Is(trackThread) {
				of := protobuf.Read(f.Bytes)
				s.describe(&of)
			}
		}
	case packetTrackEvent:
		for f.Next() {
			if f.Number == eventStack && f.Wire == protobuf.Varint {
				m.clear()
				m.values[m.kind.events] = 1
				return m.add(s, f.Value, s.pid, s.tid, at)
			}
		}
	}
	return nil
}
