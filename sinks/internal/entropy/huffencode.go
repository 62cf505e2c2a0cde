package entropy

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// huffEncoder codes columns with Huffman codes as zstd has them for literals (RFC 8878, 4.2): the description of the codes by
// their weights, the lengths of three streams, and four streams. It is ready with an encoder of weights.
type huffEncoder struct {
	places  [huffBuckets]int16
	sorted  [256]uint32 // count << 8 + value, of values that occur, the rarest first
	nodes   [256]uint32 // see measure
	lengths [32]int     // by length of a code: how many have it
	weights [256]byte   // by value: 0 does not occur; else the longest code's length + 1 - its own
	codes   [256]uint32 // by value: code << 4 + its length
	out     []byte
}

const (
	// huffMostBits is the longest that a code may be.
	huffMostBits = 11
	huffBuckets  = 256
	huffStreams  = 4
	// A description has weights in halves of bytes, behind a byte that is their number and this less one; or coded with finite
	// state entropy, behind their length, which is less than this.
	huffPlain = 128
	// huffCoded is the number of weights from which on their table may pay.
	huffCoded = 32
)

// encode codes raw. counts[v] is how often the value v occurs in it, to the highest value; two values
// occur at least. weights codes the description. The result is valid until the next call; nil: it
// would not be shorter than raw.
func (e *huffEncoder) encode(raw []byte, counts []uint32, values int, weights *fseEncoder) []byte {
	longest := min(max(bits.Len(uint(len(raw)-1))-2, bits.Len(uint(values))+1), huffMostBits)
	sorted := e.sort(counts, values)
	e.measure(sorted)
	longest = e.limit(longest)
	total := e.assign(sorted, counts, longest)
	head := e.describe(e.out[:0], e.weights[:len(counts)-1], weights)
	at := len(head) + 2*(huffStreams-1)
	size := at + total/8 + huffStreams
	if head == nil || size >= len(raw) {
		return nil
	}
	out := slices.Grow(head, size+8-len(head))
	e.out = out
	out = out[:cap(out)]
	quarter := (len(raw) + huffStreams - 1) / huffStreams
	for i := range huffStreams {
		end := e.stream(out, at, raw[min(i*quarter, len(raw)):min((i+1)*quarter, len(raw))])
		if i < huffStreams-1 {
			binary.LittleEndian.PutUint16(out[len(head)+2*i:], uint16(end-at))
		}
		at = end
	}
	return out[:at]
}

// bucket is a place for values of that count: values of one place have nearly the same count.
func bucket(n uint32) int {
	if n < 64 {
		return int(n)
	}
	l := bits.Len32(n)
	return l<<3 + int(n>>(l-4)&7) + 64 - 7<<3
}

// sort fills sorted.
func (e *huffEncoder) sort(counts []uint32, values int) []uint32 {
	clear(e.places[:])
	for _, n := range counts {
		e.places[bucket(n)]++
	}
	at := -int(e.places[0]) // values that do not occur
	for i, n := range e.places {
		e.places[i] = int16(at)
		at += int(n)
	}
	for v, n := range counts {
		if n != 0 {
			place := &e.places[bucket(n)]
			e.sorted[uint8(*place)] = n<<8 + uint32(v)
			*place++
		}
	}
	sorted := e.sorted[:values]
	for i := 1; i < len(sorted); i++ {
		x, j := sorted[i], i
		for ; j > 0 && sorted[j-1] > x; j-- {
			sorted[j] = sorted[j-1]
		}
		sorted[j] = x
	}
	return sorted
}

// measure fills lengths, by length how many codes have it, so that all codes together are shortest. It
// works in place, as Moffat and Katajainen do: a node is first the sum of its counts, then its parent,
// then its depth.
func (e *huffEncoder) measure(sorted []uint32) {
	n := len(sorted)
	nodes := e.nodes[:n-1]
	leaf, root := 0, 0
	for next := range nodes {
		sum := uint32(0)
		for range 2 {
			if root < next && (leaf == n || nodes[root] < sorted[leaf]>>8) {
				sum += nodes[root]
				nodes[root] = uint32(next)
				root++
			} else {
				sum += sorted[leaf] >> 8
				leaf++
			}
		}
		nodes[next] = sum
	}
	clear(e.lengths[:])
	last := len(nodes) - 1
	nodes[last] = 0
	for i := last - 1; i >= 0; i-- {
		nodes[i] = nodes[nodes[i]] + 1
	}
	places := 1 // at a depth: some are nodes, the others leaves
	for depth := 0; places > 0; depth++ {
		inner := 0
		for last >= 0 && int(nodes[last]) == depth {
			inner++
			last--
		}
		e.lengths[min(depth, len(e.lengths)-1)] += places - inner
		places = 2 * inner
	}
}

// limit makes no code longer than longest bits; there are codes enough of that length. It returns the
// length of the longest codes.
func (e *huffEncoder) limit(longest int) int {
	for l := longest + 1; l < len(e.lengths); l++ {
		e.lengths[longest] += e.lengths[l]
		e.lengths[l] = 0
	}
	taken := 0 // of the codes of longest bits
	for l, n := range e.lengths[:longest+1] {
		taken += n << (longest - l)
	}
	for ; taken > 1<<longest; taken-- { // one of them goes where one bit more is put to a shorter one
		l := longest - 1
		for e.lengths[l] == 0 {
			l--
		}
		e.lengths[longest]--
		e.lengths[l]--
		e.lengths[l+1] += 2
	}
	for e.lengths[longest] == 0 {
		longest--
	}
	return longest
}

// assign fills weights and codes, and gives how many bits all of the column takes.
func (e *huffEncoder) assign(sorted, counts []uint32, longest int) (total int) {
	clear(e.weights[:len(counts)])
	at := 0
	var next [huffMostBits + 1]uint32
	start := uint32(0)
	for l := longest; l > 0; l-- {
		n := e.lengths[l]
		for _, x := range sorted[at : at+n] {
			e.weights[uint8(x)] = byte(longest + 1 - l)
			total += int(x>>8) * l
		}
		at += n
		next[l] = start
		start = (start + uint32(n)) >> 1
	}
	for v, w := range e.weights[:len(counts)] {
		if w != 0 {
			l := uint32(longest) + 1 - uint32(w)
			e.codes[v] = next[l]<<4 | l
			next[l]++
		}
	}
	return total
}

// describe appends the description of codes by the weights, but for the last one, which the others tell; nil: they cannot be said.
func (e *huffEncoder) describe(dst, weights []byte, coder *fseEncoder) []byte {
	plain := (len(weights) + 1) / 2
	if len(weights) >= huffCoded {
		var counts [huffMostBits + 1]uint32
		for _, w := range weights {
			counts[w]++
		}
		values, highest := 0, 0
		for w, n := range counts {
			if n != 0 {
				values, highest = values+1, w
			}
		}
		if values > 1 {
			if out := coder.encode(weights, counts[:highest+1], values); len(out) < min(plain, huffPlain) {
				return append(append(dst, byte(len(out))), out...)
			}
		}
	}
	if len(weights) > huffPlain {
		return nil
	}
	dst = append(dst, byte(huffPlain-1+len(weights)))
	for i := 0; i < len(weights); i += 2 {
		b := weights[i] << 4
		if i+1 < len(weights) {
			b |= weights[i+1]
		}
		dst = append(dst, b)
	}
	return dst
}

// stream writes the codes of raw to out[at:], from the last to the first, and gives where they end.
func (e *huffEncoder) stream(out []byte, at int, raw []byte) int {
	acc, n := uint64(0), uint32(0)
	i := len(raw)
	for ; i >= 4; i -= 4 { // they take 44 bits at most, and 7 may be left
		four := raw[i-4 : i : i]
		c3, c2, c1, c0 := e.codes[four[3]], e.codes[four[2]], e.codes[four[1]], e.codes[four[0]]
		acc |= uint64(c3>>4) << (n & 63)
		n += c3 & 15
		acc |= uint64(c2>>4) << (n & 63)
		n += c2 & 15
		acc |= uint64(c1>>4) << (n & 63)
		n += c1 & 15
		acc |= uint64(c0>>4) << (n & 63)
		n += c0 & 15
		binary.LittleEndian.PutUint64(out[at:], acc)
		at += int(n >> 3)
		acc >>= n &^ 7 & 63
		n &= 7
	}
	for ; i > 0; i-- {
		c := e.codes[raw[i-1]]
		acc |= uint64(c>>4) << n
		n += c & 15
	}
	acc |= 1 << n // ends the stream
	binary.LittleEndian.PutUint64(out[at:], acc)
	return at + int(n>>3) + 1
}
