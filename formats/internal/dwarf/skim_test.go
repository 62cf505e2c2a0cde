package dwarf

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
)

// skimAbbrevs: 1 a unit (language), 2 a structure (sibling), 3 a function (low, high), 4 a member, 5 a block of any depth.
const skimAbbrevs = "\x01\x11\x01\x13\x05\x00\x00" +
	"\x02\x13\x01\x0b\x0b\x01\x13\x00\x00" +
	"\x03\x2e\x00\x11\x01\x12\x06\x00\x00" +
	"\x04\x0d\x00\x0b\x0b\x00\x00" +
	"\x05\x0b\x01\x18\x08\x00\x00" +
	"\x00"

// skimFunctions are the lowest addresses of the functions that a walk finds in entries below a unit of that language.
func skimFunctions(t *testing.T, language byte, entries func(at int) string) []uint64 {
	t.Helper()
	const header = 11
	body := "\x01" + string(language) + "\x00"
	body += entries(header+len(body)) + "\x00"
	b := binary.LittleEndian.AppendUint32(nil, uint32(header-4+len(body)))
	b = append(binary.LittleEndian.AppendUint32(append(b, 4, 0), 0), 8)
	lim := formats.Limits{}.WithDefaults()
	d, err := Open(context.Background(), Sections{Info: input("info", append(b, body...), &lim, true), Abbrev: input("abbrev", []byte(skimAbbrevs), &lim, true), Format: "elf"}, &lim)
	if err != nil {
		t.Fatal(err)
	}
	r := d.Reader()
	defer r.Close()
	if _, err := r.Open(0); err != nil {
		t.Fatal(err)
	}
	var found []uint64
	var e Entry
	for {
		kind, err := r.Next(&e)
		if err != nil {
			t.Fatal(err)
		}
		if kind == End {
			return found
		}
		for _, s := range e.Ranges {
			found = append(found, s.Start)
		}
	}
}

func skimFunction(low byte) string {
	return "\x03" + string(low) + strings.Repeat("\x00", 7) + "\x08\x00\x00\x00"
}

func TestTypesAreSkippedInC(t *testing.T) {
	structure := func(at int, sibling uint32) string {
		inside := "\x04\x01" + skimFunction(0x10) + "\x04\x02\x00"
		if sibling == 0 {
			sibling = uint32(at + 6 + len(inside))
		}
		return "\x02\x08" + string(binary.LittleEndian.AppendUint32(nil, sibling)) + inside
	}
	for _, c := range []struct {
		name     string
		language byte
		sibling  uint32 // 0: what it should be
		want     []uint64
	}{
		{"C", 0x0c, 0, []uint64{0x20}},
		{"C++", 0x04, 0, []uint64{0x10, 0x20}},
		{"backwards", 0x0c, 3, []uint64{0x10, 0x20}},
		{"behind the unit", 0x0c, 1 << 20, []uint64{0x10, 0x20}},
	} {
		got := skimFunctions(t, c.language, func(at int) string { return structure(at, c.sibling) + skimFunction(0x20) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: functions at %#x, want %#x", c.name, got, c.want)
		}
	}
}

// What cannot be skimmed is counted as deep as it is, however deep.
func TestDeepEntries(t *testing.T) {
	for _, depth := range []int{1, 117, 118, 119, 120, 121, 124, 125, 126, 127, 128, 129, 200, 300} {
		got := skimFunctions(t, 0x0c, func(int) string {
			return strings.Repeat("\x05\x00", depth) + "\x05x\x00\x00" + skimFunction(0x10) + strings.Repeat("\x00", depth) + skimFunction(0x20)
		})
		if want := []uint64{0x10, 0x20}; !slices.Equal(got, want) {
			t.Errorf("below %d entries: functions at %#x, want %#x", depth, got, want)
		}
	}
}
