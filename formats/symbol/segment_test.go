package symbol_test

import (
	"testing"

	"github.com/symlake/symlake/formats/symbol"
)

// TestFileOffset converts offsets of images as linkers lay them out.
func TestFileOffset(t *testing.T) {
	gnu := []symbol.Segment{{Position: 0x1000, Size: 0x1175, Offset: 0x1000, Stored: 0x1175}}
	lld := []symbol.Segment{{Position: 0x1a40, Size: 0x800, Offset: 0xa40, Stored: 0x800}}
	two := append(lld[:1:1], symbol.Segment{Position: 0x4000, Size: 0x10, Offset: 0x3000, Stored: 0x10})
	debug := []symbol.Segment{{Position: 0x1a40, Size: 0x800}}
	whole := &symbol.Mapping{Offset: 0, Size: 0x2000} // of lld's segment: from 0x1000 to 0x3000
	for _, c := range []struct {
		name     string
		kind     symbol.Kind
		arch     string
		base     uint64
		segments []symbol.Segment
		value    uint64
		mapped   *symbol.Mapping
		want     uint64
		ok       bool
	}{
		{name: "GNU ld", segments: gnu, value: 0x1010, want: 0x1010, ok: true},
		{name: "its last byte", segments: gnu, value: 0x2174, want: 0x2174, ok: true},
		{name: "behind it", segments: gnu, value: 0x2175},
		{name: "before it", segments: gnu, value: 0xfff},
		{name: "lld", segments: lld, value: 0xa50, want: 0x1a50, ok: true},
		{name: "lld, with its mapping", segments: lld, value: 0xa50, mapped: whole, want: 0x1a50, ok: true},
		{name: "lld, with half of its mapping", segments: lld, value: 0x1000, mapped: &symbol.Mapping{Offset: 0x1000, Size: 0x1000}, want: 0x2000, ok: true},
		{name: "the second segment", segments: two, value: 0x3008, want: 0x4008, ok: true},
		{name: "a mapping that contradicts the file", segments: lld, value: 0xa50, mapped: &symbol.Mapping{Offset: 0x7000, Size: 0x2000}},
		{name: "inside an APK", segments: lld, value: 0x7a50, mapped: &symbol.Mapping{Offset: 0x7000, Size: 0x2000, Within: true}, want: 0x1a50, ok: true},
		{name: "inside an APK, at an offset that the file has too", segments: lld, value: 0xa50, mapped: &symbol.Mapping{Size: 0x1000, Within: true}},
		{name: "inside an APK, nothing known", segments: lld, value: 0xa50, mapped: &symbol.Mapping{Within: true}},
		{name: "a debug file alone", segments: debug, value: 0xa50},
		{name: "a debug file, with its mapping", segments: debug, value: 0xa50, mapped: whole, want: 0x1a50, ok: true},
		{name: "a debug file, with another mapping", segments: debug, value: 0xa50, mapped: &symbol.Mapping{Size: 0x3000}},
		{name: "a debug file, before its first byte", segments: debug, value: 0xa3f, mapped: whole},
		{name: "a debug file, pages of 4 or 16 KiB", arch: "arm64", segments: []symbol.Segment{{Position: 0x5000, Size: 0x3000}}, value: 0x1000, mapped: &symbol.Mapping{Offset: 0x1000, Size: 0x3000}, want: 0x5000, ok: true},
		{name: "a debug file, pages of 16 KiB", arch: "arm64", segments: []symbol.Segment{{Position: 0x5000, Size: 0x3000}}, value: 0x5000, mapped: &symbol.Mapping{Offset: 0x4000, Size: 0x4000}, want: 0x5000, ok: true},
		{name: "a debug file with two alike", segments: []symbol.Segment{{Position: 0x1000, Size: 0x10}, {Position: 0x3000, Size: 0x10}}, value: 0x1008, mapped: &symbol.Mapping{Offset: 0x1000, Size: 0x1000}},
		{name: "an executable at its own address", base: 0x400000, segments: gnu, value: 0x1010, mapped: &symbol.Mapping{Offset: 0x1000, Size: 0x2000}, want: 0x1010, ok: true},
		{name: "nothing known", value: 0x1010},
		{name: "Apple's", kind: symbol.MachO, value: 0x1010, want: 0x1010, ok: true},
		{name: "behind Apple's", kind: symbol.MachO, value: 0x10000},
		{name: "numbers that wrap", segments: []symbol.Segment{{Position: ^uint64(0) - 8, Size: 4}}, value: ^uint64(0), mapped: &symbol.Mapping{Offset: 1, Size: 0x1000}},
	} {
		if c.kind == "" {
			c.kind = symbol.ELF
		}
		if c.arch == "" {
			c.arch = "x86_64"
		}
		a := symbol.Artifact{Kind: c.kind, Arch: c.arch, Base: c.base, End: 0x10000, Segments: c.segments}
		pos, ok := a.Position(symbol.Where{Space: symbol.FileOffset, Value: c.value, Mapped: c.mapped})
		if ok != c.ok || ok && pos != c.want {
			t.Errorf("%s: %#x, %v, want %#x, %v", c.name, pos, ok, c.want, c.ok)
		}
	}
}
