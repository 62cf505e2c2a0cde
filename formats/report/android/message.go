package android

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

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
	f := protobuf.Read(b)
	for !r.bad && f.Next() {
		v := pbValue{bytes: f.Bytes, isBytes: f.Wire == protobuf.Bytes}
		if f.Wire == protobuf.Varint {
			v.number = f.Value
		}
		visit(protowire.Number(f.Number), v)
	}
	r.bad = r.bad || f.Bad
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
