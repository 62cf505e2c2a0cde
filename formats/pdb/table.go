package pdb

import (
	"bytes"
	"unsafe"

	"github.com/symlake/symlake/formats/internal/codeview"
	"github.com/symlake/symlake/formats/symbol"
)

// table is the strings of one worker: several parts have it, one after the other. Strings are views of the file, or
// copies; both last until the object is closed.
type table struct {
	list  []string
	files map[uint32]uint32 // indices of names of files, by their offset in the string table
	ids   []uint32          // indices of names of inlined functions, by their place in the id stream, from 1; 0: not known yet
	room  []byte
}

func (o *object) takeTable() *table {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := len(o.tables); n > 0 {
		t := o.tables[n-1]
		o.tables = o.tables[:n-1]
		return t
	}
	return &table{list: []string{""}, files: map[uint32]uint32{}}
}

func (o *object) giveTable(t *table) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tables = append(o.tables, t)
}

func (t *table) add(s string) uint32 {
	if s == "" {
		return 0
	}
	t.list = append(t.list, s)
	return uint32(len(t.list) - 1)
}

// view is b as a string that shares its bytes, which nothing writes to.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// text returns b as a string that lasts, cut if it is too long.
func (p *part) text(b []byte, lasting bool) string {
	s := symbol.ShortName(view(b), p.o.in.Limits.NameBytes)
	if !lasting && len(s) == len(b) {
		return string(b)
	}
	return s
}

// file returns the index of the name of a file; off is in the string table.
func (p *part) file(off uint32) uint32 {
	if i, ok := p.table.files[off]; ok {
		return i
	}
	i := uint32(0)
	if uint64(off) < uint64(len(p.o.texts)) {
		b := p.o.texts[off:]
		if end := bytes.IndexByte(b, 0); end >= 0 {
			i = p.table.add(p.text(b[:end], true))
		}
	}
	p.table.files[off] = i
	return i
}

// inlinee returns the index of the name of an inlined function.
func (p *part) inlinee(id uint32) (uint32, error) {
	ids, t := p.o.ids, p.table
	if ids == nil || id < ids.First() || uint64(id)-uint64(ids.First()) >= uint64(ids.Len()) {
		return 0, nil
	}
	if t.ids == nil {
		t.ids = make([]uint32, ids.Len())
	}
	known := &t.ids[id-ids.First()]
	if *known != 0 {
		return *known - 1, nil
	}
	s, err := codeview.FunctionName(ids, p.o.types, id, &t.room)
	if err != nil {
		return 0, err
	}
	i := t.add(symbol.ShortName(s, p.o.in.Limits.NameBytes))
	*known = i + 1
	return i, nil
}
