package hfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// BloomKind says which part of a row a Bloom filter holds. The zero value is no filter.
type BloomKind uint8

// Kinds of Bloom filters, by HBase's names.
const (
	BloomNone      BloomKind = iota // NONE
	BloomRow                        // ROW: whole rows
	BloomRowPrefix                  // ROWPREFIX_FIXED_LENGTH: the first Prefix bytes of rows
)

// Bloom says which Bloom filter a file gets. A reader asks it whether the file can hold a key.
type Bloom struct {
	Kind   BloomKind
	Prefix int // bytes, 1 to 32767; BloomRowPrefix only
	// ErrorRate is the share of absent keys that may pass, above 0 and below 1. 0: HBase's default, 0.01.
	ErrorRate float64
}

func (b Bloom) String() string {
	switch b.Kind {
	case BloomNone:
		return "NONE"
	case BloomRow:
		return "ROW"
	case BloomRowPrefix:
		return "ROWPREFIX_FIXED_LENGTH"
	}
	return fmt.Sprintf("Bloom filter %d", b.Kind)
}

// check returns an error if HBase has no such filter.
func (b Bloom) check() error {
	switch {
	case b.Kind > BloomRowPrefix:
		return fmt.Errorf("hfile: %s: want a kind from 0 to %d", b, BloomRowPrefix)
	case b.Kind == BloomRowPrefix && (b.Prefix < 1 || b.Prefix > maxRow):
		return fmt.Errorf("hfile: %s: a prefix of %d bytes: want 1 to %d", b, b.Prefix, maxRow)
	case b.ErrorRate < 0 || b.ErrorRate >= 1 || math.IsNaN(b.ErrorRate):
		return fmt.Errorf("hfile: %s: error rate %v: want above 0 and below 1", b, b.ErrorRate)
	}
	return nil
}

const (
	defaultErrorRate = 0.01
	bloomVersion     = 3 // of HBase's compound filter
	murmur           = 1 // HBase's number of the hash
	// bloomChunk is a chunk's bytes before it is folded: a power of two.
	bloomChunk = 128 << 10
)

// bloomShape is what all chunks of a filter share.
type bloomShape struct {
	hashes  int
	maxKeys int // of a chunk that is not folded
}

// shape sizes the chunks for an error rate, in the same arithmetic as HBase.
func (b Bloom) shape() bloomShape {
	rate := float64(float32(b.ErrorRate)) // HBase's setting is a float
	if b.ErrorRate == 0 {
		rate = float64(float32(defaultErrorRate))
	}
	const bits = 8 * bloomChunk
	ideal := max(1, int(bits*(math.Ln2*math.Ln2/-math.Log(rate))))
	hashes := max(1, int(math.Ceil(math.Ln2*float64(bits/ideal))))
	return bloomShape{hashes, max(1, int(-float64(bits)/float64(hashes)*math.Log(1-math.Exp(math.Log(rate)/float64(hashes)))))}
}

// bloomPart is a chunk of a filter: a Bloom filter of its own for consecutive keys.
type bloomPart struct {
	first []byte // key
	bits  []byte
	keys  int
	max   int // keys
}

// add sets the bits of a key.
func (p *bloomPart) add(key []byte, hashes int) {
	h1, h2 := bloomHashes(key)
	n := int64(8 * len(p.bits))
	for range hashes {
		at := int64(h1)
		if at < 0 {
			at = -at
		}
		at &= n - 1 // HBase divides, which is the same: n is a power of two
		p.bits[at/8] |= 1 << (at % 8)
		h1 += h2
	}
	p.keys++
}

// fold halves a chunk as long as its keys fit into half of it. No key gets lost.
func (p *bloomPart) fold() {
	for len(p.bits)&1 == 0 && p.max > 2*p.keys {
		half := len(p.bits) / 2
		for i, b := range p.bits[half:] {
			p.bits[i] |= b
		}
		p.bits, p.max = p.bits[:half], p.max/2
	}
}

// bloomHashes are the two hashes that a key's bits come from.
func bloomHashes(key []byte) (h1, h2 int32) {
	h1 = murmur2(key, 0)
	return h1, murmur2(key, h1)
}

// murmur2 is MurmurHash 2 as HBase has it: bytes of the tail are signed.
func murmur2(key []byte, seed int32) int32 {
	const m = 0x5bd1e995
	h := uint32(seed) ^ uint32(len(key))
	for ; len(key) >= 4; key = key[4:] {
		k := binary.LittleEndian.Uint32(key) * m
		k ^= k >> 24
		h = h*m ^ k*m
	}
	if len(key) > 0 {
		for i := len(key) - 1; i >= 0; i-- {
			h ^= uint32(int32(int8(key[i]))) << (8 * i)
		}
		h *= m
	}
	h ^= h >> 13
	h *= m
	h ^= h >> 15
	return int32(h)
}

// bloomWriter collects the keys of a file in chunks. The file writes a full chunk behind the data block
// during which it filled. Memory is one chunk of 128 KiB, or two.
type bloomWriter struct {
	Bloom
	shape bloomShape

	part  *bloomPart
	ready []*bloomPart
	spare []byte // bits of a chunk that was written
	last  []byte // key
	index chunk

	parts, keys, maxKeys, bytes uint64 // of the chunks that are ready or written; keys: of all
	prev                        int64  // offset of the chunk before
}

func newBloomWriter(b Bloom) *bloomWriter { return &bloomWriter{Bloom: b, shape: b.shape(), prev: -1} }

// add adds the key of a row. Rows ascend, so equal keys follow each other.
func (w *bloomWriter) add(row []byte) {
	key := row
	if w.Kind == BloomRowPrefix {
		key = row[:min(len(row), w.Prefix)]
	}
	if w.keys > 0 && string(key) == string(w.last) {
		return
	}
	w.enqueue(false)
	if w.part == nil {
		bits := w.spare
		w.spare = nil
		if bits == nil {
			bits = make([]byte, bloomChunk)
		}
		w.part = &bloomPart{first: append([]byte(nil), key...), bits: bits, max: w.shape.maxKeys}
		w.parts++
	}
	w.part.add(key, w.shape.hashes)
	w.keys++
	w.last = append(w.last[:0], key...)
}

// enqueue makes the chunk ready if it is full, or if closing says that no key follows.
func (w *bloomWriter) enqueue(closing bool) {
	p := w.part
	if p == nil || p.keys < p.max && !closing {
		return
	}
	p.fold()
	w.maxKeys += uint64(p.max)
	w.bytes += uint64(len(p.bits))
	w.ready, w.part = append(w.ready, p), nil
}

// written notes where a ready chunk stands in the file, and takes its memory back.
func (w *bloomWriter) written(p *bloomPart, off int64, size uint32) {
	w.index.add(entry{p.first, off, size})
	w.prev = off
	if cap(p.bits) >= bloomChunk {
		w.spare = p.bits[:bloomChunk]
		clear(w.spare)
	}
}

// appendMeta appends the payload of the block that describes the filter:
//
//	u32 version 3 | u64 bytes | u32 hashes | u32 hash 1 | u64 keys | u64 keys that fit | u32 chunks |
//	vint 0 (comparator: bytes) | root index of the chunks
func (w *bloomWriter) appendMeta(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, bloomVersion)
	b = binary.BigEndian.AppendUint64(b, w.bytes)
	b = binary.BigEndian.AppendUint32(b, uint32(w.shape.hashes))
	b = binary.BigEndian.AppendUint32(b, murmur)
	b = binary.BigEndian.AppendUint64(b, w.keys)
	b = binary.BigEndian.AppendUint64(b, w.maxKeys)
	b = binary.BigEndian.AppendUint32(b, uint32(w.parts))
	b = append(b, 0)
	return w.index.appendRoot(b)
}

// info is what the file info says of the filter.
func (w *bloomWriter) info() []pair {
	list := []pair{{"BLOOM_FILTER_TYPE", []byte(w.String())}, {"LAST_BLOOM_KEY", w.last}}
	if w.Kind == BloomRowPrefix {
		list = append(list, pair{"BLOOM_FILTER_PARAM", u32(uint64(w.Prefix))})
	}
	return list
}
