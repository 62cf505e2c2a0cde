// Package perfetto writes traces in Perfetto's protobuf format, as it goes:
// its memory holds the names since the last Forget.
//
// It writes these messages of perfetto_trace.proto:
//
//   - a TrackDescriptor for each process, thread, counter, and for the states and the locks of a thread, before the
//     first event on it;
//   - TrackEvents on one packet sequence a trace: SLICE_BEGIN, SLICE_END, INSTANT and COUNTER. A slice's name, its
//     source location and the texts of its annotations are interned, in the packet that uses them first;
//   - annotations of a slice: "obfuscated" is the trace's name of a retraced method,
//     "alternatives" the other methods that it may be, "inlined" the methods inlined at its line,
//     "unclosed" is true where the trace did not end it; then the annotations of the trace itself;
//   - CPU time of a thread, where the trace has it, as extra counter of its events;
//   - TracePacketDefaults: the track and the counter of CPU time of the first thread, which has most events.
//
// Times are the trace's own nanoseconds, on Perfetto's default clock: a trace
// does not say how its clock stands to the system's.
//
// The schema is checked in tests with the one that Perfetto publishes; no
// trace processor was run on the output.
package perfetto

import (
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/trace"
)

// Field numbers of the messages, as the schema has them.
const (
	tracePacket = 1

	packetTimestamp     = 8
	packetSequence      = 10
	packetTrackEvent    = 11
	packetInterned      = 12
	packetSequenceFlags = 13
	packetDefaults      = 59
	packetDescriptor    = 60

	defaultsTrackEvent = 11
	eventDefaultsTrack = 11

	flagCleared = 1 // SEQ_INCREMENTAL_STATE_CLEARED
	flagNeeds   = 2 // SEQ_NEEDS_INCREMENTAL_STATE

	descriptorUUID    = 1
	descriptorName    = 2
	descriptorProcess = 3
	descriptorThread  = 4
	descriptorParent  = 5
	descriptorCounter = 8

	processPID   = 1
	processName  = 6
	threadPID    = 1
	threadTID    = 2
	threadName   = 5
	counterType  = 1
	counterUnit  = 3
	counterOfCPU = 1 // COUNTER_THREAD_TIME_NS

	eventAnnotation   = 4
	eventType         = 9
	eventNameIID      = 10
	eventTrack        = 11
	eventCounter      = 30
	eventExtraTracks  = 31
	eventExtraValues  = 12
	eventLocationIID  = 34
	eventDoubleCount  = 44
	typeBegin         = 1
	typeEnd           = 2
	typeInstant       = 3
	typeCounter       = 4
	internedNames     = 2
	internedKeys      = 3
	internedLocations = 4
	internedTexts     = 29

	internIID    = 1
	internText   = 2
	locationFile = 2
	locationName = 3
	locationLine = 4

	annotationKeyIID  = 1
	annotationBool    = 2
	annotationArray   = 12
	annotationTextIID = 17
)

// units by trace.Unit: COUNT, TIME_NS, SIZE_BYTES.
var units = [...]uint64{trace.Things: 2, trace.Nanoseconds: 1, trace.Bytes: 3}

// Writer writes one file of one or more traces. Once it failed it stays
// failed.
type Writer struct {
	w   io.Writer
	err error

	sequence uint64 // of the trace at hand; 0: none
	state    []byte // fields of its packets: the sequence, and the need of earlier packets
	begins   []byte // state, and how the event begins that begins a call
	ends     []byte // and a packet that ends it
	label    func(*trace.Name) (trace.Label, error)
	cleared  bool // the next packet clears the interned texts
	begun    bool // an event of the trace was written
	tracks   []track
	pids     map[int64]process // by the trace's ids
	usedPIDs map[int64]bool
	usedTIDs map[int64]bool
	uuids    uint64       // given
	base     *trace.Track // the trace's default track; nil: none
	interned interned

	out []byte // packets to be written
}

// flushBytes are gathered before they are written.
const flushBytes = 256 << 10

// New makes a writer. Its output is written in large pieces.
func New(w io.Writer) *Writer {
	return &Writer{w: w, usedPIDs: map[int64]bool{0: true}, usedTIDs: map[int64]bool{0: true}}
}

// Trace begins the next trace of the file. label says what a name is to be
// called; it is asked once for each name, until a Forget.
func (w *Writer) Trace(label func(*trace.Name) (trace.Label, error)) {
	w.sequence++
	w.state = field(field(nil, packetSequence, w.sequence), packetSequenceFlags, flagNeeds)
	event := append(protowire.AppendTag(slices.Clone(w.state), packetTrackEvent, protowire.BytesType), 0)
	w.begins, w.ends = append(slices.Clone(event), typeIsBegin...), append(slices.Clone(event), typeIsEnd...)
	w.label, w.cleared, w.begun, w.base = label, true, false, nil
	w.tracks, w.pids, w.interned = nil, map[int64]process{}, interned{}
}

// Event takes the next event of the trace.
func (w *Writer) Event(e *trace.Event) error {
	if w.err != nil {
		return w.err
	}
	switch e.Kind {
	case trace.NewTrack:
		w.describe(e.Track)
		return w.err
	case trace.Forget:
		w.interned, w.cleared = interned{}, true
		return nil
	}
	t := &w.tracks[e.Track.Index]
	w.begun = true
	if e.Kind == trace.Begin || e.Kind == trace.Instant {
		if id := int(e.ID); id >= len(w.interned.said) || w.interned.said[id] == 0 {
			if w.err = w.ask(e.Name); w.err != nil {
				return w.err
			}
		}
	}
	if len(w.interned.pending) > 0 || w.cleared || e.Kind > trace.End || e.Unclosed {
		w.packet(t, e)
	} else {
		w.call(t, e)
	}
	if len(w.out) >= flushBytes {
		w.flush()
	}
	return w.err
}

// call writes a begin or end that brings nothing to be remembered, as most events: its packet is shorter than 128 bytes
// unless more is said of its name.
func (w *Writer) call(t *track, e *trace.Event) {
	b := varint(append(w.out, tracePacket<<3|byte(protowire.BytesType), 0, packetTimestamp<<3), uint64(e.Time))
	packet := len(w.out) + 2
	if e.Kind == trace.Begin {
		b = append(b, w.begins...)
	} else {
		b = append(b, w.ends...)
	}
	event := len(b) - len(typeIsBegin)
	if e.Kind == trace.Begin {
		b = w.interned.name(b, e.ID, w.interned.said[e.ID])
	}
	b = append(b, t.field...)
	if t.timed {
		b = varint(append(append(b, t.cpu...), eventExtraValues<<3), uint64(e.CPU))
	}
	w.out = b
	w.close(event)
	w.close(packet)
}

// packet writes any event.
func (w *Writer) packet(t *track, e *trace.Event) {
	packet := w.open(tracePacket)
	w.out = field(w.out, packetTimestamp, uint64(e.Time))
	if w.cleared {
		w.clear()
	} else {
		w.out = append(w.out, w.state...)
	}
	event := w.open(packetTrackEvent)
	switch e.Kind {
	case trace.Begin:
		w.out = append(w.out, typeIsBegin...)
	case trace.Instant:
		w.out = field(w.out, eventType, typeInstant)
	case trace.End:
		w.out = append(w.out, typeIsEnd...)
		if e.Unclosed {
			w.out = append(w.out, w.unclosed()...)
		}
	case trace.Count:
		w.out = field(w.out, eventType, typeCounter)
		if whole := int64(e.Value); float64(whole) == e.Value && whole > -1<<53 && whole < 1<<53 {
			w.out = field(w.out, eventCounter, uint64(whole))
		} else {
			w.out = double(w.out, eventDoubleCount, e.Value)
		}
	}
	if e.Kind == trace.Begin || e.Kind == trace.Instant {
		w.out = w.interned.name(w.out, e.ID, w.interned.said[e.ID])
	}
	w.out = append(w.out, t.field...)
	if t.timed && (e.Kind == trace.Begin || e.Kind == trace.End) {
		w.out = field(append(w.out, t.cpu...), eventExtraValues, uint64(e.CPU))
	}
	w.close(event)
	if len(w.interned.pending) > 0 {
		w.out = message(w.out, packetInterned, w.interned.pending)
		w.interned.pending = w.interned.pending[:0]
	}
	w.close(packet)
}

// What most events are.
var (
	typeIsBegin = field(nil, eventType, typeBegin)
	typeIsEnd   = field(nil, eventType, typeEnd)
)

// clear begins what the packets of the trace refer to anew.
func (w *Writer) clear() {
	w.cleared = false
	w.out = field(field(w.out, packetSequence, w.sequence), packetSequenceFlags, flagNeeds|flagCleared)
	if w.base != nil {
		t := &w.tracks[w.base.Index]
		d := field(nil, eventDefaultsTrack, t.uuid)
		if t.timed {
			d = field(d, eventExtraTracks, t.timer)
		}
		w.out = message(w.out, packetDefaults, message(nil, defaultsTrackEvent, d))
	}
}

// open begins a message in out and gives where its fields begin.
func (w *Writer) open(number protowire.Number) int {
	w.out = append(protowire.AppendTag(w.out, number, protowire.BytesType), 0)
	return len(w.out)
}

// close ends the message with fields from from on: its length stands before them, mostly in one byte.
func (w *Writer) close(from int) {
	n := uint64(len(w.out) - from)
	if n < 1<<7 {
		w.out[from-1] = byte(n)
		return
	}
	more := protowire.SizeVarint(n) - 1
	w.out = append(w.out, make([]byte, more)...)
	copy(w.out[from+more:], w.out[from:])
	protowire.AppendVarint(w.out[:from-1], n)
}

func (w *Writer) flush() {
	if w.err == nil && len(w.out) > 0 {
		_, w.err = w.w.Write(w.out)
	}
	w.out = w.out[:0]
}

// Close writes the rest. Then the file is whole.
func (w *Writer) Close() error {
	w.flush()
	return w.err
}

func field(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func message(b []byte, number protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), m)
}
