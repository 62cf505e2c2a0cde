// Package ecma335 reads the metadata of .NET: of assemblies, and of portable PDB files, which have the same form.
//
// Invariants:
//   - tables and heaps lie inside the bytes; what a row refers to is checked when it is asked for;
//   - a reference that leads nowhere reads as nothing: "" or no bytes.
package ecma335

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

// Metadata is the metadata of one file. It is safe for concurrent use.
type Metadata struct {
	format                string
	strings, guids, blobs []byte
	tables                [tables]table
	counts                [tables]uint32 // of rows, of the assembly too where the file is its PDB
	PDBID                 []byte         // of a portable PDB: 16 bytes of its GUID, 4 of its stamp; nil: it is none
	limit                 int64          // bytes of a name
}

// table is the rows of one table.
type table struct {
	rows    []byte
	size    int
	columns []column
}

// Magic begins metadata.
const Magic = "BSJB"

// Open reads the headers of metadata. format stands in errors.
func Open(b []byte, format string, limits *formats.Limits) (*Metadata, error) {
	m := &Metadata{format: format, limit: limits.NameBytes}
	if len(b) < 20 || string(b[:4]) != Magic {
		return nil, m.corrupt("metadata", 0, "the signature BSJB")
	}
	version := binary.LittleEndian.Uint32(b[12:])
	if version > maxVersionLength || int(version)+20 > len(b) {
		return nil, m.corrupt("metadata", 12, "a version of some letters")
	}
	at := 16 + int(version)
	n := int(binary.LittleEndian.Uint16(b[at+2:]))
	if n > maxStreams {
		return nil, m.corrupt("metadata", at+2, fmt.Sprintf("at most %d streams, not %d", maxStreams, n))
	}
	at += 4
	var rows, pdb []byte
	for range n {
		if len(b)-at < 9 {
			return nil, m.corrupt("metadata", at, "a header of a stream")
		}
		off, size := binary.LittleEndian.Uint32(b[at:]), binary.LittleEndian.Uint32(b[at+4:])
		end := bytes.IndexByte(b[at+8:min(len(b), at+8+32)], 0)
		if end < 0 || uint64(off)+uint64(size) > uint64(len(b)) {
			return nil, m.corrupt("metadata", at, "a stream inside the metadata")
		}
		s := b[off : off+size : off+size]
		switch string(b[at+8 : at+8+end]) {
		case streamTables, streamLoose:
			rows = s
		case streamStrings:
			m.strings = s
		case streamGUID:
			m.guids = s
		case streamBlob:
			m.blobs = s
		case streamPDB:
			pdb = s
		}
		at += 8 + (end+4)&^3
	}
	if pdb != nil {
		if err := m.readPDB(pdb); err != nil {
			return nil, err
		}
	}
	return m, m.readTables(rows)
}

func (m *Metadata) corrupt(section string, at int, want string) error {
	return &formats.Error{Format: m.format, Section: section, Offset: int64(at), Want: want, Err: formats.ErrCorrupt}
}

// readPDB reads the stream that tells a portable PDB, with the numbers of rows of its assembly.
func (m *Metadata) readPDB(b []byte) error {
	if len(b) < 32 {
		return m.corrupt(streamPDB, 0, "an id and the tables of the assembly")
	}
	m.PDBID = b[:20]
	return m.readCounts(b, 32, binary.LittleEndian.Uint64(b[24:]), streamPDB, new(int))
}

// readCounts reads the number of rows of each table in mask, from at on, and returns in end where they end.
func (m *Metadata) readCounts(b []byte, at int, mask uint64, section string, end *int) error {
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask)
		if len(b)-at < 4 {
			return m.corrupt(section, at, "the number of rows of a table")
		}
		n := binary.LittleEndian.Uint32(b[at:])
		if i >= tables || n > maxRows {
			return m.corrupt(section, at, fmt.Sprintf("at most %d rows of a table below %#x", maxRows, tables))
		}
		m.counts[i] = n
		at += 4
	}
	*end = at
	return nil
}

func (m *Metadata) readTables(b []byte) error {
	if len(b) < 24 {
		return m.corrupt(streamTables, 0, "a header of tables")
	}
	heaps, mask := b[6], binary.LittleEndian.Uint64(b[8:])
	at := 24
	if err := m.readCounts(b, at, mask, streamTables, &at); err != nil {
		return err
	}
	if heaps&heapExtra != 0 {
		at += 4
	}
	for i := range tables {
		if mask>>i&1 == 0 {
			continue
		}
		t := &m.tables[i]
		t.columns, t.size = m.layout(columns[i], heaps)
		n := int64(m.counts[i]) * int64(t.size)
		if t.size == 0 || n > int64(len(b)-at) {
			return m.corrupt(streamTables, at, fmt.Sprintf("%d rows of table %#x", m.counts[i], i))
		}
		t.rows = b[at : at+int(n)]
		at += int(n)
	}
	return nil
}

// layout returns where the columns of a table lie.
func (m *Metadata) layout(form string, heaps byte) (all []column, size int) {
	for form != "" {
		c := column{at: size, kind: form[0], size: 2}
		form = form[1:]
		switch c.kind {
		case '4':
			c.size = 4
		case 's', 'g', 'b':
			if heaps&[...]byte{'s': heapStrings, 'g': heapGUID, 'b': heapBlob}[c.kind] != 0 {
				c.size = 4
			}
		case 't':
			i, _ := strconv.ParseUint(form[:2], 16, 8)
			form = form[2:]
			if m.counts[i] > 0xffff {
				c.size = 4
			}
		default:
			code := codes[c.kind]
			for _, i := range code.tables {
				if i != noTable && m.counts[i] >= 1<<(16-code.bits) {
					c.size = 4
				}
			}
		}
		all, size = append(all, c), size+c.size
	}
	return all, size
}

// Rows returns how many rows a table has in this file.
func (m *Metadata) Rows(table int) int {
	if t := &m.tables[table]; t.size > 0 {
		return len(t.rows) / t.size
	}
	return 0
}

// Cell returns a number of a table; rows count from 1, columns from 0. It is 0 where there is none.
func (m *Metadata) Cell(table, row, col int) uint32 {
	t := &m.tables[table]
	if row < 1 || row > m.Rows(table) {
		return 0
	}
	c := t.columns[col]
	b := t.rows[(row-1)*t.size+c.at:]
	if c.size == 4 {
		return binary.LittleEndian.Uint32(b)
	}
	return uint32(binary.LittleEndian.Uint16(b))
}

// Coded returns what a coded index refers to; the table is -1 if it refers to nothing.
func (m *Metadata) Coded(table, row, col int) (of, at int) {
	if m.Rows(table) == 0 {
		return -1, 0
	}
	return decode(m.tables[table].columns[col].kind, m.Cell(table, row, col))
}

func decode(kind byte, v uint32) (of, at int) {
	code := codes[kind]
	i := v & (1<<code.bits - 1)
	if int(i) >= len(code.tables) || code.tables[i] == noTable {
		return -1, 0
	}
	return int(code.tables[i]), int(v >> code.bits)
}

// Text returns a string of a table.
func (m *Metadata) Text(table, row, col int) string {
	off := m.Cell(table, row, col)
	if uint64(off) >= uint64(len(m.strings)) {
		return ""
	}
	b := m.strings[off:]
	const most = 4 << 10 // compilers stop at 1,023 characters; strings may share their bytes
	b = b[:min(len(b), most)]
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		end = len(b)
	}
	return strings.ToValidUTF8(string(b[:end]), "\uFFFD")
}

// is reports whether a string of a table is text.
func (m *Metadata) is(table, row, col int, text string) bool {
	off := uint64(m.Cell(table, row, col))
	end := off + uint64(len(text))
	return end < uint64(len(m.strings)) && string(m.strings[off:end]) == text && m.strings[end] == 0
}

// Work returns how many bytes of blobs a reader of the file may read in all: sound files share few of them.
func (m *Metadata) Work() int { return 1<<20 + 64*len(m.blobs) }

// GUID returns 16 bytes of a table as they are stored; nil: there are none.
func (m *Metadata) GUID(table, row, col int) []byte {
	n := uint64(m.Cell(table, row, col))
	if n == 0 || n*16 > uint64(len(m.guids)) {
		return nil
	}
	return m.guids[(n-1)*16 : n*16]
}

// Blob returns bytes of a table; nil: there are none.
func (m *Metadata) Blob(table, row, col int) []byte { return m.BlobAt(m.Cell(table, row, col)) }

// BlobAt returns the bytes at an offset of the heap; nil: there are none.
func (m *Metadata) BlobAt(off uint32) []byte {
	if off == 0 || uint64(off) >= uint64(len(m.blobs)) {
		return nil
	}
	r := Blob{m.blobs[off:], true}
	n := r.Unsigned()
	if !r.OK || uint64(n) > uint64(len(r.B)) {
		return nil
	}
	return r.B[:n:n]
}

// Blob reads the compressed numbers of a blob. Behind the end, and after an error, numbers are 0.
type Blob struct {
	B  []byte
	OK bool // no number was cut off or malformed
}

// Unsigned reads an unsigned number of 1, 2 or 4 bytes.
func (r *Blob) Unsigned() uint32 {
	v, _ := r.number()
	return v
}

func (r *Blob) number() (v uint32, bits uint) {
	switch b := r.B; {
	case len(b) >= 1 && b[0]&0x80 == 0:
		r.B = b[1:]
		return uint32(b[0]), 7
	case len(b) >= 2 && b[0]&0xc0 == 0x80:
		r.B = b[2:]
		return uint32(b[0]&0x3f)<<8 | uint32(b[1]), 14
	case len(b) >= 4 && b[0]&0xe0 == 0xc0:
		r.B = b[4:]
		return binary.BigEndian.Uint32(b) & 0x1fffffff, 29
	}
	r.B, r.OK = nil, false
	return 0, 7
}

// Signed reads a signed number. Its lowest bit is the sign.
func (r *Blob) Signed() int32 {
	v, bits := r.number()
	if v&1 == 0 {
		return int32(v >> 1)
	}
	return int32(v>>1) - 1<<(bits-1)
}

// Byte reads one byte.
func (r *Blob) Byte() byte {
	if len(r.B) == 0 {
		r.OK = false
		return 0
	}
	b := r.B[0]
	r.B = r.B[1:]
	return b
}
