package entropy

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/huff0"
)

// Another implementation decodes a column coded here, and codes it hardly shorter.
func TestHuffEncoder(t *testing.T) {
	raw, _ := coded(t)
	text := bytes.Repeat([]byte("_ZN7symlake3row11compressor6columnE"), 3)
	for n := 32; n < len(text); n++ {
		raw = append(raw, text[:n])
	}
	all := make([]byte, 20_000) // each value, the last ones a thousand times as often as the first
	for i := range all {
		all[i] = byte(i % (i%509 + 1))
	}
	raw = append(raw, all, all[:1000])
	theirs := huff0.Scratch{Reuse: huff0.ReusePolicyNone}
	var e Encoder
	own, other, both := 0, 0, 0
	for _, b := range raw {
		out := checkHuff(t, &e, b)
		in, _, err := huff0.Compress4X(b, &theirs)
		if err == nil && out == nil && len(in)+4 < len(b) {
			t.Errorf("%d bytes are not coded, which %d would do for", len(b), len(in))
		}
		if err == nil && out != nil {
			own, other, both = own+len(out), other+len(in), both+1
		}
	}
	if both < 100 || own > other+other/500 {
		t.Errorf("%d columns take %d bytes, not %d", both, own, other)
	}
}

// checkHuff codes b and decodes that. b has two values at least; nil: it is not shorter.
func checkHuff(t *testing.T, e *Encoder, b []byte) []byte {
	t.Helper()
	var h Histogram
	h.Count(b)
	out := e.Huffman(b, &h)
	if out == nil {
		return nil
	}
	if len(out) >= len(b) {
		t.Fatalf("%d bytes of %d", len(out), len(b))
	}
	table, rest, err := huff0.ReadTable(out, nil)
	if err != nil {
		t.Fatalf("%d bytes of %d: %v", len(b), len(out), err)
	}
	got, err := table.Decoder().Decompress4X(make([]byte, 0, len(b)), rest)
	if err != nil || !bytes.Equal(got, b) {
		t.Fatalf("%d bytes of %d: %v, or they differ", len(b), len(out), err)
	}
	return out
}

func FuzzHuffEncoder(f *testing.F) {
	raw, _ := coded(f)
	for _, b := range raw {
		if len(b) <= 1003 {
			f.Add(b)
		}
	}
	var e Encoder
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 32 && len(b) <= 128<<10 && bytes.Count(b, b[:1]) < len(b) {
			checkHuff(t, &e, b)
		}
	})
}
