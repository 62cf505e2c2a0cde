package protobuf_test

import (
	"bytes"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/protobuf"
)

// some is a message with a field of each wire type.
func some() []byte {
	b := protobuf.AppendNumber(nil, 1, 300)
	b = protobuf.AppendBytes(b, 2, "name")
	b = protobuf.AppendBytes(b, 3, []byte{})
	b = protowire.AppendFixed32(protobuf.AppendTag(b, 4, protobuf.Fixed32), 7)
	b = protowire.AppendFixed64(protobuf.AppendTag(b, 5, protobuf.Fixed64), 8)
	b = protowire.AppendGroup(protowire.AppendTag(b, 6, protowire.StartGroupType), 6, protobuf.AppendNumber(nil, 1, 2))
	return protobuf.AppendBytes(b, 1000, []byte{5, 0xac, 2})
}

func TestFields(t *testing.T) {
	t.Parallel()
	type field struct {
		number uint32
		value  uint64
		text   string
	}
	var got []field
	var copied []byte
	var packed []uint64
	f := protobuf.Read(some())
	for f.Next() {
		got = append(got, field{f.Number, f.Value, string(f.Bytes)})
		copied = append(copied, f.Whole()...)
		if f.Is(1000) && !f.Numbers(func(v uint64) { packed = append(packed, v) }) {
			t.Error("packed numbers are refused")
		}
		if f.Is(3) && f.Bytes == nil {
			t.Error("a field without bytes is nil")
		}
	}
	want := []field{{1, 300, ""}, {2, 0, "name"}, {3, 0, ""}, {4, 7, ""}, {5, 8, ""}, {6, 0, ""}, {1000, 0, "\x05\xac\x02"}}
	if f.Bad || !slices.Equal(got, want) || !bytes.Equal(copied, some()) || !slices.Equal(packed, []uint64{5, 300}) {
		t.Errorf("got %v, packed %v, damaged %v; want %v", got, packed, f.Bad, want)
	}
}

// FuzzFields holds the fields of any bytes against the library's.
func FuzzFields(f *testing.F) {
	f.Add(some())
	f.Add(some()[:12])
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		rest := b
		whole := protobuf.Each(b, func(f *protobuf.Fields) {
			number, kind, n := protowire.ConsumeTag(rest)
			size := protowire.ConsumeFieldValue(number, kind, rest[max(n, 0):])
			if n < 0 || size < 0 || uint32(number) != f.Number || uint8(kind) != f.Wire || n+size != len(f.Whole()) {
				t.Fatalf("field %d of type %d with %d bytes; the library reads %d of type %d with %d", f.Number, f.Wire, len(f.Whole()), number, kind, n+size)
			}
			rest = rest[n+size:]
		})
		if whole != (len(rest) == 0) {
			t.Fatalf("whole is %v with %d bytes left", whole, len(rest))
		}
		if number, _, n := protowire.ConsumeField(rest); !whole && n >= 0 && number <= protowire.MaxValidNumber {
			t.Fatalf("the library reads on: %x", rest)
		}
	})
}
