package hfile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// filter is a Bloom filter as a file has it.
type filter struct {
	hashes int
	keys   uint64
	chunks []child // row: the first key
	file   []byte
}

// readFilter finds the filter of a file; nil if it has none.
func readFilter(t testing.TB, file []byte) *filter {
	t.Helper()
	r := open(t, file)
	at := int64(r.t.infoOffset)
	n, _ := blockBytes(file[at:])
	if at += n; at == int64(len(file))-trailerBytes {
		return nil
	}
	n, _ = blockBytes(file[at:])
	b, err := openBlock(file[at:at+n], "Bloom filter", magicBloomMeta, at)
	if err != nil {
		t.Fatal(err)
	}
	f := &filter{hashes: int(binary.BigEndian.Uint32(b[12:])), keys: binary.BigEndian.Uint64(b[20:]), file: file}
	count := binary.BigEndian.Uint32(b[36:])
	for b = b[41:]; len(b) > 0; {
		n, size := vint(b[12:])
		end := 12 + size + int(n)
		f.chunks = append(f.chunks, child{b[12+size : end], int64(binary.BigEndian.Uint64(b)), int64(binary.BigEndian.Uint32(b[8:]))})
		b = b[end:]
	}
	if len(f.chunks) != int(count) {
		t.Fatalf("%d chunks, the filter says %d", len(f.chunks), count)
	}
	return f
}

// holds reports whether a key passes.
func (f *filter) holds(t testing.TB, key []byte) bool {
	t.Helper()
	i := len(f.chunks) - 1
	for i >= 0 && bytes.Compare(f.chunks[i].row, key) > 0 {
		i--
	}
	if i < 0 {
		return false
	}
	c := f.chunks[i]
	bits, err := openBlock(f.file[c.off:c.off+c.size], "Bloom chunk", magicBloom, c.off)
	if err != nil {
		t.Fatal(err)
	}
	p := &bloomPart{bits: bytes.Clone(bits)}
	p.add(key, f.hashes)
	return bytes.Equal(p.bits, bits)
}

// bloomKeys are the keys of a file's filter.
func bloomKeys(list []Cell, b Bloom) (keys [][]byte) {
	for _, c := range list {
		key := c.Row
		if b.Kind == BloomRowPrefix {
			key = key[:min(len(key), b.Prefix)]
		}
		if n := len(keys); n == 0 || !bytes.Equal(keys[n-1], key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// TestBloom: every key of a file passes its filter, and absent keys pass as often as promised.
func TestBloom(t *testing.T) {
	for _, s := range shapes {
		s.o.Created = made
		list := rows(s.rows, s.value, 7)
		f := readFilter(t, write(t, list, s.o))
		if (f != nil) != (s.o.Bloom.Kind != BloomNone) {
			t.Fatalf("%s: filter %v", s.name, f)
		}
		if f == nil {
			continue
		}
		keys := bloomKeys(list, s.o.Bloom)
		if f.keys != uint64(len(keys)) {
			t.Errorf("%s: %d keys, want %d", s.name, f.keys, len(keys))
		}
		for i := 0; i < len(keys); i += 1 + len(keys)/500 {
			if !f.holds(t, keys[i]) {
				t.Fatalf("%s: key %x of the file does not pass", s.name, keys[i])
			}
		}
		rng := rand.New(rand.NewPCG(9, 9))
		const tries = 2000
		passed := 0
		for range tries {
			key := bytes.Clone(keys[rng.IntN(len(keys))])
			binary.BigEndian.PutUint64(key[len(key)-8:], rng.Uint64())
			if f.holds(t, key) {
				passed++
			}
		}
		rate := s.o.Bloom.ErrorRate
		if rate == 0 {
			rate = defaultErrorRate
		}
		if float64(passed) > tries*rate*1.3+8 {
			t.Errorf("%s: %d of %d absent keys pass, promised are %v", s.name, passed, tries, rate)
		}
	}
}

func TestBloomRefuses(t *testing.T) {
	for _, b := range []Bloom{{Kind: 9}, {Kind: BloomRowPrefix}, {Kind: BloomRowPrefix, Prefix: 1 << 15}, {Kind: BloomRow, ErrorRate: 1}, {Kind: BloomRow, ErrorRate: -1}} {
		if err := NewWriter(&bytes.Buffer{}, Options{Bloom: b}).Append([]byte("a"), nil); err == nil {
			t.Errorf("%+v was taken", b)
		}
	}
}

// FuzzBloom checks that each key of a filter passes, at any error rate.
func FuzzBloom(f *testing.F) {
	f.Add([]byte("a\x00bc\x00\xff\x80\x81\x00"), uint8(4), float32(0.01))
	f.Add(bytes.Repeat([]byte{0xfe, 0}, 300), uint8(1), float32(0.9))
	f.Fuzz(func(t *testing.T, text []byte, prefix uint8, rate float32) {
		o := Bloom{Kind: BloomRowPrefix, Prefix: int(prefix), ErrorRate: float64(rate)}
		if o.check() != nil {
			return
		}
		w := newBloomWriter(o)
		var keys [][]byte
		for _, key := range bytes.Split(text, []byte{0}) {
			if len(key) > 0 {
				w.add(key)
				keys = append(keys, key[:min(len(key), int(prefix))])
			}
		}
		w.enqueue(true)
		for _, key := range keys {
			held := false
			for _, p := range w.ready {
				q := &bloomPart{bits: bytes.Clone(p.bits)}
				q.add(key, w.shape.hashes)
				held = held || bytes.Equal(p.bits, q.bits)
			}
			if !held {
				t.Fatalf("key %x does not pass", key)
			}
		}
	})
}
