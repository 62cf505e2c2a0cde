package scratch

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/symlake/symlake/formats"
)

// Spool gives random access to the streams and remote bytes of one object: in
// memory while the budget lasts, then in sealed scratch. Safe for concurrent use.
type Spool struct {
	Budget *Budget
	Disk   *Budget // of scratch files; nil: no bound
	Dir    string
	Limits *formats.Limits

	used atomic.Int64 // of Limits.SpoolBytes
}

const (
	// memoryShare is the part of the budget that one stream may take: a
	// quarter. More would leave nothing to the sort.
	memoryShare = 4
	firstBytes  = 64 << 10
	cachedPages = 16
)

// Read takes a stream of exactly size bytes (size < 0: of any length) and is
// what formats.Input.Spool promises. Names, limits and the ways to ask for
// more are the caller's to fill in.
func (s *Spool) Read(name string, size int64, r io.Reader) (*formats.Input, error) {
	limit := s.Limits.SpoolBytes - s.used.Load()
	if size >= 0 && size > limit {
		return nil, s.tooMuch(name)
	}
	if size >= 0 {
		limit = size
	}
	st := &store{s: s}
	n, err := st.fill(r, size, limit)
	s.used.Add(n)
	switch {
	case errors.Is(err, errTooLong) && size < 0:
		err = s.tooMuch(name)
	case errors.Is(err, errTooLong), err == nil && size >= 0 && n < size:
		err = &formats.Error{Format: "spool", Section: name, Offset: n, Want: fmt.Sprintf("a stream of %d bytes", size), Err: formats.ErrCorrupt}
	}
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return st.input(name, n), nil
}

func (s *Spool) tooMuch(name string) error {
	return &formats.Error{Format: "spool", Section: name, Offset: s.Limits.SpoolBytes, Want: "less to inflate", Err: formats.ErrLimit}
}

var errTooLong = errors.New("stream longer than announced")

// store is a spooled stream: mem, or pages of file.
type store struct {
	s    *Spool
	mem  []byte
	held int64 // of the budget

	file  *File
	size  int64
	pages []int64 // physical numbers

	mu    sync.Mutex
	cache [cachedPages]cached
	clock int64
}

type cached struct {
	page int64 // logical number plus 1
	used int64
	data []byte
}

// fill reads r to its end, at most limit bytes.
func (st *store) fill(r io.Reader, size, limit int64) (int64, error) {
	most := st.s.Budget.Total() / memoryShare
	first := int64(firstBytes)
	if size >= 0 {
		first = size
	}
	if first <= most && st.s.Budget.Take(first) {
		st.held = first
		st.mem = make([]byte, 0, first)
		for {
			if len(st.mem) == cap(st.mem) {
				if int64(len(st.mem)) >= limit {
					return int64(len(st.mem)), atEnd(r)
				}
				more := min(2*int64(cap(st.mem)), limit) - int64(cap(st.mem))
				if int64(cap(st.mem))+more > most || !st.s.Budget.Take(more) {
					break
				}
				st.held += more
				grown := make([]byte, len(st.mem), int64(cap(st.mem))+more)
				copy(grown, st.mem)
				st.mem = grown
			}
			n, err := r.Read(st.mem[len(st.mem):cap(st.mem)])
			st.mem = st.mem[:len(st.mem)+n]
			if err == io.EOF {
				return int64(len(st.mem)), nil
			}
			if err != nil {
				return int64(len(st.mem)), err
			}
		}
	}
	return st.fillFile(r, limit)
}

// fillFile moves on to scratch, with the bytes in memory first.
func (st *store) fillFile(r io.Reader, limit int64) (n int64, err error) {
	if st.file, err = Create(st.s.Dir, st.s.Disk); err != nil {
		return 0, err
	}
	page := make([]byte, PageBytes)
	for head := st.mem; ; {
		k := copy(page, head)
		head = head[k:]
		want := min(PageBytes, limit-n)
		if int64(k) < want {
			var m int
			m, err = io.ReadFull(r, page[k:want])
			k += m
		}
		if k > 0 {
			p, werr := st.file.Append(page[:k])
			if werr != nil {
				return n, werr
			}
			st.pages = append(st.pages, p)
			n += int64(k)
		}
		st.size = n
		if len(head) == 0 && st.mem != nil {
			st.mem = nil
			st.s.Budget.Give(st.held)
			st.held = 0
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			return n, nil
		case err != nil:
			return n, err
		case n == limit:
			return n, atEnd(r)
		}
	}
}

// atEnd checks that nothing follows.
func atEnd(r io.Reader) error {
	var b [1]byte
	switch n, err := io.ReadFull(r, b[:]); {
	case n > 0:
		return errTooLong
	case err == io.EOF:
		return nil
	default:
		return err
	}
}

func (st *store) input(name string, n int64) *formats.Input {
	in := &formats.Input{Name: name, Size: n, Limits: st.s.Limits, Release: st.Close}
	if st.file == nil {
		in.Mapped = st.mem
		in.Bytes = st
		if in.Mapped == nil {
			in.Mapped = []byte{}
		}
		return in
	}
	in.Bytes = st
	return in
}

// ReadAt implements io.ReaderAt.
func (st *store) ReadAt(to []byte, off int64) (int, error) {
	if st.file == nil {
		if off < 0 || off >= int64(len(st.mem)) {
			return 0, io.EOF
		}
		n := copy(to, st.mem[off:])
		if n < len(to) {
			return n, io.EOF
		}
		return n, nil
	}
	done := 0
	for done < len(to) {
		at := off + int64(done)
		if at < 0 || at >= st.size {
			return done, io.EOF
		}
		n, err := st.page(at/PageBytes, at%PageBytes, to[done:])
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// page copies from one page, by way of the cache unless all of it is wanted.
func (st *store) page(p, from int64, to []byte) (int, error) {
	size := min(PageBytes, st.size-p*PageBytes)
	if from == 0 && int64(len(to)) >= size {
		return int(size), st.file.Read(st.pages[p], to[:size])
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	st.clock++
	oldest := &st.cache[0]
	for i := range st.cache {
		c := &st.cache[i]
		if c.page == p+1 {
			c.used = st.clock
			return copy(to, c.data[from:]), nil
		}
		if c.used < oldest.used {
			oldest = c
		}
	}
	if oldest.data == nil {
		oldest.data = make([]byte, PageBytes)
	}
	oldest.page, oldest.used = 0, st.clock
	oldest.data = oldest.data[:size]
	if err := st.file.Read(st.pages[p], oldest.data); err != nil {
		return 0, err
	}
	oldest.page = p + 1
	return copy(to, oldest.data[from:]), nil
}

// Close gives memory and disk back. Repeating it does nothing.
func (st *store) Close() error {
	st.s.Budget.Give(st.held)
	st.held, st.mem = 0, nil
	if st.file == nil {
		return nil
	}
	err := st.file.Close()
	st.file, st.size = nil, 0
	return err
}
