package simpleperf

import (
	"github.com/symlake/symlake/formats/internal/protobuf"
)

// The fields of Record.
const (
	recordSample = 1
	recordLost   = 2
	recordFile   = 3
	recordThread = 4
	recordMeta   = 5
)

// The fields of the messages in a Record that are read.
const (
	sampleTime   = 1
	sampleThread = 2
	sampleChain  = 3
	sampleCount  = 4
	sampleEvent  = 5

	entryAddress = 1
	entryFile    = 2
	entrySymbol  = 3
	entryType    = 4

	lostCount = 2

	fileID      = 1
	filePath    = 2
	fileSymbol  = 3
	fileMangled = 4

	threadID      = 1
	threadProcess = 2
	threadName    = 3

	metaEvent = 1
	metaApp   = 2
)

// entry is an entry of a call chain.
type entry struct {
	address uint64
	file    uint32
	symbol  int32 // of the file; none: it has no name
	kind    uint32
}

// none is the number of no symbol.
const none = -1

// parseEntry reads an entry of a call chain.
func parseEntry(b []byte) (e entry, ok bool) {
	e.symbol = none
	ok = protobuf.Each(b, func(f *protobuf.Fields) {
		switch f.Number {
		case entryAddress:
			e.address = f.Value
		case entryFile:
			e.file = uint32(f.Value)
		case entrySymbol:
			e.symbol = max(int32(f.Value), none)
		case entryType:
			e.kind = uint32(f.Value)
		}
	})
	return e, ok
}

// isNative reports whether an entry is code of a library, as far as the profile says it.
func (e *entry) isNative() bool { return e.kind == 0 || e.kind == 3 }
