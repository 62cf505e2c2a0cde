package perfetto

import (
	"fmt"

	"github.com/symlake/symlake/formats/trace"
)

// process is a process of the trace.
type process struct {
	pid  int64 // as written
	uuid uint64
}

// track is a track's share of its events.
type track struct {
	uuid  uint64
	field []byte // track_uuid of its events; nil: the default
	timed bool   // they carry CPU time
	timer uint64 // its counter
	cpu   []byte // extra_counter_track_uuids; nil: the default
}

// describe writes what a track is.
func (w *Writer) describe(t *trace.Track) {
	if t.Index != len(w.tracks) {
		w.err = fmt.Errorf("perfetto: track %d after %d", t.Index, len(w.tracks))
		return
	}
	process := w.process(t)
	made := track{uuid: w.uuid(), timed: t.CPU}
	d := field(nil, descriptorUUID, made.uuid)
	switch t.Kind {
	case trace.Thread:
		thread := field(nil, threadPID, uint64(process.pid))
		thread = field(thread, threadTID, uint64(w.free(w.usedTIDs, t.TID)))
		if t.Name != "" {
			thread = text(thread, threadName, t.Name)
		}
		d = field(d, descriptorParent, process.uuid)
		d = message(d, descriptorThread, thread)
		if w.base == nil && !w.begun { // most events of a trace are its first thread's
			w.base = t
		}
	case trace.Counter:
		parent := process.uuid
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
	if w.base != t {
		made.field = field(nil, eventTrack, made.uuid)
	}
	if t.CPU {
		made.timer = w.uuid()
		d := field(nil, descriptorUUID, made.timer)
		d = field(d, descriptorParent, made.uuid)
		d = text(d, descriptorName, "CPU time")
		w.descriptor(message(d, descriptorCounter, field(field(nil, counterType, counterOfCPU), counterUnit, units[trace.Nanoseconds])))
		if w.base != t {
			made.cpu = field(nil, eventExtraTracks, made.timer)
		}
	}
	w.tracks = append(w.tracks, made)
}

// process gives a track's process, described if it is new.
func (w *Writer) process(t *trace.Track) process {
	if known, ok := w.pids[t.PID]; ok {
		return known
	}
	made := process{w.free(w.usedPIDs, t.PID), w.uuid()}
	w.pids[t.PID] = made
	p := field(nil, processPID, uint64(made.pid))
	if t.Process != "" {
		p = text(p, processName, t.Process)
	}
	w.descriptor(message(field(nil, descriptorUUID, made.uuid), descriptorProcess, p))
	return made
}

// free returns an id that no other trace of the file has: id itself if possible, never 0.
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

// uuid returns an id that no other track of the file has. It stands in each event of most tracks: small ones are short.
func (w *Writer) uuid() uint64 {
	w.uuids++
	return w.uuids
}
