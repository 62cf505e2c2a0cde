package entropy

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A column coded with finite state entropy is what zstd has for its tables and sequences (RFC 8878, 4.1), but for
// whole bytes: the description of a table, and a stream that is read from its end. Two states take turns; they were
// begun with the two bytes that stand last, which take no bits.

const (
	fseLeastLog = 5
	fseMostLog  = 12 // the coder's tables have 2^11 states at most
	fseValues   = 256
)

var errFSE = errors.New("want a table and a stream of finite state entropy")

// fseState is what a state stands for: its byte, how many bits lead on from it (8 bits from the 8th on), and the state that
// they are added to (from the 16th on).
type fseState uint32

// fseDecoder decodes such columns. The zero value is ready.
type fseDecoder struct {
	norm   [fseValues]int16 // by byte: its states; -1: one, with a whole reset
	next   [fseValues]uint16
	states [1 << fseMostLog]fseState
}

// decode fills dst with what in stands for, which must be used up.
func (d *fseDecoder) decode(dst, in []byte) error {
	log, in, err := d.table(in)
	if err != nil {
		return err
	}
	if len(dst) < 2 || len(in) == 0 || in[len(in)-1] == 0 {
		return errFSE
	}
	// left is how many bits are still to be read: those below the highest one of the last byte.
	left := 8*len(in) - 8 + bits.Len8(in[len(in)-1]) - 1
	if left < 2*log {
		return errFSE
	}
	const mask = 1<<fseMostLog - 1
	v := fseBits(in, left)
	a, b := uint32(v>>(64-log)), uint32(v<<log>>(64-log))
	left -= 2 * log
	i, last := 0, len(dst)-2
	for ; i+4 <= last && left >= 64; i += 4 { // four take 48 bits at most
		end := (left + 7) >> 3
		v := binary.LittleEndian.Uint64(in[end-8:end]) << (end*8 - left)
		s := d.states[a&mask]
		dst[i] = byte(s)
		n := s >> 8 & 15
		used := n
		a = uint32(s>>16) + uint32(v>>1>>(63-n))
		v <<= n
		s = d.states[b&mask]
		dst[i+1] = byte(s)
		n = s >> 8 & 15
		used += n
		b = uint32(s>>16) + uint32(v>>1>>(63-n))
		v <<= n
		s = d.states[a&mask]
		dst[i+2] = byte(s)
		n = s >> 8 & 15
		used += n
		a = uint32(s>>16) + uint32(v>>1>>(63-n))
		v <<= n
		s = d.states[b&mask]
		dst[i+3] = byte(s)
		n = s >> 8 & 15
		used += n
		b = uint32(s>>16) + uint32(v>>1>>(63-n))
		left -= int(used)
	}
	for ; i < last; i++ {
		s := d.states[a&mask]
		n := int(s >> 8 & 15)
		if n > left {
			return errFSE
		}
		dst[i] = byte(s)
		a, b = b, uint32(s>>16)+uint32(fseBits(in, left)>>1>>(63-n))
		left -= n
	}
	if left != 0 {
		return errFSE
	}
	dst[last], dst[last+1] = byte(d.states[a&mask]), byte(d.states[b&mask])
	return nil
}

// fseBits gives the bits that come next when left are to be read of in, the first one highest: 57 of them at least, or all,
// and zeros behind them.
func fseBits(in []byte, left int) uint64 {
	end := (left + 7) >> 3
	if end >= 8 {
		return binary.LittleEndian.Uint64(in[end-8:end]) << (end*8 - left)
	}
	var few [8]byte
	copy(few[8-end:], in[:end])
	return binary.LittleEndian.Uint64(few[:]) << (end*8 - left)
}

// table reads the description of a table and makes it; rest is the stream behind.
func (d *fseDecoder) table(in []byte) (log int, rest []byte, err error) {
	at := 0 // in bits, from the lowest one of the first byte on
	peek := func(n int) int {
		var b [4]byte
		copy(b[:], in[min(at>>3, len(in)):])
		return int(binary.LittleEndian.Uint32(b[:]) >> (at & 7) & (1<<n - 1))
	}
	log = peek(4) + fseLeastLog
	if at = 4; log > fseMostLog {
		return 0, nil, errFSE
	}
	clear(d.norm[:])
	values := 0
	for left := 1 << log; left > 0; {
		if values >= fseValues {
			return 0, nil, errFSE
		}
		// A number up to left + 1 takes one bit less if it is among the spare lowest ones.
		n := bits.Len(uint(left + 1))
		spare := 1<<n - 2 - left
		v := peek(n)
		if low := v & (1<<(n-1) - 1); low < spare {
			v = low
			at += n - 1
		} else {
			if v > 1<<(n-1)-1 {
				v -= spare
			}
			at += n
		}
		d.norm[values] = int16(v - 1)
		values++
		switch {
		case v == 0:
			left--
		case v > 1:
			left -= v - 1
		default: // no states: how many values more have none follows
			for more := 3; more == 3; {
				more = peek(2)
				at += 2
				values += more
				if values > fseValues {
					return 0, nil, errFSE
				}
			}
		}
	}
	at = (at + 7) >> 3
	if at > len(in) {
		return 0, nil, errFSE
	}
	d.spread(log, values)
	return log, in[at:], nil
}

// spread gives the states to the values, and finds what leads where. The numbers of states add up to those there are.
func (d *fseDecoder) spread(log, values int) {
	size := 1 << log
	high := size - 1 // values with a whole reset have the last states
	for v, n := range d.norm[:values] {
		d.next[v] = uint16(max(n, 1))
		if n < 0 {
			d.states[high] = fseState(v)
			high--
		}
	}
	spreadStates(d.states[:size], d.norm[:values], high)
	for i, v := range d.states[:size] {
		next := d.next[v]
		d.next[v]++
		n := log + 1 - bits.Len16(next)
		d.states[i] |= fseState(n<<8) | fseState(int(next)<<n-size)<<16
	}
}

// spreadStates gives the states up to high to the values that norm has states for: all but those with a whole reset, which stand behind.
// There are a power of 2 of states.
func spreadStates[T fseState | byte](states []T, norm []int16, high int) {
	size := len(states)
	at, step := 0, size>>1+size>>3+3
	for v, n := range norm {
		for range n {
			states[at] = T(v)
			for at = (at + step) & (size - 1); at > high; {
				at = (at + step) & (size - 1)
			}
		}
	}
}
