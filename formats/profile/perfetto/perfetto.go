// Package perfetto answers Perfetto's traces.
//
// Answers are packets behind the trace, which stays byte for byte: ModuleSymbols with the lines of native code, module by
// module, and DeobfuscationMapping with the names of Java and Kotlin, package by package. Perfetto's own tools append the
// same, and its trace processor reads them from there.
//
// Places come from the frames that recorders intern: traced_perf, heapprofd, Chrome's sampler, events with stacks, and
// source locations of events. Names come from functions of such frames, from classes and fields of a heap of Java, and
// from dumps of views.
//
// A trace is read once, packet by packet. Memory holds what packets of a sequence refer to, until the sequence clears it,
// and the places, which go to a file when they are too many.
package perfetto

import (
	"github.com/symlake/symlake/formats/profile"

	"github.com/symlake/symlake/formats/internal/protobuf"
)

// Format is Perfetto's traces.
var Format = &profile.Format{
	Name:    "perfetto",
	Title:   "Perfetto",
	Endings: []string{".pftrace", ".perfetto-trace", ".perfetto"},
	Media:   []string{"application/vnd.perfetto"},
	Begins:  begins,
	Answer:  answer,
	Appends: true,
	Samples: samplesOf,
}

// numbered are the fields of a packet that are numbers. All others that the schema has are messages, and stand
// for the contents of the packet: it has one.
var numbered = map[uint32]bool{
	packetTimestamp: true, packetClock: true, 3: true, packetSequence: true, 79: true, packetFlags: true, packetOldCleared: true,
	packetDropped: true, 87: true, packetMachine: true, 88: true,
}

// beside are the messages of a packet that stand beside its contents.
var beside = map[uint32]bool{packetInterned: true, packetDefaults: true, 36: true}

const (
	lastField  = 135   // that the schema has
	mostFields = 10000 // extensions end there
)

// begins reports whether a trace begins with head. All that is there must be packets, with contents that the schema
// allows: profiles of pprof and OpenTelemetry begin with the same byte. A packet with a time or a sequence proves it, and
// damage may follow.
func begins(head []byte) bool {
	all := len(head)
	sure, proved := false, false
	for len(head) > 0 && !proved {
		size, n := protobuf.Uvarint(head[1:])
		if head[0] != tracePacket<<3|protobuf.Bytes || n < 0 {
			return false
		}
		if n == 0 {
			break
		}
		body := head[1+n:]
		whole := size <= uint64(len(body))
		if whole {
			body = body[:size]
		}
		known, numbers, ok := isPacket(body, whole)
		if !ok {
			return false
		}
		proved = whole && numbers
		if sure = sure || known; !whole {
			return sure || all >= profile.HeadBytes && isCut(body)
		}
		head = head[1+n+int(size):]
	}
	return sure
}

// isPacket reports whether bytes may be a packet, whether a field of it is known, and whether a number is among them.
func isPacket(body []byte, whole bool) (known, numbers, ok bool) {
	contents := uint32(0)
	f := protobuf.Read(body)
	for f.Next() {
		switch {
		case f.Number > mostFields:
			return false, false, false
		case f.Number > lastField: // of a newer schema
		case f.Wire != protobuf.Varint && f.Wire != protobuf.Bytes, numbered[f.Number] != (f.Wire == protobuf.Varint):
			return false, false, false
		case f.Wire == protobuf.Varint:
			numbers = true
		case !beside[f.Number]:
			if contents != 0 && contents != f.Number || f.Number == packetFtrace && !isBundle(f.Bytes) {
				return false, false, false
			}
			contents = f.Number
		}
		known = true
	}
	return known, numbers, !f.Bad || !whole
}

// isCut reports whether the first field of a packet is a message that tells, and is cut.
func isCut(body []byte) bool {
	tag, n := protobuf.Uvarint(body)
	if n <= 0 || tag&7 != protobuf.Bytes {
		return false
	}
	number := uint32(tag >> 3)
	if _, k := protobuf.Uvarint(body[n:]); k <= 0 || number == 0 || number > mostFields || numbered[number] {
		return false
	}
	_, k := protobuf.Uvarint(body[n:])
	return number != packetFtrace && number > 2 || number == packetFtrace && len(body) > n+k && isBundle(body[n+k:n+k+1])
}

// isBundle reports whether a message may be events of the kernel: resources of OpenTelemetry stand in the same place.
func isBundle(b []byte) bool {
	tag, n := protobuf.Uvarint(b)
	if n <= 0 {
		return false
	}
	switch tag >> 3 {
	case 1, 3, 5, 6, 7, 9, 10:
		return tag&7 == protobuf.Varint
	}
	return tag&7 == protobuf.Bytes
}
