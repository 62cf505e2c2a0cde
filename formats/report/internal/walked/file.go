package walked

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sort"
)

// File is the bytes of a dump, as far as they are kept: all of them, or of a long dump its beginning and the parts that were
// asked for.
type File struct {
	Head  []byte
	parts []Part // ascending, behind Head
}

// Part is bytes at an offset of a file.
type Part struct {
	At    uint64
	Bytes []byte
}

// At returns n bytes at off, which alias the file; nil if they are not all there.
func (f *File) At(off, n uint64) []byte {
	b, from := f.Head, uint64(0)
	if off >= uint64(len(f.Head)) && len(f.parts) > 0 {
		i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i].At > off }) - 1
		if i < 0 {
			return nil
		}
		b, from = f.parts[i].Bytes, f.parts[i].At
	}
	if off-from > uint64(len(b)) || n > uint64(len(b))-(off-from) {
		return nil
	}
	return b[off-from:][:n:n]
}

// Each visits the kept parts of size bytes at off, in pieces with their offsets.
func (f *File) Each(off, size uint64, visit func(at uint64, b []byte)) {
	if off+size < off {
		return
	}
	one := func(p Part) {
		from, to := max(off, p.At), min(off+size, p.At+uint64(len(p.Bytes)))
		if from < to {
			visit(from, p.Bytes[from-p.At:to-p.At])
		}
	}
	one(Part{0, f.Head})
	i := sort.Search(len(f.parts), func(i int) bool { return f.parts[i].At+uint64(len(f.parts[i].Bytes)) > off })
	for ; i < len(f.parts) && f.parts[i].At < off+size; i++ {
		one(f.parts[i])
	}
}

// What a long dump keeps of its memory, in bytes.
const (
	keptBelow = 4 << 10  // under a stack pointer
	keptAbove = 1 << 20  // from it on
	keptAll   = 32 << 20 // in all
)

// Wants gathers the parts of a long file that are to be kept. The zero value is ready.
type Wants struct {
	all  []span
	room uint64
}

type span struct{ from, to uint64 }

// Add wants n bytes at an offset of the file.
func (w *Wants) Add(off, n uint64) {
	if off+n < off || w.room+n > keptAll {
		return
	}
	w.room += n
	w.all = append(w.all, span{off, off + n})
}

// Stack wants the memory at a stack pointer, which stands at an offset of a piece of memory: size bytes at off of the file.
func (w *Wants) Stack(off, size, pointer uint64) {
	from := max(pointer, keptBelow) - keptBelow
	if pointer < size {
		w.Add(off+from, min(size, pointer+keptAbove)-from)
	}
}

// Keep reads the rest of the file, behind Head, and keeps the parts that are wanted, as far as they are there. The error is
// the reader's own.
func (f *File) Keep(rest io.Reader, w *Wants) error {
	at := uint64(len(f.Head))
	slices.SortFunc(w.all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	for i := 0; i < len(w.all); {
		s := w.all[i]
		for i++; i < len(w.all) && w.all[i].from <= s.to; i++ {
			s.to = max(s.to, w.all[i].to)
		}
		if s.from = max(s.from, at); s.from >= s.to {
			continue
		}
		n, err := io.CopyN(io.Discard, rest, int64(s.from-at))
		if at += uint64(n); err == nil {
			b := make([]byte, s.to-s.from)
			var got int
			got, err = io.ReadFull(rest, b)
			f.parts = append(f.parts, Part{s.from, b[:got]})
			at += uint64(got)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	_, err := io.Copy(io.Discard, rest)
	return err
}
