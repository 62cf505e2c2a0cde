package row

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
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
	maxSharedBytes = 2 * maxBodyBytes
	// manyRuns is more than need be told apart when the budget is spent.
	manyRuns = 1024
	// manyCoded is more than a string takes in most dictionaries: 8 to 20 bytes. Room that stays empty is never in memory.
	manyCoded = 24
	// minSaved is what a dictionary must promise to save, in bytes of text, to
	// be worth a row that every cold look-up has to read.
	minSaved = 16 << 10
)

// The columns of a page, in the order in which they stand. Durable.
const (
	pageCommon = iota // per string: how many bytes it shares with the one before
	pageLength        // how many follow
	pageText          // these
	pageColumns
)

var pageCoders = [pageColumns]trial{pageText: tryZstd}

// Table is the string table of a load, complete before its first run.
type Table struct {
	Strings []string // index 0 is ""; no two are equal
	Runs    []uint32 // by string: how many runs use it; nil: nobody knows, and all of them are shared
	Secret  *Secret  // the load's data key, with which positions of classes were made; nil: a new one, for ranges
	Numbers []uint32 // by the number that packed classes have for a string: its index; nil: that is the number
}

// index is that of the string with a number.
func (t *Table) index(number uint32) uint32 {
	switch {
	case t.Numbers == nil:
		return number
	case number < uint32(len(t.Numbers)):
		return t.Numbers[number]
	}
	return math.MaxUint32
}

// runs is how many runs use a string.
func (t *Table) runs(i uint32) int {
	switch {
	case t.Runs == nil:
		return 1
	case int(i) < len(t.Runs):
		return int(t.Runs[i])
	}
	return 0
}

// choose picks the strings for the dictionary: all of them, if those that
// several runs use make one worth its row, up to the budget, the most used
// first. It gives them in the dictionary's order, that of their bytes, so that
// neighbours have much in common. (Numbering the frequent ones first
// was tried: it saves less in the blocks than it costs here.) Neither the order
// nor the numbering of the table matters.
func (t *Table) choose() []sorted {
	var bytes [manyRuns + 1]int // of strings, by runs
	picked := make([]sorted, 0, len(t.Strings))
	saved := 0
	for i, s := range t.Strings {
		if n := t.runs(uint32(i)); n > 0 && s != "" {
			picked = append(picked, sorted{at: uint32(i)})
			saved += (n - 1) * len(s)
			bytes[min(n, manyRuns)] += len(s)
		}
	}
	if saved < minSaved && t.Runs != nil {
		return nil
	}
	sortStrings(t.Strings, picked)
	// All strings of more than least runs have a place, and then those of least.
	least, left := manyRuns, maxSharedBytes
	for ; least > 1 && left >= bytes[least]; least-- {
		left -= bytes[least]
	}
	kept := picked[:0]
	alike := uint32(math.MaxUint32) // with the one that was kept last
	for _, s := range picked {
		alike = min(alike, s.alike)
		switch runs := min(t.runs(s.at), manyRuns); {
		case len(kept) == maxShared || runs < least:
			continue
		case runs == least:
			if left -= len(t.Strings[s.at]); left < 0 {
				continue
			}
		}
		s.alike = alike
		alike = math.MaxUint32
		kept = append(kept, s)
	}
	return kept
}

// encodeDictionary gives the body of a dictionary row: the number of strings,
// the length of every page, and the pages: three columns each.
func encodeDictionary(c *compressor, t *Table, picked []sorted, content io.Writer) []byte {
	// The lengths come before what they are of: the pages leave room for them.
	count := (len(picked) + pageStrings - 1) / pageStrings
	room := (1 + count) * binary.MaxVarintLen32
	body := make([]byte, room, room+len(picked)*manyCoded)
	head := binary.AppendUvarint(make([]byte, 0, room), uint64(len(picked)))
	var cols [pageColumns][]byte
	for page := range slices.Chunk(picked, pageStrings) {
		for i := range cols {
			cols[i] = cols[i][:0]
		}
		for i, p := range page {
			s, n := t.Strings[p.at], p.alike
			if i == 0 {
				n = 0
			}
			cols[pageCommon] = binary.AppendUvarint(cols[pageCommon], uint64(n))
			cols[pageLength] = binary.AppendUvarint(cols[pageLength], uint64(len(s))-uint64(n))
			cols[pageText] = append(cols[pageText], s[n:]...)
		}
		from := len(body)
		for i, col := range cols {
			content.Write(col)
			body = c.column(body, col, pageCoders[i])
		}
		head = binary.AppendUvarint(head, uint64(len(body)-from))
	}
	body = body[room-len(head):]
	copy(body, head)
	return body
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
func (d *dictionary) decode(coded []byte, n int, content io.Writer) (strs []string, size int, err error) {
	dec := d.ring.decompressor()
	defer d.ring.decompressors.Put(dec)
	dec.budget = maxSharedBytes + pageColumns*pageStrings*binary.MaxVarintLen32
	for i := range pageColumns {
		col := &dec.bufs[i]
		if *col, coded, err = dec.column(*col, coded); err != nil {
			return nil, 0, err
		}
		if content != nil {
			content.Write(*col)
		}
	}
	if len(coded) > 0 || len(dec.bufs[pageCommon]) < n {
		return nil, 0, fmt.Errorf("%w: want %d strings", errColumn, n)
	}
	return join(n, reader{b: dec.bufs[pageCommon]}, reader{b: dec.bufs[pageLength]}, dec.bufs[pageText])
}

// join makes the n strings of a page, whose columns these are, and gives the
// bytes that they take.
func join(n int, common, length reader, text []byte) (strs []string, size int, err error) {
	strs = make([]string, 0, n)
	// Few bytes can stand for many: what the strings take is known first.
	last, left := uint64(0), uint64(len(text))
	for c, l := common, length; len(strs) < n; strs = append(strs, "") {
		shared, own := c.next(), l.next()
		if shared > last || own > left || c.bad || l.bad {
			return nil, 0, fmt.Errorf("%w: want the length of string %d", errColumn, len(strs))
		}
		left -= own
		last = shared + own
		if size += int(last); size > maxSharedBytes {
			return nil, 0, fmt.Errorf("%w: more than %d bytes of strings", errColumn, maxSharedBytes)
		}
	}
	var all strings.Builder
	all.Grow(size)
	s := ""
	for i := range strs {
		from := all.Len()
		all.WriteString(s[:common.next()])
		own := length.next()
		all.Write(text[:own])
		text = text[own:]
		s = all.String()[from:] // the builder has room: it does not move
		strs[i] = s
	}
	if !common.done() || !length.done() || len(text) > 0 {
		return nil, 0, fmt.Errorf("%w: strings and their lengths differ", errColumn)
	}
	return strs, size, nil
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
