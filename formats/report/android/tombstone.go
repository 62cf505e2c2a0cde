package android

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// tombstoneBegins: a message of debuggerd begins with its architecture or, as
// that is left out where it is 0, with the build's fingerprint. Both tags are
// control characters that no text begins with.
func tombstoneBegins(head []byte) bool { return head[0] == 0x08 || head[0] == 0x12 }

// pbTombstone is the part that is shown of Tombstone in Android's
// system/core/debuggerd/proto/tombstone.proto.
type pbTombstone struct {
	arch                             uint64
	fingerprint, revision, timestamp string
	pid, tid, uid, uptime            uint64
	command                          []string
	signal                           pbSignal
	signaled                         bool
	abort                            string
	causes                           []pbCause
	threads, guests                  []pbThread
	maps                             []pbMap
	logs                             []pbLog
}

type pbSignal struct {
	number, code         uint64
	name, codeName       string
	hasAddress           bool
	address              uint64
	hasSender            bool
	senderPID, senderUID uint64
}

type pbCause struct {
	text                   string
	allocTID, freeTID      uint64
	allocated, deallocated []pbFrame
}

type pbThread struct {
	id        uint64
	name      string
	registers []pbRegister
	notes     []string
	frames    []pbFrame
}

type pbRegister struct {
	name  string
	value uint64
}

type pbFrame struct {
	relPC, offset, mapOffset  uint64
	FunctionName, file, build string
}

type pbMap struct {
	begin, end, offset, bias uint64
	read, write, execute     bool
	name, build              string
}

type pbLog struct {
	name  string
	lines []string
}

// maxElements bounds the parts of a message that are kept: threads, frames, mappings.
const maxElements = 1 << 17

// pbReader reads a message of the wire format. After a fault bad is set.
type pbReader struct {
	left int // elements that may still be kept
	bad  bool
	o    *report.Options
}

// elements are kept under one request for room, elementBytes each.
const (
	roomElements = 1 << 10
	elementBytes = 192
)

// message visits the fields of a message.
func (r *pbReader) message(b []byte, visit func(number protowire.Number, v pbValue)) {
	for len(b) > 0 && !r.bad {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			r.bad = true
			return
		}
		b = b[n:]
		var v pbValue
		switch kind {
		case protowire.VarintType:
			v.number, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			v.bytes, n = protowire.ConsumeBytes(b)
			v.isBytes = true
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			r.bad = true
			return
		}
		b = b[n:]
		visit(number, v)
	}
}

// keep reports whether one more element may be kept.
func (r *pbReader) keep() bool {
	if r.left--; r.left < 0 || r.left%roomElements == 0 && !r.o.Takes(roomElements*elementBytes) {
		r.bad = true
	}
	return !r.bad
}

type pbValue struct {
	number  uint64
	bytes   []byte
	isBytes bool
}

// text is a string on one line.
func (v pbValue) text() string { return scan.OneLine(strings.ToValidUTF8(string(v.bytes), "\ufffd")) }

// tombstoneText renders a message as debuggerd does, without dumps of memory
// and tags; false if b is none, or its text would be longer than a document may be.
func tombstoneText(b []byte, o report.Options) ([]byte, bool) {
	r := &pbReader{left: maxElements, o: &o}
	t := readTombstone(r, b)
	if r.bad || len(t.threads) == 0 || t.pid == 0 && t.tid == 0 {
		return nil, false
	}
	return t.render(&o)
}

func readTombstone(r *pbReader, b []byte) *pbTombstone {
	t := &pbTombstone{}
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			t.arch = v.number
		case 2:
			t.fingerprint = v.text()
			r.bad = r.bad || !utf8.Valid(v.bytes)
		case 3:
			t.revision = v.text()
		case 4:
			t.timestamp = v.text()
		case 5:
			t.pid = v.number
		case 6:
			t.tid = v.number
		case 7:
			t.uid = v.number
		case 20:
			t.uptime = v.number
		case 9:
			if r.keep() {
				t.command = append(t.command, v.text())
			}
		case 10:
			t.signal, t.signaled = readSignal(r, v.bytes), true
		case 14:
			t.abort = v.text()
		case 15:
			if r.keep() {
				t.causes = append(t.causes, readCause(r, v.bytes))
			}
		case 16, 25:
			if !r.keep() {
				return
			}
			thread := readThread(r, v.bytes)
			if n == 16 {
				t.threads = append(t.threads, thread)
			} else {
				t.guests = append(t.guests, thread)
			}
		case 17:
			if r.keep() {
				t.maps = append(t.maps, readMap(r, v.bytes))
			}
		case 18:
			if r.keep() {
				t.logs = append(t.logs, readLog(r, v.bytes))
			}
		}
	})
	byID := func(a, b pbThread) int { return cmp.Compare(a.id, b.id) }
	slices.SortStableFunc(t.threads, byID)
	slices.SortStableFunc(t.guests, byID)
	return t
}

func readSignal(r *pbReader, b []byte) (s pbSignal) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			s.number = v.number
		case 2:
			s.name = v.text()
		case 3:
			s.code = v.number
		case 4:
			s.codeName = v.text()
		case 5:
			s.hasSender = v.number != 0
		case 6:
			s.senderUID = v.number
		case 7:
			s.senderPID = v.number
		case 8:
			s.hasAddress = v.number != 0
		case 9:
			s.address = v.number
		}
	})
	return s
}

func readCause(r *pbReader, b []byte) (c pbCause) {
	r.message(b, func(n protowire.Number, v pbValue) {
		if n == 1 {
			c.text = v.text()
		}
		if n != 2 {
			return
		}
		r.message(v.bytes, func(n protowire.Number, v pbValue) { // MemoryError
			if n != 3 {
				return
			}
			r.message(v.bytes, func(n protowire.Number, v pbValue) { // HeapObject
				switch n {
				case 3:
					c.allocTID = v.number
				case 4:
					c.allocated = r.frame(c.allocated, v.bytes)
				case 5:
					c.freeTID = v.number
				case 6:
					c.deallocated = r.frame(c.deallocated, v.bytes)
				}
			})
		})
	})
	return c
}

// readThread reads an entry of the map of threads.
func readThread(r *pbReader, b []byte) (t pbThread) {
	r.message(b, func(n protowire.Number, v pbValue) {
		if n == 1 && t.id == 0 {
			t.id = v.number
		}
		if n != 2 {
			return
		}
		r.message(v.bytes, func(n protowire.Number, v pbValue) {
			switch n {
			case 1:
				t.id = v.number
			case 2:
				t.name = v.text()
			case 3:
				if r.keep() {
					t.registers = append(t.registers, readRegister(r, v.bytes))
				}
			case 4:
				t.frames = r.frame(t.frames, v.bytes)
			case 7:
				if r.keep() {
					t.notes = append(t.notes, v.text())
				}
			}
		})
	})
	return t
}

func readRegister(r *pbReader, b []byte) (x pbRegister) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			x.name = v.text()
		case 2:
			x.value = v.number
		}
	})
	return x
}

// frame appends a frame.
func (r *pbReader) frame(to []pbFrame, b []byte) []pbFrame {
	if !r.keep() {
		return to
	}
	var f pbFrame
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			f.relPC = v.number
		case 4:
			f.FunctionName = v.text()
		case 5:
			f.offset = v.number
		case 6:
			f.file = v.text()
		case 7:
			f.mapOffset = v.number
		case 8:
			f.build = v.text()
		}
	})
	return append(to, f)
}

func readMap(r *pbReader, b []byte) (m pbMap) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			m.begin = v.number
		case 2:
			m.end = v.number
		case 3:
			m.offset = v.number
		case 4:
			m.read = v.number != 0
		case 5:
			m.write = v.number != 0
		case 6:
			m.execute = v.number != 0
		case 7:
			m.name = v.text()
		case 8:
			m.build = v.text()
		case 9:
			m.bias = v.number
		}
	})
	return m
}

func readLog(r *pbReader, b []byte) (l pbLog) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			l.name = v.text()
		case 2:
			if !r.keep() {
				return
			}
			var at, tag, text string
			var pid, tid, priority uint64
			r.message(v.bytes, func(n protowire.Number, v pbValue) {
				switch n {
				case 1:
					at = v.text()
				case 2:
					pid = v.number
				case 3:
					tid = v.number
				case 4:
					priority = v.number
				case 5:
					tag = v.text()
				case 6:
					text = v.text()
				}
			})
			const priorities = "!.VDIWEFS"
			level := byte('?')
			if priority < uint64(len(priorities)) {
				level = priorities[priority]
			}
			l.lines = append(l.lines, fmt.Sprintf("%s %5d %5d %c %-8s: %s", at, pid, tid, level, tag, text))
		}
	})
	return l
}
