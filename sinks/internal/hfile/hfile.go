// Package hfile writes and reads HFile v3, the file in which HBase keeps a
// column family: what the embedded store serves is, row for row, what HBase
// bulk-loads and HBase's own tools read.
//
// A file, in the order it is written; integers are big-endian:
//
//	data block …      "DATABLK*": cells, cut once BlockBytes are reached
//	leaf index block  "IDXLEAF2": follows the data block that filled it; none in a small file
//	Bloom chunk       "BLMFBLK2": bits for consecutive keys; follows the data block that filled it, or the last one
//	…
//	intermediate …    "IDXINTE2": only when the root would be too large
//	root index        "IDXROOT2": the trailer's load_on_open_data_offset
//	meta index        "IDXROOT2": empty
//	file info         "FILEINF2": sorted names and values
//	Bloom filter      "BLMFMET2": sizes, hash and the index of its chunks; only in a file with a filter
//	trailer           4096 bytes, "TRABLK\"$", where all of it is
//
// A cell is written as family b, qualifier v, type Put, one a row:
//
//	u32 14+len(row) | u32 len(value) | u16 len(row) | row | 01 "b" | "v" | u64 timestamp | 04 | value | 00 (mvcc)
//
// Each block but the trailer carries a 33-byte header and a CRC32C for every
// 16 KiB of header and payload.
//
// Invariants: rows strictly ascend, asserted with both keys; a writer that
// failed stays failed; nothing reads a clock; a reader checks every length
// against the block and the file, and every checksum, before it believes it.
// What HBase could write and we do not read (compression, encodings, tags,
// delete markers, several cells a row) is refused by name.
//
// A Bloom filter is HBase's compound one: chunks of 128 KiB, filled up to the error rate and then folded
// to half as often as the keys fit. HBase's region servers ask it; readers here pass over it.
//
// Naming, syncing and publishing files is left to the caller.
package hfile

import (
	"errors"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// ErrUnsupported says that an HFile is whole and has a part that this package does not read.
var ErrUnsupported = errors.New("unsupported HFile")

// Error names the damage of a file and its place. Err is sinks.ErrCorrupt, ErrUnsupported or the error of reading.
type Error struct {
	Section string // "trailer", "data block", …
	Offset  int64  // of the section in the file
	Want    string
	Err     error
}

func (e *Error) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("hfile: %s at %#x: %v", e.Section, e.Offset, e.Err)
	}
	return fmt.Sprintf("hfile: %s at %#x: %v: want %s", e.Section, e.Offset, e.Err, e.Want)
}

func (e *Error) Unwrap() error { return e.Err }

func corrupt(section string, off int64, format string, args ...any) error {
	return &Error{section, off, fmt.Sprintf(format, args...), sinks.ErrCorrupt}
}

func unsupported(section string, off int64, format string, args ...any) error {
	return &Error{section, off, fmt.Sprintf(format, args...), ErrUnsupported}
}

// The one column of a row, and what follows the row in a cell's key: durable.
const (
	family    = "b"
	qualifier = "v"
	typePut   = 4
	// keyTail is family length, family, qualifier, timestamp, type.
	keyTail = 1 + len(family) + len(qualifier) + 8 + 1
	// cellTail is what a cell has beyond its key and value: two lengths and the mvcc byte.
	cellTail = 4 + 4 + 1
	maxRow   = 1<<15 - 1
	// maxBlock is what the signed 32-bit sizes of a block leave for its payload.
	maxBlock = 1<<31 - 1 - 1<<24
)

// Cell is a row with its one value.
type Cell struct {
	Row, Value []byte
	Timestamp  uint64
}
