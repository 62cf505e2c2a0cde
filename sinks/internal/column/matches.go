package column

import "encoding/binary"

// matches tells whether zstd will make less of a column than an entropy coder: to try both on each costs more than all that
// is done with what wins. One goroutine. The zero value is ready.
type matches struct {
	last [1 << matchBits]uint16 // by hash of six bytes: where such bytes were met last
}

const matchBits = 11

// pay reports whether the parts of raw that recur in it, four bytes or more, take more of its information, in bits, than
// what zstd says of each instead. It looks at 64 KiB. What recurs is chance, so no branch depends on it.
func (m *matches) pay(raw []byte, information, values int) bool {
	clear(m.last[:])
	most := raw[:min(len(raw), 1<<16)]
	recur, parts, before := 0, 0, 0
	for at := range len(most) - 7 {
		v := binary.LittleEndian.Uint64(most[at : at+8])
		slot := &m.last[v<<16*0x9e3779b97f4a7c15>>(64-matchBits)]
		candidate := most[*slot:]
		*slot = uint16(at)
		same := 0
		if binary.LittleEndian.Uint32(candidate) == uint32(v) {
			same = 1
		}
		recur += same
		parts += same &^ before
		before = same
	}
	// The numbers are fitted to the columns of nine objects of C, C++, Rust and Swift.
	covered := min(recur+3*parts, len(most))
	return information*covered/len(most) > 17*parts+recur*3/4+4*values
}
