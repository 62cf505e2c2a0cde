package column

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Reader takes numbers from one column.
type Reader struct {
	B   []byte
	At  int
	Bad bool // a read went past the end, or met bytes that make no number
}

// Next returns the next number.
func (r *Reader) Next() uint64 {
	if r.At < len(r.B) && r.B[r.At] < 0x80 {
		r.At++
		return uint64(r.B[r.At-1])
	}
	return r.long()
}

func (r *Reader) long() uint64 {
	v, n := binary.Uvarint(r.B[min(r.At, len(r.B)):])
	if n <= 0 {
		r.Bad = true
		return 0
	}
	r.At += n
	return v
}

// Skip passes over n numbers.
func (r *Reader) Skip(n int) {
	const high = 0x8080808080808080 // of each byte the bit that says that more of its number follows
	for n > 0 && !r.Bad {
		if n >= 8 && r.At+8 <= len(r.B) {
			more := binary.LittleEndian.Uint64(r.B[r.At:]) & high
			if more&(more<<8)&(more<<16) == 0 { // none takes more than three bytes
				r.At += bits.Len64(more^high) / 8
				n -= 8 - bits.OnesCount64(more)
				continue
			}
		}
		r.Next()
		n--
	}
}

// Byte returns the next byte.
func (r *Reader) Byte() byte {
	if r.At >= len(r.B) {
		r.Bad = true
		return 0
	}
	r.At++
	return r.B[r.At-1]
}

// Take returns the next n bytes. They share the column.
func (r *Reader) Take(n uint64) []byte {
	if n > uint64(len(r.B)-r.At) {
		r.Bad = true
		return nil
	}
	r.At += int(n)
	return r.B[r.At-int(n) : r.At]
}

// Done reports whether the column was read exactly to its end.
func (r *Reader) Done() bool { return !r.Bad && r.At == len(r.B) }

// Zigzag maps 0, -1, 1, -2 to 0, 1, 2, 3.
func Zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// Unzigzag is the inverse of Zigzag.
func Unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// Append appends a number to a column.
func Append(col []byte, v uint64) []byte {
	if v < 0x80 {
		return append(col, byte(v))
	}
	return binary.AppendUvarint(col, v)
}

// Strings appends n strings to to: r tells their lengths, text holds them one behind the other.
func Strings(to []string, n int, r Reader, text []byte) ([]string, error) {
	all := string(text)
	for range n {
		l := r.Next()
		if r.Bad || l > uint64(len(all)) {
			return nil, fmt.Errorf("%w: want the length of a name", ErrBroken)
		}
		to = append(to, all[:l])
		all = all[l:]
	}
	if !r.Done() || all != "" {
		return nil, fmt.Errorf("%w: names and their lengths differ", ErrBroken)
	}
	return to, nil
}
