package arrowmeta

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// ErrMessage says that a message of Arrow contradicts itself. It is the input's fault.
var ErrMessage = errors.New("no whole Arrow message")

// buffer is a flatbuffer that is read with checks. bad notes that a position lay outside: its value counts as absent.
type buffer struct {
	b    []byte
	bad  bool
	paid int // bytes of lists that were read: tables may share lists, but not without end
}

// sharing is how many times the message's length its lists may have together.
const sharing = 16

// pay counts the bytes of a list.
func (f *buffer) pay(n int) bool {
	if f.paid += n; f.paid > sharing*len(f.b) {
		f.bad = true
	}
	return !f.bad
}

// has reports whether n bytes lie at a position.
func (f *buffer) has(at, n int) bool {
	if at < 0 || n < 0 || at > len(f.b)-n {
		f.bad = true
		return false
	}
	return true
}

func (f *buffer) u16(at int) uint16 {
	if !f.has(at, 2) {
		return 0
	}
	return binary.LittleEndian.Uint16(f.b[at:])
}

func (f *buffer) u32(at int) uint32 {
	if !f.has(at, 4) {
		return 0
	}
	return binary.LittleEndian.Uint32(f.b[at:])
}

func (f *buffer) i64(at int) int64 {
	if !f.has(at, 8) {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:]))
}

// follow returns where the offset at a position leads; 0: nowhere.
func (f *buffer) follow(at int) int {
	n := f.u32(at)
	if n == 0 || uint64(n) > uint64(len(f.b)) || !f.has(at+int(n), 4) {
		f.bad = true
		return 0
	}
	return at + int(n)
}

// root returns the table that the buffer begins with.
func (f *buffer) root() table { return f.table(f.follow(0)) }

// table is a table of a flatbuffer; at 0: there is none.
type table struct {
	f      *buffer
	at     int
	vtable int
	slots  int
}

func (f *buffer) table(at int) table {
	t := table{f: f, at: at}
	if at == 0 {
		return t
	}
	t.vtable = at - int(int32(f.u32(at)))
	size := int(f.u16(t.vtable))
	if size < 4 || !f.has(t.vtable, size) {
		f.bad = true
		return table{f: f}
	}
	t.slots = (size - 4) / 2
	return t
}

// slot returns where the value of a slot stands; 0: it has its default.
func (t table) slot(i int) int {
	if t.at == 0 || i >= t.slots {
		return 0
	}
	n := int(t.f.u16(t.vtable + 4 + 2*i))
	if n == 0 {
		return 0
	}
	return t.at + n
}

func (t table) byte(i int, or byte) byte {
	at := t.slot(i)
	if at == 0 || !t.f.has(at, 1) {
		return or
	}
	return t.f.b[at]
}

func (t table) short(i int, or int16) int16 {
	if at := t.slot(i); at != 0 {
		return int16(t.f.u16(at))
	}
	return or
}

func (t table) int(i int, or int32) int32 {
	if at := t.slot(i); at != 0 {
		return int32(t.f.u32(at))
	}
	return or
}

func (t table) long(i int, or int64) int64 {
	if at := t.slot(i); at != 0 {
		return t.f.i64(at)
	}
	return or
}

// ref returns where the offset in a slot leads; 0: there is none.
func (t table) ref(i int) int {
	if at := t.slot(i); at != 0 {
		return t.f.follow(at)
	}
	return 0
}

func (t table) table(i int) table { return t.f.table(t.ref(i)) }

// vector returns the position of the first element of a vector and the number of its elements, size bytes each.
func (t table) vector(i, size int) (at, n int) {
	at = t.ref(i)
	if at == 0 {
		return 0, 0
	}
	count := t.f.u32(at)
	if uint64(count) > uint64(len(t.f.b)/size) || !t.f.has(at+4, int(count)*size) {
		t.f.bad = true
		return 0, 0
	}
	return at + 4, int(count)
}

// text returns a string, which aliases the buffer.
func (t table) text(i int) string {
	at, n := t.vector(i, 1)
	return unsafe.String(unsafe.SliceData(t.f.b[at:]), n)
}

// tables returns the positions of the tables of a vector.
func (t table) tables(i int) (all []int) {
	at, n := t.vector(i, 4)
	if !t.f.pay(4 * n) {
		return nil
	}
	for k := range n {
		all = append(all, t.f.follow(at+4*k))
	}
	return all
}
