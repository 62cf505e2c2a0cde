package spill

import (
	"encoding/binary"
	"math/bits"
)

// Five numbers that stand together take 2 bytes for their sizes, 3 bits each, and then the bytes that each needs: none
// for 0. Scopes and ranges are five numbers, and what a byte-wise code asks of a processor is to guess where each ends.

// fiveBytes is the most that five numbers take.
const fiveBytes = 2 + 8 + 4*4

// putFive puts five numbers into b, which has room for fiveBytes from at, and gives the position behind them.
func putFive(b []byte, at int, long uint64, v1, v2, v3, v4 uint32) int {
	to := b[at : at+fiveBytes]
	n0, n1, n2, n3, n4 := min(sizeOf(long), 7), sizeOf(uint64(v1)), sizeOf(uint64(v2)), sizeOf(uint64(v3)), sizeOf(uint64(v4))
	binary.LittleEndian.PutUint16(to, uint16(n0|n1<<3|n2<<6|n3<<9|n4<<12))
	binary.LittleEndian.PutUint64(to[2:], long)
	n := 2 + n0 + (n0+1)/8 // 7 stands for 8
	binary.LittleEndian.PutUint32(to[n:], v1)
	n += n1
	binary.LittleEndian.PutUint32(to[n:], v2)
	n += n2
	binary.LittleEndian.PutUint32(to[n:], v3)
	n += n3
	binary.LittleEndian.PutUint32(to[n:], v4)
	return at + int(n+n4)
}

// sizeOf is the number of bytes that v needs.
func sizeOf(v uint64) uint { return uint(bits.Len64(v)+7) / 8 }

// five reads what putFive put at b[at:], and gives the position behind it, which may lie behind the end of b.
func five(b []byte, at int) (long uint64, v1, v2, v3, v4 uint32, next int) {
	from := b[min(at, len(b)):]
	if len(from) < fiveBytes {
		var last [fiveBytes]byte
		copy(last[:], from)
		from = last[:]
	}
	from = from[:fiveBytes]
	sizes := uint(binary.LittleEndian.Uint16(from))
	n0, n1, n2, n3, n4 := sizes&7, sizes>>3&7, sizes>>6&7, sizes>>9&7, sizes>>12&7
	n0 += (n0 + 1) / 8
	n := 2 + n0
	long = binary.LittleEndian.Uint64(from[2:]) & lowBytes[n0&15]
	v1 = binary.LittleEndian.Uint32(from[n:]) & uint32(lowBytes[n1])
	n += n1
	v2 = binary.LittleEndian.Uint32(from[n:]) & uint32(lowBytes[n2])
	n += n2
	v3 = binary.LittleEndian.Uint32(from[n:]) & uint32(lowBytes[n3])
	n += n3
	v4 = binary.LittleEndian.Uint32(from[n:]) & uint32(lowBytes[n4])
	return long, v1, v2, v3, v4, at + int(n+n4)
}

// lowBytes[n] is a word with its n lowest bytes set.
var lowBytes = [16]uint64{1: 1<<8 - 1, 2: 1<<16 - 1, 3: 1<<24 - 1, 4: 1<<32 - 1, 5: 1<<40 - 1, 6: 1<<48 - 1, 7: 1<<56 - 1, 8: 1<<64 - 1}
