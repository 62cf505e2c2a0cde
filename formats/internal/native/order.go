package native

import "encoding/binary"

// ByteOrder is the byte order of a file: true is big endian. Unlike a binary.ByteOrder it is no interface: every call of one
// is an indirect one.
type ByteOrder bool

// Uint16 reads 2 bytes.
func (o ByteOrder) Uint16(b []byte) uint16 {
	if o {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

// Uint32 reads 4 bytes.
func (o ByteOrder) Uint32(b []byte) uint32 {
	if o {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

// Uint64 reads 8 bytes.
func (o ByteOrder) Uint64(b []byte) uint64 {
	if o {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// PutUint16 writes 2 bytes.
func (o ByteOrder) PutUint16(b []byte, v uint16) {
	if o {
		binary.BigEndian.PutUint16(b, v)
		return
	}
	binary.LittleEndian.PutUint16(b, v)
}

// PutUint32 writes 4 bytes.
func (o ByteOrder) PutUint32(b []byte, v uint32) {
	if o {
		binary.BigEndian.PutUint32(b, v)
		return
	}
	binary.LittleEndian.PutUint32(b, v)
}

// PutUint64 writes 8 bytes.
func (o ByteOrder) PutUint64(b []byte, v uint64) {
	if o {
		binary.BigEndian.PutUint64(b, v)
		return
	}
	binary.LittleEndian.PutUint64(b, v)
}
