package pefile

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
	"github.com/symlake/symlake/formats/symbol"
)

// Kinds of entries in the debug directory.
const (
	DebugCodeView = 2
	DebugRepro    = 16
	DebugEmbedded = 17 // a portable PDB, packed
	DebugChecksum = 19 // of a portable PDB
)

const (
	debugBytes   = 28
	maxDebug     = 256 // entries: linkers write some five
	maxCodeView  = 24 + 64<<10
	buildSection = ".buildid"
)

// DebugEntry is an entry of the debug directory.
type DebugEntry struct {
	Timestamp    uint32
	Major, Minor uint16
	Kind         uint32
	Size         uint32
	Addr         uint32 // from the image base; 0: it is not loaded
	Offset       uint32 // in the file
}

// DebugEntries returns the debug directory. An image of MinGW that has lost it has it in .buildid.
func (f *File) DebugEntries() ([]DebugEntry, error) {
	d := f.directories[DirDebug]
	if i := f.find(buildSection); d.Size == 0 && i >= 0 {
		d = Directory{Addr: f.headers[i].Addr, Size: debugBytes}
	}
	n := min(int64(d.Size)/debugBytes, maxDebug)
	b, err := f.At(d.Addr, n*debugBytes)
	if b == nil || err != nil {
		return nil, err
	}
	all := make([]DebugEntry, n)
	for i := range all {
		r := native.Fields{B: b[i*debugBytes:]}
		all[i] = DebugEntry{Timestamp: r.U32(4), Major: r.U16(8), Minor: r.U16(10), Kind: r.U32(12), Size: r.U32(16), Addr: r.U32(20), Offset: r.U32(24)}
	}
	return all, nil
}

// DebugData returns what an entry of the debug directory points at; nil if the file does not hold it.
func (f *File) DebugData(e *DebugEntry) ([]byte, error) {
	if e.Addr != 0 {
		if b, err := f.At(e.Addr, int64(e.Size)); b != nil || err != nil {
			return b, err
		}
		if f.Debug() {
			return nil, nil // its offsets are the image's
		}
	}
	if e.Offset == 0 || uint64(e.Offset)+uint64(e.Size) > uint64(f.In.Size) {
		return nil, nil
	}
	return f.View("debug directory", uint64(e.Offset), int64(e.Size), "bytes of an entry")
}

// CodeView says which PDB belongs to an image.
type CodeView struct {
	GUID  [16]byte // as it is written, the bytes of numbers turned around; zero of NB10
	Stamp uint32   // of NB10: the time stamp of the PDB
	Age   uint32
	Old   bool   // NB10: a PDB of Visual C++ 6 or older
	Path  string // of the PDB where the linker wrote it; "" of MinGW
}

// CodeView returns the first record of the debug directory that names a PDB; nil: there is none.
func (f *File) CodeView() (*CodeView, error) {
	entries, err := f.DebugEntries()
	if err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if e.Kind != DebugCodeView || e.Size > maxCodeView {
			continue
		}
		b, err := f.DebugData(e)
		if err != nil {
			return nil, err
		}
		if c := ParseCodeView(b); c != nil && (c.Old || c.GUID != [16]byte{}) {
			return c, nil
		}
	}
	return nil, nil
}

// ParseCodeView reads a record RSDS or NB10, of an image or of a minidump's module; nil: it is neither.
func ParseCodeView(b []byte) *CodeView {
	r := native.Fields{B: b}
	switch {
	case len(b) >= 24 && string(b[:4]) == "RSDS":
		return &CodeView{GUID: GUID(b[4:20]), Age: r.U32(20), Path: strings.ToValidUTF8(cstring(b[24:]), "\uFFFD")}
	case len(b) >= 16 && string(b[:4]) == "NB10":
		return &CodeView{Old: true, Stamp: r.U32(8), Age: r.U32(12), Path: strings.ToValidUTF8(cstring(b[16:]), "\uFFFD")}
	}
	return nil
}

// GUID returns 16 bytes as they are written: Windows stores the first three fields as little-endian numbers.
func GUID(b []byte) (id [16]byte) {
	copy(id[:], b)
	id[0], id[1], id[2], id[3] = id[3], id[2], id[1], id[0]
	id[4], id[5] = id[5], id[4]
	id[6], id[7] = id[7], id[6]
	return id
}

// DebugLink returns the name and the CRC-32 of a debug file as .gnu_debuglink gives them; "": it gives none.
func (f *File) DebugLink() (name string, crc uint32, err error) {
	const section = ".gnu_debuglink"
	i := f.find(section)
	if i < 0 || f.headers[i].Stored > 64<<10 {
		return "", 0, nil
	}
	b, err := f.View(section, uint64(f.headers[i].Offset), int64(f.headers[i].Stored), "a link")
	if err != nil {
		return "", 0, err
	}
	n := bytes.IndexByte(b, 0)
	at := (n + 4) &^ 3
	if n <= 0 || at+4 > len(b) {
		return "", 0, nil
	}
	return string(b[:n]), f.Order.Uint32(b[at:]), nil
}

// Names gives an artifact the names that the headers of its image hold, and the canonical id if they hold it.
func (f *File) Names(id *native.Identity) error {
	c, err := f.CodeView()
	if err != nil {
		return err
	}
	switch {
	case c == nil:
	case c.Old:
		id.AddPDB20(c.Stamp, c.Age)
	default:
		id.AddPDB(c.GUID, strconv.FormatUint(uint64(c.Age), 16))
	}
	if c != nil && f.Has(buildSection) {
		raw := GUID(c.GUID[:])
		id.Add(symbol.NameBuildID, hex.EncodeToString(raw[:]))
	}
	if f.timestamp != 0 { // MinGW's linkers write none
		id.Add(symbol.NameCodeID, f.CodeID())
	}
	if c != nil {
		id.Add(symbol.NameFile, formats.Base(c.Path))
	}
	return nil
}
