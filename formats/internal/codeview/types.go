package codeview

import (
	"sort"

	"github.com/symlake/symlake/formats/internal/msf"
)

// The kinds of records that names are made of.
const (
	leafClass     = 0x1504
	leafStructure = 0x1505
	leafUnion     = 0x1506
	leafEnum      = 0x1507
	leafInterface = 0x1519
	leafFuncID    = 0x1601
	leafMethodID  = 0x1602
	leafStringID  = 0x1605

	typesHead  = 56 // bytes of the header of a stream
	chunkBytes = 8 << 10
	maxRecord  = 64<<10 + 2
)

// Types is a stream of types or ids. It is safe for concurrent use.
type Types struct {
	s          *msf.Stream
	first, end uint32
	chunks     []chunk // ascending; the first begins with the first record
	bytes      int64   // up to the end of the last record
}

// chunk says where a record stands.
type chunk struct{ index, off uint32 }

// OpenTypes reads the header of a stream, and finds its records: hash is the stream that the header names, by which they
// are found without reading all of them.
func OpenTypes(s *msf.Stream, hash func(n int) (msf.Stream, error)) (*Types, error) {
	t := &Types{s: s}
	head, err := s.At(0, min(s.Size, typesHead), nil)
	if err != nil || len(head) < typesHead {
		return t, err
	}
	size := int64(u32(head[16:]))
	t.first, t.end = u32(head[8:]), u32(head[12:])
	if int64(u32(head[4:])) != typesHead || size > s.Size-typesHead || t.end < t.first || int64(t.end-t.first) > size/4 {
		return nil, s.Corrupt(0, "a header that its stream agrees with")
	}
	t.bytes = typesHead + size
	if number := u16(head[20:]); number != 0xffff {
		if h, err := hash(int(number)); err == nil {
			t.readChunks(&h, int64(u32(head[40:])), int64(u32(head[44:])))
		}
	}
	if len(t.chunks) == 0 {
		err = t.scan()
	}
	return t, err
}

// readChunks reads the table of the hash stream that says where every some records stand.
func (t *Types) readChunks(h *msf.Stream, off, size int64) {
	b, err := h.At(off, size, nil)
	if err != nil {
		return
	}
	for ; len(b) >= 8; b = b[8:] {
		c := chunk{u32(b), typesHead + u32(b[4:])}
		if n := len(t.chunks); int64(c.off) >= t.bytes || n == 0 && (c.index != t.first || c.off != typesHead) || n > 0 && (c.index <= t.chunks[n-1].index || c.off <= t.chunks[n-1].off) {
			t.chunks = nil
			return
		}
		t.chunks = append(t.chunks, c)
	}
	for i, c := range t.chunks {
		end := t.bytes
		if i+1 < len(t.chunks) {
			end = int64(t.chunks[i+1].off)
		}
		if end-int64(c.off) > 2*maxRecord { // a search would take long
			t.chunks = nil
			return
		}
	}
}

// scan finds the records by reading all of them.
func (t *Types) scan() error {
	var room []byte
	index, last := t.first, int64(0)
	for off := int64(typesHead); off < t.bytes; {
		b, err := t.s.At(off, min(maxRecord, t.bytes-off), &room)
		if err != nil {
			return err
		}
		for len(b) >= 2 && int(u16(b))+2 <= len(b) {
			if last == 0 || off-last >= chunkBytes {
				t.chunks, last = append(t.chunks, chunk{index, uint32(off)}), off
			}
			n := int64(u16(b)) + 2
			b, off, index = b[n:], off+n, index+1
		}
		if int64(len(b)) == t.bytes-off { // a cut record
			break
		}
	}
	return nil
}

// Len returns the number of records, and First the index of the first one.
func (t *Types) Len() int { return int(t.end - t.first) }

// First returns the index of the first record.
func (t *Types) First() uint32 { return t.first }

// find returns a record: its kind and body. kind is 0 if there is none.
func (t *Types) find(index uint32, room *[]byte) (kind uint16, body []byte, err error) {
	if index < t.first || index >= t.end {
		return 0, nil, nil
	}
	i := sort.Search(len(t.chunks), func(i int) bool { return t.chunks[i].index > index }) - 1
	if i < 0 {
		return 0, nil, nil
	}
	end := t.bytes
	if i+1 < len(t.chunks) {
		end = int64(t.chunks[i+1].off)
	}
	at := int64(t.chunks[i].off)
	b, err := t.s.At(at, end-at, room)
	if err != nil {
		return 0, nil, err
	}
	for k := t.chunks[i].index; len(b) >= 4; k++ {
		n := int(u16(b)) + 2
		if n < 4 || n > len(b) {
			break
		}
		if k == index {
			return u16(b[2:]), b[4:n], nil
		}
		b = b[n:]
	}
	return 0, nil, nil
}

// ClassName returns the name of a class, structure, union, interface or enumeration; "" of other types. Views of the stream stand
// in room.
func (t *Types) ClassName(index uint32, room *[]byte) (string, error) {
	kind, b, err := t.find(index, room)
	if err != nil {
		return "", err
	}
	switch kind {
	case leafClass, leafStructure, leafInterface:
		return afterSize(b, 16), nil
	case leafUnion:
		return afterSize(b, 8), nil
	case leafEnum:
		if len(b) >= 12 {
			return string(name(b[12:], false)), nil
		}
	}
	return "", nil
}

// afterSize returns the name behind the size of a type, which begins at off.
func afterSize(b []byte, off int) string {
	if len(b) < off+2 {
		return ""
	}
	skip := 2
	if v := u16(b[off:]); v >= 0x8000 { // the size does not fit
		switch v {
		case 0x8000: // one byte
			skip += 1
		case 0x8001, 0x8002:
			skip += 2
		case 0x8003, 0x8004:
			skip += 4
		case 0x8009, 0x800a:
			skip += 8
		}
	}
	if len(b) < off+skip {
		return ""
	}
	return string(name(b[off+skip:], false))
}

// FunctionName returns the qualified name of the function with that id: the namespace or class, "::", and its name. ids
// is the id stream, types the type stream, which may be nil.
func FunctionName(ids, types *Types, id uint32, room *[]byte) (string, error) {
	kind, b, err := ids.find(id, room)
	if err != nil || len(b) < 8 || kind != leafFuncID && kind != leafMethodID {
		return "", err
	}
	scope, text := u32(b), string(name(b[8:], false))
	var around string
	switch {
	case scope == 0:
		return text, nil
	case kind == leafMethodID && types != nil:
		around, err = types.ClassName(scope, room)
	case kind == leafFuncID:
		around, err = ids.stringID(scope, room)
	}
	if err != nil || around == "" {
		return text, err
	}
	return around + "::" + text, nil
}

// stringID returns the text of a record of the id stream.
func (t *Types) stringID(index uint32, room *[]byte) (string, error) {
	kind, b, err := t.find(index, room)
	if err != nil || kind != leafStringID || len(b) < 4 {
		return "", err
	}
	return string(name(b[4:], false)), nil
}
