package scratch

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symlake/symlake/formats"
)

// Stage takes size bytes that fetch writes in pieces, in any order, possibly at
// once, possibly twice, and gives random access to them.
func (s *Spool) Stage(name string, size int64, fetch func(io.WriterAt) error) (*formats.Input, error) {
	if size > s.Limits.ObjectBytes {
		return nil, &formats.Error{Format: "object", Section: name, Offset: s.Limits.ObjectBytes, Want: "a smaller object", Err: formats.ErrLimit}
	}
	st := &store{s: s}
	var err error
	if size <= s.Budget.Total()/memoryShare && s.Budget.Take(size) {
		st.held = size
		st.mem = make([]byte, size)
		err = fetch(memory(st.mem))
	} else if st.file, err = Create(s.Dir, s.Disk); err == nil {
		st.size = size
		st.pages = make([]int64, (size+PageBytes-1)/PageBytes)
		for i := range st.pages {
			st.pages[i] = -1
		}
		w := &assembler{st: st, open: make(map[int64]*assembly)}
		if err = fetch(w); err == nil {
			err = w.complete(name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st.input(name, size), nil
}

// memory is a buffer as a WriterAt.
type memory []byte

func (m memory) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(m)) || int64(len(p)) > int64(len(m))-off {
		return 0, io.ErrShortWrite
	}
	return copy(m[off:], p), nil
}

// assembler makes pages of pieces. A page that is written again gets a new
// number: a page's number is its nonce.
type assembler struct {
	st   *store
	open map[int64]*assembly // pages that are there in part
}

type assembly struct {
	data []byte
	have [][2]int // ascending, apart
}

// WriteAt implements io.WriterAt.
func (w *assembler) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off > w.st.size || int64(len(p)) > w.st.size-off {
		return 0, io.ErrShortWrite
	}
	done := 0
	for done < len(p) {
		at := off + int64(done)
		page, from := at/PageBytes, int(at%PageBytes)
		size := int(min(PageBytes, w.st.size-page*PageBytes))
		n := min(size-from, len(p)-done)
		if err := w.put(page, from, size, p[done:done+n]); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

func (w *assembler) put(page int64, from, size int, piece []byte) error {
	if len(piece) == size {
		return w.seal(page, piece)
	}
	w.st.mu.Lock()
	a := w.open[page]
	if a == nil {
		a = &assembly{data: make([]byte, size)}
		w.open[page] = a
	}
	copy(a.data[from:], piece)
	whole := a.add(from, from+len(piece))
	if whole {
		delete(w.open, page)
	}
	w.st.mu.Unlock()
	if whole {
		return w.seal(page, a.data)
	}
	return nil
}

func (w *assembler) seal(page int64, data []byte) error {
	n, err := w.st.file.Append(data)
	if err != nil {
		return err
	}
	w.st.mu.Lock()
	w.st.pages[page] = n
	w.st.mu.Unlock()
	return nil
}

// add notes [from, to) and reports whether nothing is missing any more.
func (a *assembly) add(from, to int) bool {
	i := 0
	for i < len(a.have) && a.have[i][1] < from {
		i++
	}
	j := i
	for j < len(a.have) && a.have[j][0] <= to {
		from, to = min(from, a.have[j][0]), max(to, a.have[j][1])
		j++
	}
	a.have = slices.Replace(a.have, i, j, [2]int{from, to})
	return len(a.have) == 1 && a.have[0] == [2]int{0, len(a.data)}
}

// complete checks that every page came.
func (w *assembler) complete(name string) error {
	for i, p := range w.st.pages {
		if p < 0 {
			return fmt.Errorf("fetch %s: nothing came for the bytes from %d", name, i*PageBytes)
		}
	}
	return nil
}
