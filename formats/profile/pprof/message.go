package pprof

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats/internal/protobuf"
)

// The fields of Profile.
const (
	profileType     = 1
	profileSample   = 2
	profileMapping  = 3
	profileLocation = 4
	profileFunction = 5
	profileString   = 6
	profileTime     = 9
	profileDuration = 10
	profileUnit     = 11
	profilePeriod   = 12
	profileComment  = 13
	profileDefault  = 14
	profileLast     = 15
)

// The fields of the messages in it.
const (
	typeName = 1
	typeUnit = 2

	sampleLocation = 1
	sampleValue    = 2
	sampleLabel    = 3

	labelKey    = 1
	labelString = 2
	labelNumber = 3

	mappingID        = 1
	mappingStart     = 2
	mappingLimit     = 3
	mappingOffset    = 4
	mappingFile      = 5
	mappingBuildID   = 6
	mappingFunctions = 7
	mappingFiles     = 8
	mappingLines     = 9
	mappingInlined   = 10

	locationID      = 1
	locationMapping = 2
	locationAddress = 3
	locationLine    = 4
	locationFolded  = 5

	lineFunction = 1
	lineNumber   = 2
	lineColumn   = 3

	functionID     = 1
	functionName   = 2
	functionSystem = 3
	functionFile   = 4
	functionStart  = 5
)

// mapping is a Mapping.
type mapping struct {
	id                   uint64
	start, limit, offset uint64
	file, build          uint64 // strings
}

func parseMapping(b []byte) (m mapping, ok bool) {
	ok = protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case mappingID:
			m.id = f.Value
		case mappingStart:
			m.start = f.Value
		case mappingLimit:
			m.limit = f.Value
		case mappingOffset:
			m.offset = f.Value
		case mappingFile:
			m.file = f.Value
		case mappingBuildID:
			m.build = f.Value
		}
	})
	return m, ok
}

// location is a Location, without its lines.
type location struct {
	id, mapping, address uint64
	lines                int
}

func parseLocation(b []byte) (l location, ok bool) {
	ok = protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case locationID:
			l.id = f.Value
		case locationMapping:
			l.mapping = f.Value
		case locationAddress:
			l.address = f.Value
		case locationLine:
			if f.Bytes != nil {
				l.lines++
			}
		}
	})
	return l, ok
}

// line is a Line.
type line struct {
	function     uint64
	line, column int64
}

func parseLine(b []byte) (l line, ok bool) {
	ok = protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case lineFunction:
			l.function = f.Value
		case lineNumber:
			l.line = int64(f.Value)
		case lineColumn:
			l.column = int64(f.Value)
		}
	})
	return l, ok
}

// appendLine appends a Line to the fields of a Location.
func appendLine(to []byte, l line, unknown []byte) []byte {
	var made [64]byte
	b := appendNumber(made[:0], lineFunction, l.function)
	b = appendNumber(b, lineNumber, uint64(l.line))
	b = appendNumber(b, lineColumn, uint64(l.column))
	to = protobuf.AppendTag(to, locationLine, protobuf.Bytes)
	to = binary.AppendUvarint(to, uint64(len(b)+len(unknown)))
	return append(append(to, b...), unknown...)
}

// function is a Function.
type function struct {
	id           uint64
	name, system uint64 // strings
	file         uint64
}

func parseFunction(b []byte) (made function, ok bool) {
	ok = protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case functionID:
			made.id = f.Value
		case functionName:
			made.name = f.Value
		case functionSystem:
			made.system = f.Value
		case functionFile:
			made.file = f.Value
		}
	})
	return made, ok
}

// appendNumber appends a field that is no zero.
func appendNumber(to []byte, number uint32, v uint64) []byte {
	if v == 0 {
		return to
	}
	return protobuf.AppendNumber(to, number, v)
}

// appendMessage appends a field with a length.
func appendMessage[T string | []byte](to []byte, number uint32, b T) []byte {
	to = protobuf.AppendTag(to, number, protobuf.Bytes)
	to = binary.AppendUvarint(to, uint64(len(b)))
	return append(to, b...)
}
