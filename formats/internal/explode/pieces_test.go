package explode

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// digest is a hash of all that the parts say.
func digest(t testing.TB, x *Exploder) (sum [32]byte, runs int) {
	t.Helper()
	h := sha256.New()
	for i := range x.Parts() {
		part, n := digestPart(t, x, i)
		h.Write(part[:])
		runs += n
	}
	return [32]byte(h.Sum(nil)), runs
}

func digestPart(t testing.TB, x *Exploder, i int) (sum [32]byte, runs int) {
	t.Helper()
	h := sha256.New()
	var b []byte
	_, err := x.Part(context.Background(), i, func(r *symbol.Run) error {
		runs++
		for k, v := range r.Ranges {
			b = binary.BigEndian.AppendUint64(b[:0], v.Start)
			b = binary.BigEndian.AppendUint64(b, v.End)
			for _, f := range r.Chain(k, nil) {
				b = append(append(append(append(b, f.Linkage...), 0), f.File...), 0)
				b = binary.BigEndian.AppendUint32(b, f.Line)
				b = binary.BigEndian.AppendUint32(b, f.Column)
			}
			h.Write(b)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return [32]byte(h.Sum(nil)), runs
}

// TestPieces reads a unit too large to be held, in windows, with entries that
// are longer than their margin and longer than a window.
func TestPieces(t *testing.T) {
	build := func() *debug {
		d := newDebug(4, 4, 8, false)
		d.usual()
		d.decl(20, 0x34, false, 0x1c, fBlock, aName, fString) // a variable with a value
		d.decl(21, tSub, false, 0x1c, fBlock, aName, fStrp, aLow, fAddr, aHigh, fData4)
		d.str.str("name")
		lines := d.program(func(w *writer) {
			w.set(0x1000)
			for range 40000 { // more than a window, too
				w.row(4, 1, 1, 1).row(4, 2, 1, 2)
			}
			w.end()
			w.set(0x90000).row(0, 1, 1, 0)
			for range 5 << 18 {
				w.u8(9).u16(0).u8(10, 11, 6, 7) // advances by nothing, sets flags
			}
			w.row(8, 1, 1, 0).end()
		})
		d.unit(func(w *writer, start uint64) {
			w.head(langCPP, lines, 0x1000, 0x100000)
			g := w.at() - start
			w.u8(cDecl).str("g").u8(0)
			low := uint64(0x1000)
			for i := range 20000 {
				size := 500
				switch i {
				case 5000:
					size = 300 << 10
				case 10000:
					size = 6 << 20
				}
				if i%100 == 0 {
					w.u8(cStruct).str("S")
				}
				w.u8(20).uleb(uint64(size)).u8(make([]byte, size)...).str("v")
				w.function(cFunc, "f", low, low+16).inline(g, low+4, low+8, 1, 3).u8(0, 0)
				low += 16
				if i%100 == 99 {
					w.u8(0)
				}
			}
			w.u8(21).uleb(5 << 20).u8(make([]byte, 5<<20)...).u32(1).address(0x90000).u32(8)
			w.u8(0)
		})
		d.abbrev.u8(0)
		return d
	}
	whole, pieces := build(), build()
	pieces.unmapped = true
	want, runs := digest(t, whole.open(t))
	if got, n := digest(t, pieces.open(t)); got != want || n != runs || runs < 20001 {
		t.Errorf("%d runs from pieces, %d from the whole: %x, %x", n, runs, got, want)
	}
}

// TestConcurrent explodes all parts at once and in turn.
func TestConcurrent(t *testing.T) {
	o := openObject(t, formattest.Fixture(t, "elf/symbolic/cross_language_lto.debug"), true)
	x := o.exploder(t)
	want := make([][32]byte, x.Parts())
	for i := range want {
		want[i], _ = digestPart(t, x, i)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for k := range want {
				i := (k*(w+1) + w) % len(want)
				if got, _ := digestPart(t, x, i); got != want[i] {
					t.Errorf("part %d differs", i)
				}
			}
		})
	}
	wg.Wait()
}

// TestPiecesFile does the same for the file that benchFile names, else for one of
// testdata, and tells that exploding it again says the same.
func TestPiecesFile(t *testing.T) {
	path := fileToTry(t)
	o := openMapped(t, path)
	want, runs := digest(t, o.exploder(t))
	if again, n := digest(t, o.exploder(t)); again != want || n != runs {
		t.Errorf("again: %d runs, %d before", n, runs)
	}
	in := openObject(t, path, false)
	begin := userTime()
	if got, n := digest(t, in.exploder(t)); got != want || n != runs {
		t.Errorf("%d runs from pieces, %d from the whole", n, runs)
	}
	t.Logf("%d runs; from pieces in %v", runs, userTime()-begin)
}
