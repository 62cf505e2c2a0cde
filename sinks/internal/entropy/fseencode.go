package entropy

import (
	"encoding/binary"
	"math/bits"
)

// fseEncoder codes columns with finite state entropy, as fseDecoder reads them. The zero value is ready.
type fseEncoder struct {
	norm    [fseValues]int16 // as the decoder's
	next    [fseValues]uint16
	symbols [fseValues]fseSymbol
	states  [1 << fseMostLog]uint16 // the states of a value stand together, ascending; each is the state's number + the number of states
	values  [1 << fseMostLog]byte   // by number of the state
	out     []byte
}

// fseSymbol says how a value is coded from a state: it puts out the bits of state + bits from the 16th on,
// and goes on in the state that stands find behind the rest of the bits.
type fseSymbol struct {
	bits uint32
	find int32
}

const (
	// fseLog is the most that the encoder's tables have; a column's has fewer, so that making it takes less than its bytes.
	fseLog = 11
	// fseBytesPerState is how many bytes a state should stand for.
	fseBytesPerState = 4
)

// encode codes raw. counts[v] is how often the value v occurs in it, to the highest value; two values
// occur at least. The result is valid until the next call, and may be longer than raw.
func (e *fseEncoder) encode(raw []byte, counts []uint32, values int) []byte {
	log := min(max(bits.Len(uint(len(raw)-1)/fseBytesPerState)-1, fseLeastLog), fseLog)
	log = max(log, bits.Len(uint(values))+1)
	if room := 2*len(raw) + 2*fseValues + 16; cap(e.out) < room { // a value takes 12 bits at most, and its entry in the table 13
		e.out = make([]byte, room)
	}
	e.normalize(counts, len(raw), log)
	last := len(counts) - 1
	e.table(last, log)
	return e.stream(raw, e.describe(last, log), log)
}

// normalize shares the states out to the values: one to each value that should have less, and the rest
// to the others in proportion. There are more states than values.
func (e *fseEncoder) normalize(counts []uint32, total, log int) {
	left := 1 << log
	few := uint32(total >> log)
	rest := uint64(total)
	for v, n := range counts {
		e.norm[v] = 0
		if n == 0 {
			continue
		}
		if n <= few {
			e.norm[v] = -1
			left--
			rest -= uint64(n)
		}
	}
	step := uint64(left) << 32 / rest
	most, largest := int16(0), 0
	for v, n := range counts {
		if n <= few {
			continue
		}
		x := uint64(n) * step
		share := int16(x >> 32)
		switch {
		case share == 0:
			share = 1
		case uint32(x) > 1<<31-1<<28/uint32(share): // one more is worth as much here as to the value that gives it
			share++
		}
		if share > most {
			most, largest = share, v
		}
		e.norm[v] = share
		left -= int(share)
	}
	if left >= -int(most)/4 {
		e.norm[largest] += int16(left)
		return
	}
	for ; left < 0; left++ { // rare values took much: the largest shares give it back
		for v, n := range e.norm[:len(counts)] {
			if n > e.norm[largest] {
				largest = v
			}
		}
		e.norm[largest]--
	}
}

// describe writes the description of the table, and gives its length.
func (e *fseEncoder) describe(last, log int) int {
	at, acc, n := 0, uint64(log-fseLeastLog), 4 // of acc n bits are set
	put := func(v, width int) {
		acc |= uint64(v) << n
		n += width
		binary.LittleEndian.PutUint64(e.out[at:], acc)
		at += n >> 3
		acc >>= n &^ 7
		n &= 7
	}
	left := 1 << log
	for v := 0; v <= last; v++ {
		code := int(e.norm[v]) + 1
		width := bits.Len(uint(left + 1))
		spare := 1<<width - 2 - left
		switch {
		case code < spare:
			put(code, width-1)
		case code >= 1<<(width-1):
			put(code+spare, width)
		default:
			put(code, width)
		}
		switch {
		case code == 0:
			left--
		case code > 1:
			left -= code - 1
		default:
			more := 0
			for e.norm[v+1] == 0 {
				v++
				more++
			}
			for ; more >= 3; more -= 3 {
				put(3, 2)
			}
			put(more, 2)
		}
	}
	return at + (n+7)>>3
}

// table makes what values are coded by.
func (e *fseEncoder) table(last, log int) {
	size := 1 << log
	high := size - 1 // values with a whole reset have the last states
	at := 0
	for v, n := range e.norm[:last+1] {
		e.next[v] = uint16(at)
		s := &e.symbols[v]
		switch {
		case n == 0:
			continue
		case n < 0:
			e.values[high] = byte(v)
			high--
			fallthrough
		case n == 1:
			s.bits, s.find = uint32(log<<16-size), int32(at-1)
			at++
		default:
			most := log - bits.Len(uint(n-1)) + 1
			s.bits, s.find = uint32(most<<16-int(n)<<most), int32(at)-int32(n)
			at += int(n)
		}
	}
	spreadStates(e.values[:size], e.norm[:last+1], high)
	for i, v := range e.values[:size] {
		at := e.next[v]
		e.next[v]++
		e.states[at&(1<<fseMostLog-1)] = uint16(size + i)
	}
}

// stream appends the stream of raw to the description, which has a length. It is made from the last byte to the first: those at
// odd places by one state, the others by another.
func (e *fseEncoder) stream(raw []byte, at, log int) []byte {
	const mask = 1<<fseMostLog - 1
	begin := func(v byte) uint32 {
		s := &e.symbols[v]
		n := (s.bits + 1<<15) >> 16
		return uint32(e.states[(int32((n<<16-s.bits)>>n)+s.find)&mask])
	}
	i := len(raw) - 2
	odd, even := begin(raw[i+1]), begin(raw[i])
	acc, n := uint64(0), uint32(0)
	if len(raw)&1 != 0 {
		odd, even = even, odd
		i--
		s := &e.symbols[raw[i]]
		width := (even + s.bits) >> 16
		acc, n = uint64(even&(1<<(width&31)-1)), width
		even = uint32(e.states[(int32(even>>(width&31))+s.find)&mask])
	}
	out := e.out
	for ; i >= 4; i -= 4 { // four take 48 bits at most, and 7 may be left
		four := raw[i-4 : i : i]
		s := &e.symbols[four[3]]
		width := (odd + s.bits) >> 16
		acc |= uint64(odd&(1<<(width&31)-1)) << (n & 63)
		n += width
		odd = uint32(e.states[(int32(odd>>(width&31))+s.find)&mask])
		s = &e.symbols[four[2]]
		width = (even + s.bits) >> 16
		acc |= uint64(even&(1<<(width&31)-1)) << (n & 63)
		n += width
		even = uint32(e.states[(int32(even>>(width&31))+s.find)&mask])
		s = &e.symbols[four[1]]
		width = (odd + s.bits) >> 16
		acc |= uint64(odd&(1<<(width&31)-1)) << (n & 63)
		n += width
		odd = uint32(e.states[(int32(odd>>(width&31))+s.find)&mask])
		s = &e.symbols[four[0]]
		width = (even + s.bits) >> 16
		acc |= uint64(even&(1<<(width&31)-1)) << (n & 63)
		n += width
		even = uint32(e.states[(int32(even>>(width&31))+s.find)&mask])
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
	}
	for ; i > 0; i -= 2 {
		s := &e.symbols[raw[i-1]]
		width := (odd + s.bits) >> 16
		acc |= uint64(odd&(1<<(width&31)-1)) << n
		n += width
		odd = uint32(e.states[(int32(odd>>(width&31))+s.find)&mask])
		s = &e.symbols[raw[i-2]]
		width = (even + s.bits) >> 16
		acc |= uint64(even&(1<<(width&31)-1)) << n
		n += width
		even = uint32(e.states[(int32(even>>(width&31))+s.find)&mask])
	}
	binary.LittleEndian.PutUint64(out[at:], acc)
	at += int(n >> 3)
	acc >>= n &^ 7
	n &= 7
	// The states that decoding begins with, and the bit that ends the stream.
	acc |= uint64(odd&(1<<log-1)) << n
	n += uint32(log)
	acc |= uint64(even&(1<<log-1)) << n
	n += uint32(log)
	acc |= 1 << n
	binary.LittleEndian.PutUint64(out[at:], acc)
	return out[:at+int(n>>3)+1]
}
