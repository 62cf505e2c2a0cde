package dwarf

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// FuzzAbbrev compiles a table and runs both programs of each abbreviation
// over the same bytes: they must come to the same place.
func FuzzAbbrev(f *testing.F) {
	f.Add([]byte("\x01\x11\x01\x03\x08\x10\x17\x11\x01\x12\x07\x00\x00\x02\x2e\x00\x03\x0e\x3f\x19\x49\x13\x55\x23\x00\x00\x00"), []byte("a.c\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08"), false)
	f.Add([]byte("\x05\x1d\x00\x31\x15\x57\x16\x58\x21\x05\x02\x18\x49\x10\x11\x29\x6e\xa0\x3e\x00\x00\x00"), []byte("\x81\x01\x0f\x07\x03\x01\x02\x03\x04\x05\x06"), true)
	f.Fuzz(func(t *testing.T, table, entry []byte, big bool) {
		h := shape{version: 4, addrSize: 8, offSize: 4}
		var tab abbrevs
		if !tab.parse(table, h, 0) {
			return
		}
		if tab.bytes > len(table) || len(tab.list) > len(table) {
			t.Fatalf("%d abbreviations in %d bytes of %d", len(tab.list), tab.bytes, len(table))
		}
		for i := range tab.list {
			ab := &tab.list[i]
			if got := tab.find(ab.code); got == nil || got.code != ab.code {
				t.Fatalf("code %d is not found", ab.code)
			}
			if ab.class == classBad {
				continue
			}
			var a attrs
			skipped := tab.skipEntry(ab, entry, 0, h, big)
			read := tab.readEntry(ab, entry, 0, 0, h, big, &a)
			if skipped < 0 != (read < 0) && skipped <= len(entry) || skipped >= 0 && skipped <= len(entry) && skipped != read {
				t.Fatalf("code %d: skipped to %d, read to %d of %d", ab.code, skipped, read, len(entry))
			}
			if read < 0 {
				continue
			}
			// Amid others an entry is read as at the end of a section.
			var amid attrs
			if got := tab.readEntry(ab, append(entry[:len(entry):len(entry)], 1, 2, 3, 4, 5, 6, 7, 8), 0, 0, h, big, &amid); got != read || amid.has != a.has {
				t.Fatalf("code %d: read to %d with attributes %#x, amid others to %d with %#x", ab.code, read, a.has, got, amid.has)
			}
			for slot := range slots {
				if a.is(slot) && (a.form[slot] != amid.form[slot] || a.val[slot] != amid.val[slot]) {
					t.Fatalf("code %d, slot %d: form %#x of %d, amid others %#x of %d", ab.code, slot, a.form[slot], a.val[slot], amid.form[slot], amid.val[slot])
				}
			}
		}
	})
}

// fuzzReader is a reader at an empty unit, of version 5 if five, for what
// hangs from a unit.
func fuzzReader(t *testing.T, s Sections, five bool) *Reader {
	lim := formats.Limits{}.WithDefaults()
	info := []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0, 0}
	if five {
		info = []byte{0, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0}
	}
	binary.LittleEndian.PutUint32(info, uint32(len(info)-4))
	abbrev := []byte("\x01\x11\x00\x10\x17\x00\x00\x00")
	s.Info, s.Abbrev, s.Format, s.AddrSize = input("info", info, &lim, true), input("abbrev", abbrev, &lim, true), "elf", 8
	d, err := Open(context.Background(), s, &lim)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Reader()
	if _, err := r.Open(0); err != nil {
		t.Fatal(err)
	}
	return r
}

// FuzzRanges reads a list from each byte of a section.
func FuzzRanges(f *testing.F) {
	f.Add([]byte("\x05\x00\x10\x00\x00\x00\x00\x00\x00\x04\x10\x20\x07\x00\x20\x00\x00\x00\x00\x00\x00\x08\x03\x00\x05\x00"), []byte("\x00\x30\x00\x00\x00\x00\x00\x00"), true)
	f.Add(append(slices.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}, 2), make([]byte, 16)...), []byte{}, false)
	f.Fuzz(func(t *testing.T, list, addrs []byte, mapped bool) {
		lim := formats.Limits{}.WithDefaults()
		s := Sections{Ranges: input("ranges", list, &lim, mapped), Rnglists: input("rnglists", list, &lim, mapped), Addr: input("addr", addrs, &lim, mapped)}
		for _, five := range []bool{false, true} {
			r := fuzzReader(t, s, five)
			var a attrs
			a.has = 1 << slotRanges
			for _, form := range []uint8{formSecOffset, formRnglistx} {
				for i := range min(len(list), 64) {
					a.form[slotRanges], a.val[slotRanges] = form, uint64(i)
					got, err := r.rangesOf(&a, nil)
					if err != nil && !formats.Rejects(err) {
						t.Fatal(err)
					}
					if slices.ContainsFunc(got, func(s native.Span) bool { return s.Start >= s.End }) {
						t.Fatalf("empty range in %x", got)
					}
				}
			}
		}
	})
}

// FuzzLine runs a section's first program: rows ascend, sequences are
// disjoint, paths come out.
func FuzzLine(f *testing.F) {
	head := "\x01\x01\xfb\x0e\x0d\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01"
	body := "\x00\x09\x02\x00\x10\x00\x00\x00\x00\x00\x00\x03\x05\x01\x05\x07\x4b\x02\x10\x00\x01\x01"
	v2 := head + "d\x00\x00a.c\x00\x01\x00\x00\x00"
	f.Add([]byte(sized("\x02\x00"+sized(v2)+body)), true)
	v5 := "\x01" + head + "\x01\x01\x08\x01/d\x00\x02\x01\x1f\x02\x0b\x01\x00\x00\x00\x00\x00"
	f.Add([]byte(sized("\x05\x00\x08\x00"+sized(v5)+body)), false)
	f.Fuzz(func(t *testing.T, b []byte, mapped bool) {
		lim := formats.Limits{}.WithDefaults()
		in := input("line", b, &lim, mapped)
		r := fuzzReader(t, Sections{Line: in, LineStr: in, Str: in, StrOffsets: in}, true)
		table, err := r.Lines(func(low, high uint64) bool { return true }, false)
		if err != nil {
			if !formats.Rejects(err) {
				t.Fatal(err)
			}
			return
		}
		end := uint64(0)
		for i := range table.Sequences {
			s := &table.Sequences[i]
			if s.Low < end || s.Low >= s.High {
				t.Fatalf("sequence %+v behind %#x", s, end)
			}
			end = s.High
			rows := table.Rows(s)
			if len(rows) == 0 || rows[0].Addr > s.Low {
				t.Fatalf("sequence %+v begins before its rows", s)
			}
			for k := range rows {
				if k > 0 && rows[k].Addr <= rows[k-1].Addr {
					t.Fatalf("row %d: %+v, %+v", k, rows[k-1], rows[k])
				}
				if k < 16 {
					if _, _, err := r.Path(rows[k].Place.File()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// sized puts the length of s, 4 bytes, before it.
func sized(s string) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}
