package entropy

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/fse"
)

// coded gives columns of several shapes, and what the coder makes of them.
func coded(t testing.TB) (raw, coded [][]byte) {
	r := rand.New(rand.NewPCG(4, 5))
	var s fse.Scratch
	for _, size := range []int{3, 4, 5, 33, 64, 100, 1000, 1001, 1002, 1003, 65536, 100_000} {
		for _, values := range []int{2, 3, 5, 17, 256} {
			for _, skew := range []int{1, 2, 8, 60} {
				b := make([]byte, size)
				for i := range b {
					if r.IntN(skew) == 0 {
						b[i] = byte(r.IntN(values) * (255 / (values - 1)))
					}
				}
				if out, err := fse.Compress(b, &s); err == nil {
					raw, coded = append(raw, b), append(coded, bytes.Clone(out))
				}
			}
		}
	}
	return raw, coded
}

// What another implementation codes decodes, to exactly its length.
func TestFSE(t *testing.T) {
	var d fseDecoder
	raw, coded := coded(t)
	if len(raw) < 100 {
		t.Fatalf("%d columns", len(raw))
	}
	for i, in := range coded {
		got := make([]byte, len(raw[i]))
		if err := d.decode(got, in); err != nil || !bytes.Equal(got, raw[i]) {
			t.Fatalf("%d bytes of %d: %v, or they differ", len(raw[i]), len(in), err)
		}
		if d.decode(got, in[:len(in)-1]) == nil && bytes.Equal(got, raw[i]) {
			t.Fatalf("%d bytes: a stream that is cut decodes to all", len(raw[i]))
		}
	}
}

// No bytes in place of a column make the decoder reach beyond it, and a coded column comes back.
func FuzzFSE(f *testing.F) {
	raw, coded := coded(f)
	for i := range coded {
		if len(raw[i]) <= 1000 {
			f.Add(coded[i], uint16(len(raw[i])))
			f.Add(raw[i], uint16(0))
		}
	}
	var d fseDecoder
	var s fse.Scratch
	f.Fuzz(func(t *testing.T, data []byte, size uint16) {
		d.decode(make([]byte, size), data)
		in, err := fse.Compress(data, &s)
		if err != nil {
			return
		}
		got := make([]byte, len(data))
		if err := d.decode(got, in); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes of %d: %v, or they differ", len(data), len(in), err)
		}
	})
}

// A column coded here decodes, also by another implementation, and is hardly longer than that one's.
func TestFSEEncoder(t *testing.T) {
	raw, coded := coded(t)
	var e fseEncoder
	ours, theirs := 0, 0
	for i, b := range raw {
		ours += len(checkFSE(t, &e, b))
		theirs += len(coded[i])
	}
	if ours > theirs+theirs/1000 {
		t.Errorf("%d bytes, not %d", ours, theirs)
	}
}

// checkFSE codes b and decodes that twice. b has two values at least.
func checkFSE(t *testing.T, e *fseEncoder, b []byte) []byte {
	t.Helper()
	var h Histogram
	h.Count(b)
	out := e.encode(b, h.Counts, h.Values)
	var d fseDecoder
	got := make([]byte, len(b))
	if err := d.decode(got, out); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("%d bytes of %d: %v, or they differ", len(b), len(out), err)
	}
	var s fse.Scratch
	if got, err := fse.Decompress(out, &s); err != nil || !bytes.Equal(got, b) {
		t.Fatalf("another implementation: %d bytes of %d: %v, or they differ", len(b), len(out), err)
	}
	return out
}

func FuzzFSEEncoder(f *testing.F) {
	raw, _ := coded(f)
	for _, b := range raw {
		if len(b) <= 1003 {
			f.Add(b)
		}
	}
	var e fseEncoder
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2 && bytes.Count(b, b[:1]) < len(b) {
			checkFSE(t, &e, b)
		}
	})
}

func BenchmarkFSE(b *testing.B) {
	r := rand.New(rand.NewPCG(4, 5))
	raw := make([]byte, 32<<10)
	for i := range raw {
		if r.IntN(3) == 0 {
			raw[i] = byte(r.ExpFloat64() * 4)
		}
	}
	var s fse.Scratch
	in, err := fse.Compress(raw, &s)
	if err != nil {
		b.Fatal(err)
	}
	in = bytes.Clone(in)
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		var d fseDecoder
		for b.Loop() {
			if err := d.decode(raw, in); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("klauspost", func(b *testing.B) {
		b.SetBytes(int64(len(raw)))
		var s fse.Scratch
		out := make([]byte, 0, len(raw))
		for b.Loop() {
			s.Out, s.DecompressLimit = out, cap(out)
			if _, err := fse.Decompress(in, &s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
