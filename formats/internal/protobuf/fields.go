// Package protobuf goes over messages of protobuf without a schema, and writes fields.
//
// It reads in place and allocates nothing. Formats that read a message once, field by field, and copy what they do not know, use it in
// place of a decoder.
package protobuf

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// The wire types of fields that have a value of their own.
const (
	Varint  = 0
	Fixed64 = 1
	Bytes   = 2
	Fixed32 = 5
)

// MaxNumber is the highest number of a field.
const MaxNumber = uint64(protowire.MaxValidNumber)

// Fields goes over the fields of a message. It is valid as long as the message stays.
type Fields struct {
	Number uint32
	Wire   uint8
	Bad    bool   // the message holds bytes that are no field
	Value  uint64 // of a number
	Bytes  []byte // of a field with a length, never nil; it aliases the message

	at, rest []byte // from the field on, and behind it
}

// Read returns the fields of a message. Next goes to the first.
func Read(message []byte) Fields { return Fields{rest: message} }

// Next reads the next field. It returns false behind the last one, and where the message is damaged.
func (f *Fields) Next() bool {
	b := f.rest
	if len(b) == 0 {
		return false
	}
	f.at = b
	tag, n := uint64(b[0]), 1
	if tag >= 0x80 {
		tag, n = Uvarint(b)
	}
	f.Number, f.Wire = uint32(tag>>3), uint8(tag&7)
	if n <= 0 || tag>>3 == 0 || tag>>3 > MaxNumber {
		return f.end()
	}
	b = b[n:]
	f.Value, f.Bytes = 0, nil
	switch f.Wire {
	case Varint:
		if f.Value, n = Uvarint(b); n <= 0 {
			return f.end()
		}
	case Bytes:
		size, from := Uvarint(b)
		if from <= 0 || size > uint64(len(b)-from) {
			return f.end()
		}
		n = from + int(size)
		f.Bytes = b[from:n]
	case Fixed64:
		if n = 8; len(b) < n {
			return f.end()
		}
		f.Value = binary.LittleEndian.Uint64(b)
	case Fixed32:
		if n = 4; len(b) < n {
			return f.end()
		}
		f.Value = uint64(binary.LittleEndian.Uint32(b))
	default: // a group
		if n = protowire.ConsumeFieldValue(protowire.Number(f.Number), protowire.Type(f.Wire), b); n < 0 {
			return f.end()
		}
	}
	f.rest = b[n:]
	return true
}

func (f *Fields) end() bool {
	f.Bad, f.rest = true, nil
	return false
}

// Each calls visit for each field of a message. It returns false if the message is damaged; visit has then seen the
// fields before the damage.
func Each(message []byte, visit func(f *Fields)) bool {
	f := Read(message)
	for f.Next() {
		visit(&f)
	}
	return !f.Bad
}

// Rest returns the message from behind the field on.
func (f *Fields) Rest() []byte { return f.rest }

// Whole returns the field with its tag.
func (f *Fields) Whole() []byte { return f.at[:len(f.at)-len(f.rest)] }

// Is reports whether the field has a number and a length.
func (f *Fields) Is(number uint32) bool { return f.Number == number && f.Wire == Bytes }

// Numbers calls each with the numbers of a repeated field, packed or not. It returns false if packed ones are damaged.
func (f *Fields) Numbers(each func(uint64)) bool {
	if f.Wire != Bytes {
		each(f.Value)
		return true
	}
	for b := f.Bytes; len(b) > 0; {
		v, n := Uvarint(b)
		if n <= 0 {
			return false
		}
		each(v)
		b = b[n:]
	}
	return true
}

// Uvarint reads a number. n is its bytes, and at most 0 if there is none.
func Uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return binary.Uvarint(b)
}

// AppendTag appends what a field begins with.
func AppendTag(to []byte, number uint32, wire uint8) []byte {
	return binary.AppendUvarint(to, uint64(number)<<3|uint64(wire))
}

// AppendNumber appends a field that is a varint.
func AppendNumber(to []byte, number uint32, v uint64) []byte {
	return binary.AppendUvarint(AppendTag(to, number, Varint), v)
}

// AppendBytes appends a field with a length.
func AppendBytes[T string | []byte](to []byte, number uint32, v T) []byte {
	to = binary.AppendUvarint(AppendTag(to, number, Bytes), uint64(len(v)))
	return append(to, v...)
}
