// Package perfetto writes traces in Perfetto's protobuf format, as it goes:
// memory is that of the names since the last Forget.
//
// What is written, by the messages of perfetto_trace.proto:
//
//   - a TrackDescriptor for each process, thread, counter, and for the states and the locks of a thread, before the
//     first event on it;
//   - TrackEvents on one packet sequence a trace: SLICE_BEGIN, SLICE_END, INSTANT and COUNTER. A slice's name, its
//     source location and the texts of its annotations are interned; what is interned stands in the packet that uses it first;
//   - annotations of a slice: "obfuscated" is what the trace called a method that was given back its name,
//     "alternatives" the other methods that it may be, "inlined" what was inlined at its line,
//     "unclosed" is true where the trace did not end it, and what the trace itself says;
//   - CPU time of a thread, where the trace has it, as extra counter of its events.
//
// Times are the trace's own nanoseconds, on Perfetto's default clock: a trace
// does not say how its clock stands to the system's.
//
// The schema is checked in tests with the one that Perfetto publishes; no
// trace processor was run on the output.
package perfetto

import (
	"fmt"
	"hash/fnv"
	"io"

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
	state    []byte // that its packets say: the sequence, and that they need what was before
	label    func(*trace.Name) (trace.Label, error)
	cleared  bool // the next packet clears what was interned
	begun    bool // an event of the trace was written
	tracks   []track
	pids     map[int64]int64 // of the trace, to those written
	usedPIDs map[int64]bool
	usedTIDs map[int64]bool
	base     uint64 // the trace's default track
	interned interned

	out []byte // packets to be written
}

// track is a track's share of its events.
type track struct {
	uuid  uint64 // 0: not written
	field []byte // track_uuid of its events; nil: the default
	cpu   []byte // extra_counter_track_uuids; nil: none
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
	w.label, w.cleared, w.begun, w.base = label, true, false, 0
	w.tracks, w.pids, w.interned = nil, map[int64]int64{}, interned{}
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
		w.name(e.Name)
	case trace.Instant:
		w.out = field(w.out, eventType, typeInstant)
		w.name(e.Name)
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
	w.out = append(w.out, t.field...)
	if t.cpu != nil && (e.Kind == trace.Begin || e.Kind == trace.End) {
		w.out = append(w.out, t.cpu...)
		w.out = field(w.out, eventExtraValues, uint64(e.CPU))
	}
	w.close(event)
	if len(w.interned.pending) > 0 {
		w.out = message(w.out, packetInterned, w.interned.pending)
		w.interned.pending = w.interned.pending[:0]
	}
	w.close(packet)
	if len(w.out) >= flushBytes {
		w.flush()
	}
	return w.err
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
	if w.base != 0 {
		w.out = message(w.out, packetDefaults, message(nil, defaultsTrackEvent, field(nil, eventDefaultsTrack, w.base)))
	}
}

// open begins a message in out and gives where its fields begin.
func (w *Writer) open(number protowire.Number) int {
	w.out = append(protowire.AppendTag(w.out, number, protowire.BytesType), 0)
	return len(w.out)
}

// close ends the message whose fields begin at from: its length stands before them, mostly in one byte.
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

// Close writes what is left. The file is whole then.
func (w *Writer) Close() error {
	w.flush()
	return w.err
}

// describe writes what a track is.
func (w *Writer) describe(t *trace.Track) {
	if t.Index != len(w.tracks) {
		w.err = fmt.Errorf("perfetto: track %d after %d", t.Index, len(w.tracks))
		return
	}
	process := w.process(t)
	made := track{uuid: w.uuid("track", int64(t.Index))}
	d := field(nil, descriptorUUID, made.uuid)
	switch t.Kind {
	case trace.Thread:
		thread := field(nil, threadPID, uint64(w.pids[t.PID]))
		thread = field(thread, threadTID, uint64(w.free(w.usedTIDs, t.TID)))
		if t.Name != "" {
			thread = text(thread, threadName, t.Name)
		}
		d = field(d, descriptorParent, process)
		d = message(d, descriptorThread, thread)
		if w.base == 0 && !w.begun { // most events of a trace are its first thread's
			w.base = made.uuid
		}
	case trace.Counter:
		parent := process
		if t.Parent != nil {
			parent = w.tracks[t.Parent.Index].uuid
		}
		d = field(d, descriptorParent, parent)
		d = text(d, descriptorName, t.Name)
		d = message(d, descriptorCounter, field(nil, counterUnit, units[t.Unit]))
	default:
		d = field(d, descriptorParent, w.tracks[t.Parent.Index].uuid)
		d = text(d, descriptorName, t.Name)
	}
	w.descriptor(d)
	if made.uuid != w.base {
		made.field = field(nil, eventTrack, made.uuid)
	}
	if t.CPU {
		cpu := w.uuid("cpu", int64(t.Index))
		d := field(nil, descriptorUUID, cpu)
		d = field(d, descriptorParent, made.uuid)
		d = text(d, descriptorName, "CPU time")
		w.descriptor(message(d, descriptorCounter, field(field(nil, counterType, counterOfCPU), counterUnit, units[trace.Nanoseconds])))
		made.cpu = field(nil, eventExtraTracks, cpu)
	}
	w.tracks = append(w.tracks, made)
}

// process gives the uuid of a track's process, described if it is new.
func (w *Writer) process(t *trace.Track) uint64 {
	id := w.uuid("process", t.PID)
	if _, known := w.pids[t.PID]; known {
		return id
	}
	pid := w.free(w.usedPIDs, t.PID)
	w.pids[t.PID] = pid
	p := field(nil, processPID, uint64(pid))
	if t.Process != "" {
		p = text(p, processName, t.Process)
	}
	w.descriptor(message(field(nil, descriptorUUID, id), descriptorProcess, p))
	return id
}

// free gives an id that no other trace of the file has: id itself, if it can be. 0 is nobody's.
func (w *Writer) free(used map[int64]bool, id int64) int64 {
	if id < 0 || id > 1<<31-1 {
		id = 1
	}
	for used[id] {
		id++
	}
	used[id] = true
	return id
}

func (w *Writer) descriptor(d []byte) {
	w.out = message(w.out, tracePacket, message(field(nil, packetSequence, w.sequence), packetDescriptor, d))
	if len(w.out) >= flushBytes {
		w.flush()
	}
}

// uuid is the same for the same track in each run, and unlike those of other tracks.
func (w *Writer) uuid(kind string, id int64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", kind, w.sequence, id)
	return max(h.Sum64(), 1)
}

func field(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}

func message(b []byte, number protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), m)
}
