package dwarf

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
)

// packFile is a package of two units of version 4: an abbreviation table, and
// an entry, each.
func packFile() (info, abbrev []byte) {
	for range 2 {
		info = append(info, sized("\x04\x00\x00\x00\x00\x00\x08\x01")...)
	}
	return info, []byte("\x01\x11\x00\x00\x00\x00\x01\x11\x00\x00\x00\x00")
}

// packIndex is an index of version 2 of units with 12 bytes of .debug_info.dwo
// and 6 of .debug_abbrev.dwo each, its numbers then changed by edit.
func packIndex(edit func(words []uint32)) []byte {
	words := []uint32{
		2, 2, 2, 4, // version, columns, units, slots
		0, 0, 7, 0, 8, 0, 0, 0, // ids
		0, 1, 2, 0, // rows
		sectInfo, sectAbbrev,
		0, 0, 12, 6, // offsets
		12, 6, 12, 6, // sizes
	}
	if edit != nil {
		edit(words)
	}
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func openPackOf(index []byte, mapped bool) (*Pack, error) {
	lim := formats.Limits{}.WithDefaults()
	info, abbrev := packFile()
	return OpenPack(context.Background(), nil, Sections{
		Info: input("info", info, &lim, mapped), Abbrev: input("abbrev", abbrev, &lim, mapped),
		Index: input("index", index, &lim, mapped), Format: "elf", AddrSize: 8,
	}, &lim)
}

func TestIndex(t *testing.T) {
	p, err := openPackOf(packIndex(nil), true)
	if err != nil || len(p.IDs()) != 2 || !p.Has(7) || !p.Has(8) || p.Has(0) || !p.Package() {
		t.Fatalf("%v, %v", p, err)
	}
	if u := p.d.units[p.units[8]]; u.off != 12 || u.abbrev != 6 {
		t.Errorf("unit 8 at %#x, abbreviations at %#x", u.off, u.abbrev)
	}
	for name, c := range map[string]struct {
		edit func(w []uint32)
		want string
	}{
		"no units":           {func(w []uint32) { w[2] = 0 }, ""},
		"two bytes, version": {func(w []uint32) { w[0] = 5 | 0xabcd<<16 }, ""},
		"version":            {func(w []uint32) { w[0] = 3 }, "version 2 or 5, not 3"},
		"columns":            {func(w []uint32) { w[1] = 0xffffffff }, "fits its section"},
		"no columns":         {func(w []uint32) { w[1] = 0 }, "fits its section"},
		"units":              {func(w []uint32) { w[2] = 0xffffffff }, "fits its section"},
		"all":                {func(w []uint32) { w[1], w[2], w[3] = 0xffffffff, 0xffffffff, 0xffffffff }, "fits its section"},
		"slots":              {func(w []uint32) { w[3] = 5 }, "fits its section"},
		"row":                {func(w []uint32) { w[14] = 3 }, "a row up to 2"},
		"row twice":          {func(w []uint32) { w[14] = 1 }, "no other slot names"},
		"no info":            {func(w []uint32) { w[16] = 5 }, "columns for .debug_info.dwo"},
		"info outside":       {func(w []uint32) { w[24] = 13 }, "inside the 24 bytes of .debug_info.dwo"},
		"abbrev outside":     {func(w []uint32) { w[21] = 0xffffffff }, "inside the 12 bytes of .debug_abbrev.dwo"},
		"overlap":            {func(w []uint32) { w[20] = 11 }, "do not overlap"},
	} {
		for _, mapped := range []bool{true, false} {
			_, err := openPackOf(packIndex(c.edit), mapped)
			var fault *formats.Error
			switch {
			case c.want == "" && err == nil:
			case c.want == "" || !errors.As(err, &fault) || !formats.Rejects(err) || fault.Section != ".debug_cu_index" || !strings.Contains(fault.Want, c.want):
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := openPackOf(packIndex(nil)[:12], true); !errors.Is(err, formats.ErrCorrupt) {
		t.Errorf("cut: %v", err)
	}
}

// FuzzIndex opens a package with any index over two units, and reads the units
// it finds.
func FuzzIndex(f *testing.F) {
	f.Add(packIndex(nil), false, true)
	f.Add(packIndex(func(w []uint32) { w[0] = 5 }), false, false)
	f.Add(packIndex(func(w []uint32) { w[20] = 11 }), true, true)
	f.Fuzz(func(t *testing.T, index []byte, big, mapped bool) {
		lim := formats.Limits{}.WithDefaults()
		info, abbrev := packFile()
		host, err := Open(t.Context(), Sections{Info: input("info", info, &lim, mapped), Abbrev: input("abbrev", abbrev, &lim, mapped), Format: "elf", AddrSize: 8}, &lim)
		if err != nil {
			t.Fatal(err)
		}
		p, err := OpenPack(t.Context(), host, Sections{
			Info: input("info", info, &lim, mapped), Abbrev: input("abbrev", abbrev, &lim, mapped),
			Index: input("index", index, &lim, mapped), BigEndian: big, Format: "elf", AddrSize: 8,
		}, &lim)
		if err != nil {
			if !formats.Rejects(err) {
				t.Fatal(err)
			}
			return
		}
		r := host.Reader()
		for _, id := range p.IDs() {
			if _, err := r.Open(0); err != nil {
				t.Fatal(err)
			}
			if err := r.Enter(p, id); err != nil && !formats.Rejects(err) {
				t.Fatal(err)
			}
		}
	})
}
