package hfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// tailBytes is read first: trailer, file info and, of most files, the root index.
	tailBytes = 16 << 10
	// maxOpenBytes bounds what stands from the root index to the end. Roots
	// stay below IndexBytes; HBase's own files may carry Bloom data there.
	maxOpenBytes = 64 << 20
	// maxCacheBytes bounds the index blocks a reader keeps: enough for a file of some 4 GB.
	maxCacheBytes = 4 << 20
)

// Reader answers from one file. Safe for concurrent use; it holds the root
// index and, within a bound, the index blocks it met. Closing the file is left
// to the caller.
type Reader struct {
	r    io.ReaderAt
	t    trailer
	root []child
	last []byte // row
	mvcc mvcc

	mu     sync.Mutex
	index  map[int64]*node // by offset
	cached int64           // bytes in index

	buffers sync.Pool // of *[]byte: blocks that no answer refers to
}

// mvcc says how a cell ends.
type mvcc uint8

const (
	mvccAbsent mvcc = iota
	mvccZero        // one byte, 0
	mvccNumber      // a vint
)

// child is an index entry: what stands at off begins at row, or after every row below it.
type child struct {
	row  []byte
	off  int64
	size int64
}

// Open reads what stands at the end of a file of that size.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	if size < trailerBytes+3*(headerBytes+4) {
		return nil, corrupt("file", 0, "an HFile, not %d bytes", size)
	}
	tail := make([]byte, min(size, tailBytes))
	at := size - int64(len(tail))
	if err := readAt(r, tail, at, "trailer"); err != nil {
		return nil, err
	}
	h := &Reader{r: r, index: make(map[int64]*node)}
	end := size - trailerBytes
	if err := h.t.parse(tail[len(tail)-trailerBytes:], end); err != nil {
		return nil, err
	}
	from := int64(h.t.loadOnOpen)
	if end-from > maxOpenBytes {
		return nil, unsupported("root index", from, "at most %d bytes from here to the trailer, not %d", maxOpenBytes, end-from)
	}
	if from < at {
		b := make([]byte, at-from, end-from)
		if err := readAt(r, b, from, "root index"); err != nil {
			return nil, err
		}
		tail = append(b, tail[:len(tail)-trailerBytes]...)
	} else {
		tail = tail[from-at : len(tail)-trailerBytes]
	}
	if err := h.open(tail, from); err != nil {
		return nil, err
	}
	return h, nil
}

// open reads the blocks in b, which stands at off: root index, meta index, file info.
func (h *Reader) open(b []byte, off int64) error {
	next := func(section, magic string) ([]byte, int64, error) {
		at := off
		n, ok := blockBytes(b)
		if !ok || n > int64(len(b)) {
			return nil, at, corrupt(section, at, "a block within %d bytes", len(b))
		}
		payload, err := openBlock(b[:n], section, magic, at)
		b, off = b[n:], off+n
		return payload, at, err
	}
	root, at, err := next("root index", magicRoot)
	if err != nil {
		return err
	}
	if h.root, err = h.parseRoot(root, at); err != nil {
		return err
	}
	if _, _, err = next("meta index", magicRoot); err != nil {
		return err
	}
	payload, at, err := next("file info", magicInfo)
	if err != nil {
		return err
	}
	if uint64(at) != h.t.infoOffset {
		return corrupt("trailer", int64(h.t.loadOnOpen), "file info at %#x, not %#x", at, h.t.infoOffset)
	}
	info, err := parseInfo(payload, at)
	if err != nil {
		return err
	}
	return h.configure(info, at)
}

// configure takes from the file info what reading depends on.
func (h *Reader) configure(info map[string][]byte, off int64) error {
	if e, ok := info[infoEncoding]; ok && string(e) != "NONE" {
		return unsupported("file info", off, "data block encoding NONE, not %q", e)
	}
	if _, ok := info[infoMaxTags]; ok {
		return unsupported("file info", off, "cells without tags")
	}
	if v := info[infoKeyValueVersion]; len(v) == 4 && binary.BigEndian.Uint32(v) == 1 {
		h.mvcc = mvccNumber
		if m := info[infoMaxMVCC]; len(m) == 8 && binary.BigEndian.Uint64(m) == 0 {
			h.mvcc = mvccZero
		}
	}
	if h.t.cells == 0 {
		return nil
	}
	row, err := keyRow(info[infoLastKey], "file info", off)
	h.last = bytes.Clone(row) // not the whole block
	return err
}

// Rows returns the number of rows.
func (h *Reader) Rows() uint64 { return h.t.cells }

// LastRow returns the key of the last row, nil if the file has none. Callers must not change it.
func (h *Reader) LastRow() []byte { return h.last }

// parseRoot reads the root's entries, as many as the trailer says.
func (h *Reader) parseRoot(b []byte, off int64) ([]child, error) {
	if h.t.rootEntries > uint64(len(b)/(12+1)) {
		return nil, corrupt("root index", off, "%d entries in %d bytes", h.t.rootEntries, len(b))
	}
	list := make([]child, 0, h.t.rootEntries)
	for range h.t.rootEntries {
		if len(b) < 13 {
			return nil, corrupt("root index", off, "%d entries, not %d", h.t.rootEntries, len(list))
		}
		n, size := vint(b[12:])
		if size == 0 || n > uint64(len(b)-12-size) {
			return nil, corrupt("root index", off, "a key in entry %d", len(list))
		}
		c, err := h.child(b[:12], b[12+size:12+size+int(n)], "root index", off)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
		b = b[12+size+int(n):]
	}
	return list, nil
}

// child reads an index entry: place is u64 offset, u32 size.
func (h *Reader) child(place, key []byte, section string, off int64) (child, error) {
	at, size := binary.BigEndian.Uint64(place), binary.BigEndian.Uint32(place[8:])
	if at >= h.t.loadOnOpen || uint64(size) > h.t.loadOnOpen-at || size < headerBytes+4 {
		return child{}, corrupt(section, off, "an entry for a block before %#x, not %d bytes at %#x", h.t.loadOnOpen, size, at)
	}
	row, err := keyRow(key, section, off)
	return child{row, int64(at), int64(size)}, err
}

// keyRow is the row in a cell's key; aliases it.
func keyRow(key []byte, section string, off int64) ([]byte, error) {
	if len(key) < 2 {
		return nil, corrupt(section, off, "a key")
	}
	n := int(binary.BigEndian.Uint16(key))
	if n == 0 || n > len(key)-2 {
		return nil, corrupt(section, off, "a row within a key of %d bytes, not %d", len(key), n)
	}
	return key[2 : 2+n : 2+n], nil
}

// readAt fills b. A file that ends early is corrupt; other errors come wrapped.
func readAt(r io.ReaderAt, b []byte, off int64, section string) error {
	n, err := r.ReadAt(b, off)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return corrupt(section, off, "%d bytes, file ends after %d", len(b), n)
	}
	return &Error{Section: section, Offset: off, Err: fmt.Errorf("read: %w", err)}
}

// Begins reports whether a file that starts with head can be an HFile: its
// first block holds data.
func Begins(head []byte) bool { return bytes.HasPrefix(head, []byte(magicData)) }
