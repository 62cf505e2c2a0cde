package row

import (
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Kind is the sort of a row, the byte of its key after the load. Durable.
type Kind uint8

// The kinds of rows. A load's dictionary sorts before the rows that refer to it.
const (
	Dictionary Kind = 0 // the load's shared strings; at most one row, at position 0
	Ranges     Kind = 1 // a block of ranges
	Classes    Kind = 2 // a block of classes of a mapping
	Texts      Kind = 3 // lines of a source file, or which files there are
	Unwinds    Kind = 4 // a block of call frame information, or the table of its rules
)

const (
	prefixBytes = sinks.PrefixBytes
	// KeyBytes is the length of a row key.
	KeyBytes = prefixBytes + 1 + 8
)

// NewLoad names an attempt that begins now.
func NewLoad(now time.Time) sinks.Load {
	var l sinks.Load
	binary.BigEndian.PutUint64(l[:], uint64(now.UnixMilli())<<16)
	rand.Read(l[6:]) // never fails: it stops the process instead
	return l
}

// loadTime is when a load began, in whole milliseconds.
func loadTime(l sinks.Load) time.Time {
	return time.UnixMilli(int64(binary.BigEndian.Uint64(l[:]) >> 16))
}

// LoadPrefix is what every row key of a load begins with: 24 bytes, the
// caller's own.
func LoadPrefix(id symbol.ID, l sinks.Load) []byte {
	return append(append(make([]byte, 0, KeyBytes), id[:]...), l[:]...)
}

// rowKey is the only place where a row key is made. last is inclusive.
func rowKey(id symbol.ID, l sinks.Load, k Kind, last uint64) []byte {
	return binary.BigEndian.AppendUint64(append(LoadPrefix(id, l), byte(k)), last)
}

// The first byte of a catalog key says what the record is. Durable.
const (
	RecordArtifact   byte = 'a'
	RecordStoreKey   byte = 'k'
	RecordName       byte = 'n'
	RecordWaiter     byte = 'w'
	RecordObject     byte = 'o'
	RecordEvent      byte = 't'
	RecordHead       byte = 'h'
	RecordWorker     byte = 'l'
	RecordDemand     byte = 'd'
	RecordSource     byte = 's'
	RecordAccount    byte = 'r'
	RecordConflict   byte = 'c'
	RecordObligation byte = 'p'
)

// TagBytes is how much of an HMAC stands in a catalog key.
const TagBytes = 16

func keysKey(version uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{RecordStoreKey}, version)
}
