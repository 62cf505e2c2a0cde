package dictionary

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
)

// Reader reads the strings of a dictionary. It decodes each page when a string of it is first asked
// for. Safe for concurrent use.
type Reader struct {
	count int
	pages []page
	held  atomic.Int64 // bytes of decoded pages
	err   atomic.Pointer[error]
}

type page struct {
	once    sync.Once
	coded   []byte
	strings atomic.Pointer[[]string]
}

// Open checks the structure of a body, which it keeps.
func Open(body []byte) (*Reader, error) {
	count, n := binary.Uvarint(body)
	if n <= 0 || count > row.MaxStrings {
		return nil, fmt.Errorf("%w: want the dictionary's length", column.ErrBroken)
	}
	body = body[n:]
	pages := (int(count) + pageStrings - 1) / pageStrings
	if pages > len(body) {
		return nil, fmt.Errorf("%w: want %d pages", column.ErrBroken, pages)
	}
	d := &Reader{count: int(count), pages: make([]page, pages)}
	lengths := make([]uint64, pages)
	for i := range lengths {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return nil, fmt.Errorf("%w: want the length of page %d", column.ErrBroken, i)
		}
		lengths[i], body = v, body[n:]
	}
	for i, l := range lengths {
		if l > uint64(len(body)) {
			return nil, fmt.Errorf("%w: want %d bytes of page %d", column.ErrBroken, l, i)
		}
		d.pages[i].coded, body = body[:l], body[l:]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last page", column.ErrBroken, len(body))
	}
	return d, nil
}

// Get returns string i, which must be below Len.
func (d *Reader) Get(i uint32) string {
	p := &d.pages[i/pageStrings]
	s := p.strings.Load()
	if s == nil {
		s = d.load(int(i / pageStrings))
	}
	return (*s)[i%pageStrings]
}

// Decoded returns string i if its page is decoded already.
func (d *Reader) Decoded(i uint32) (s string, ok bool) {
	p := d.pages[i/pageStrings].strings.Load()
	if p == nil {
		return "", false
	}
	return (*p)[i%pageStrings], true
}

// load decodes a page, once. A row that passed its seal decodes; should it
// not, the page's names are unknown and err says so.
func (d *Reader) load(i int) *[]string {
	p := &d.pages[i]
	p.once.Do(func() {
		n := min(pageStrings, d.count-i*pageStrings)
		strs, size, err := d.decode(i, io.Discard)
		if err != nil {
			err = fmt.Errorf("dictionary page %d: %w: %w", i, row.ErrUnauthentic, err)
			d.err.CompareAndSwap(nil, &err)
			strs = make([]string, n)
		}
		d.held.Add(int64(size + n*int(unsafe.Sizeof(""))))
		p.strings.Store(&strs)
	})
	return p.strings.Load()
}

// Check decodes all pages, and writes their columns to content.
func (d *Reader) Check(content io.Writer) error {
	for i := range d.pages {
		if _, _, err := d.decode(i, content); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
	}
	return nil
}

// decode returns the strings of page i, and the bytes that they take. It writes the page's columns to
// content.
func (d *Reader) decode(i int, content io.Writer) (strs []string, size int, err error) {
	n := min(pageStrings, d.count-i*pageStrings)
	dec := column.NewDecoder()
	defer dec.Release()
	cols, err := dec.Columns(d.pages[i].coded, pageColumns, maxBytes+pageColumns*pageStrings*binary.MaxVarintLen32)
	if err != nil {
		return nil, 0, err
	}
	for _, col := range cols {
		content.Write(col)
	}
	if len(cols[pageCommon]) < n {
		return nil, 0, fmt.Errorf("%w: want %d strings", column.ErrBroken, n)
	}
	return join(n, column.Reader{B: cols[pageCommon]}, column.Reader{B: cols[pageLength]}, cols[pageText])
}

// Len is the number of strings.
func (d *Reader) Len() int { return d.count }

// Bytes is the memory that the reader holds. It grows as pages are decoded.
func (d *Reader) Bytes() int64 {
	n := d.held.Load()
	for i := range d.pages {
		n += int64(len(d.pages[i].coded))
	}
	return n
}

// Err reports a page that did not decode. Its strings came back empty.
func (d *Reader) Err() error {
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

// join makes the n strings of a page from its columns, and returns the
// bytes that they take.
func join(n int, common, length column.Reader, text []byte) (strs []string, size int, err error) {
	strs = make([]string, 0, n)
	// Few bytes can stand for many: what the strings take is known first.
	last, left := uint64(0), uint64(len(text))
	for c, l := common, length; len(strs) < n; strs = append(strs, "") {
		shared, own := c.Next(), l.Next()
		if shared > last || own > left || c.Bad || l.Bad {
			return nil, 0, fmt.Errorf("%w: want the length of string %d", column.ErrBroken, len(strs))
		}
		left -= own
		last = shared + own
		if size += int(last); size > maxBytes {
			return nil, 0, fmt.Errorf("%w: more than %d bytes of strings", column.ErrBroken, maxBytes)
		}
	}
	var all strings.Builder
	all.Grow(size)
	s := ""
	for i := range strs {
		from := all.Len()
		all.WriteString(s[:common.Next()])
		own := length.Next()
		all.Write(text[:own])
		text = text[own:]
		s = all.String()[from:] // the builder has room: it does not move
		strs[i] = s
	}
	if !common.Done() || !length.Done() || len(text) > 0 {
		return nil, 0, fmt.Errorf("%w: strings and their lengths differ", column.ErrBroken)
	}
	return strs, size, nil
}
