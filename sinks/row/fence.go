package row

import (
	"encoding/binary"
	"fmt"
)

// Fence says which rows a load has, packed: the number of strings in its
// dictionary (0: it has none), then for each row, ascending, the distance of
// its last position from the first one it speaks for; all as unsigned LEB128.
type Fence []byte

// NewFence returns the fence of a load without rows. shared is the number of strings in its dictionary.
func NewFence(shared int) Fence { return binary.AppendUvarint(nil, uint64(shared)) }

// Append adds a row that speaks for [from, last].
func (f Fence) Append(from, last uint64) Fence { return binary.AppendUvarint(f, last-from) }

// MaxStrings bounds the strings of a dictionary.
const MaxStrings = 1 << 22

// Rows returns the dictionary's length and the last position of every row.
func (f Fence) Rows() (shared int, last []uint64, err error) {
	if len(f) == 0 {
		return 0, nil, nil
	}
	v, n := binary.Uvarint(f)
	if n <= 0 || v > MaxStrings {
		return 0, nil, fmt.Errorf("fence: %w: want the dictionary's length", ErrUnauthentic)
	}
	last = make([]uint64, 0, len(f)-n)
	from, wrapped := uint64(0), false
	for rest := f[n:]; len(rest) > 0; rest = rest[n:] {
		if v2, k := binary.Uvarint(rest); k > 0 && !wrapped && from+v2 >= from {
			last = append(last, from+v2)
			from, n = from+v2+1, k
			wrapped = from == 0 // the row ends at the last position there is
			continue
		}
		return 0, nil, fmt.Errorf("fence: %w: want row %d", ErrUnauthentic, len(last))
	}
	return int(v), last, nil
}
