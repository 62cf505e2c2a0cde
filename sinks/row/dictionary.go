package row

import (
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

const (
	// pageStrings is how many strings are compressed together. A look-up
	// decodes the pages that its own names stand in, no others.
	pageStrings = 1024
	// maxShared bounds the strings of a dictionary.
	maxShared = 1 << 22
	// maxSharedBytes bounds their text. What exceeds it stands in the blocks.
	maxSharedBytes = maxBodyBytes
	// minSaved is what a dictionary must promise to save, in bytes of text, to
	// be worth a row that every cold look-up has to read.
	minSaved = 16 << 10
)

// Table is the string table of a load, complete before its first run.
type Table struct {
	Strings []string // index 0 is ""; no two are equal
	Runs    []uint32 // by string: how many runs use it
}

// choose picks the strings that several runs use, by what sharing them saves,
// within the budget. It gives their indices in the dictionary's order, that of
// their bytes, so that neighbours have much in common. (Numbering the frequent
// ones first was tried: it saves less in the blocks than it costs here.)
// Neither the order nor the numbering of the table matters.
func (t *Table) choose() []uint32 {
	var picked []uint32
	total, saved := 0, 0
	for i, s := range t.Strings {
		if i < len(t.Runs) && t.Runs[i] > 1 && s != "" {
			picked = append(picked, uint32(i))
			total += len(s)
			saved += (int(t.Runs[i]) - 1) * len(s)
		}
	}
	if saved < minSaved {
		return nil
	}
	if total > maxSharedBytes || len(picked) > maxShared {
		slices.SortFunc(picked, func(a, b uint32) int {
			// What a string saves for each byte of the budget is its number of uses.
			if ra, rb := t.Runs[a], t.Runs[b]; ra != rb {
				return int(int64(rb) - int64(ra))
			}
			return strings.Compare(t.Strings[a], t.Strings[b])
		})
		total = 0
		for i, p := range picked {
			total += len(t.Strings[p])
			if total > maxSharedBytes || i == maxShared {
				picked = picked[:i]
				break
			}
		}
	}
	slices.SortFunc(picked, func(a, b uint32) int {
		return strings.Compare(t.Strings[a], t.Strings[b])
	})
	return picked
}

// encodeDictionary gives the body of a dictionary row: the number of strings,
// the length of every page, and the pages: two columns each, lengths and text.
func encodeDictionary(c *compressor, t *Table, picked []uint32, content hash.Hash) []byte {
	head := binary.AppendUvarint(nil, uint64(len(picked)))
	var pages, lengths, text []byte
	for page := range slices.Chunk(picked, pageStrings) {
		lengths, text = lengths[:0], text[:0]
		for _, i := range page {
			lengths = binary.AppendUvarint(lengths, uint64(len(t.Strings[i])))
			text = append(text, t.Strings[i]...)
		}
		content.Write(lengths)
		content.Write(text)
		before := len(pages)
		pages = c.column(pages, lengths, tryEntropy)
		pages = c.column(pages, text, tryZstd)
		head = binary.AppendUvarint(head, uint64(len(pages)-before))
	}
	return append(head, pages...)
}

// dictionary is the reader's side. Safe for concurrent use.
type dictionary struct {
	ring  *Keyring
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

// openDictionary checks the structure of a body; pages stay coded until used.
func openDictionary(ring *Keyring, body []byte) (*dictionary, error) {
	count, n := binary.Uvarint(body)
	if n <= 0 || count > maxShared {
		return nil, fmt.Errorf("%w: want the dictionary's length", errColumn)
	}
	body = body[n:]
	pages := (int(count) + pageStrings - 1) / pageStrings
	if pages > len(body) {
		return nil, fmt.Errorf("%w: want %d pages", errColumn, pages)
	}
	d := &dictionary{ring: ring, count: int(count), pages: make([]page, pages)}
	lengths := make([]uint64, pages)
	for i := range lengths {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return nil, fmt.Errorf("%w: want the length of page %d", errColumn, i)
		}
		lengths[i], body = v, body[n:]
	}
	for i, l := range lengths {
		if l > uint64(len(body)) {
			return nil, fmt.Errorf("%w: want %d bytes of page %d", errColumn, l, i)
		}
		d.pages[i].coded, body = body[:l], body[l:]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last page", errColumn, len(body))
	}
	return d, nil
}

// string gives string i, which must be below count.
func (d *dictionary) string(i uint32) string {
	p := &d.pages[i/pageStrings]
	s := p.strings.Load()
	if s == nil {
		s = d.load(int(i / pageStrings))
	}
	return (*s)[i%pageStrings]
}

// decoded gives string i if its page is decoded already.
func (d *dictionary) decoded(i uint32) (s string, ok bool) {
	p := d.pages[i/pageStrings].strings.Load()
	if p == nil {
		return "", false
	}
	return (*p)[i%pageStrings], true
}

// load decodes a page, once. A row that passed its seal decodes; should it
// not, the page's names are unknown and err says so.
func (d *dictionary) load(i int) *[]string {
	p := &d.pages[i]
	p.once.Do(func() {
		n := min(pageStrings, d.count-i*pageStrings)
		strs, size, err := d.decode(p.coded, n, nil)
		if err != nil {
			err = fmt.Errorf("dictionary page %d: %w: %w", i, ErrUnauthentic, err)
			d.err.CompareAndSwap(nil, &err)
			strs = make([]string, n)
		}
		d.held.Add(int64(size + n*stringBytes))
		p.strings.Store(&strs)
	})
	return p.strings.Load()
}

// decode gives the n strings of a page, and adds its columns to content if
// there is one.
func (d *dictionary) decode(coded []byte, n int, content hash.Hash) (strs []string, size int, err error) {
	dec := d.ring.decompressor()
	defer d.ring.decompressors.Put(dec)
	dec.budget = maxBodyBytes
	lengths, rest, err := dec.column(dec.bufs[colTextLength], coded)
	if err != nil {
		return nil, 0, err
	}
	dec.bufs[colTextLength] = lengths
	text, rest, err := dec.column(dec.bufs[colText], rest)
	if err != nil {
		return nil, 0, err
	}
	dec.bufs[colText] = text
	if len(rest) > 0 || len(lengths) < n {
		return nil, 0, fmt.Errorf("%w: want %d strings", errColumn, n)
	}
	if content != nil {
		content.Write(lengths)
		content.Write(text)
	}
	strs, err = cut(make([]string, 0, n), n, reader{b: lengths}, text)
	return strs, len(text), err
}

// cut appends n strings whose lengths are read from r and whose text is text.
func cut(to []string, n int, r reader, text []byte) ([]string, error) {
	all := string(text)
	for range n {
		l := r.next()
		if r.bad || l > uint64(len(all)) {
			return nil, fmt.Errorf("%w: want the length of a name", errColumn)
		}
		to = append(to, all[:l])
		all = all[l:]
	}
	if !r.done() || all != "" {
		return nil, fmt.Errorf("%w: names and their lengths differ", errColumn)
	}
	return to, nil
}
