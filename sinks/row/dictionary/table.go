// Package dictionary is the row of strings that the blocks of a load share. The package doc of
// sinks/row specifies its form.
//
// A writer chooses the strings that are worth a place ([Table.Choose]) and encodes them in pages
// ([Table.Encode]). A [Reader] decodes a page when a string of it is first asked for, so that a cold
// look-up decodes few.
package dictionary

import (
	"encoding/binary"
	"io"
	"math"
	"slices"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// pageStrings is how many strings are compressed together. A look-up
	// decodes the pages that its own names stand in, no others.
	pageStrings = 1024
	// maxBytes bounds the text of the strings. Further strings stand in the blocks.
	maxBytes = column.MaxTextBytes
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

var pageCoders = [pageColumns]column.Trial{pageText: column.TryZstd}

// Table is the string table of a load, complete before its first run.
type Table struct {
	Strings []string // index 0 is ""; no two are equal
	Runs    []uint32 // by string: how many runs use it; nil: unknown, and all of them are shared
	Numbers []uint32 // by the number that packed classes have for a string: its index; nil: that is the number
}

// Index returns the index of the string with a number; math.MaxUint32: there is none.
func (t *Table) Index(number uint32) uint32 {
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

// Chosen are the strings of a dictionary, in its order.
type Chosen []sorted

// Numbers returns, by the index of each of n strings, its number in the dictionary plus 1; 0: it is
// not in it.
func (c Chosen) Numbers(n int) []uint32 {
	numbers := make([]uint32, n)
	for i, s := range c {
		numbers[s.at] = uint32(i) + 1
	}
	return numbers
}

// Choose picks the strings for the dictionary: all of them, if the strings that
// several runs use make one worth its row, up to the budget, the most used
// first. It gives them in the dictionary's order, by their bytes, so that
// neighbors have much in common. (Numbering the frequent ones first
// was tried: it saves less in the blocks than it costs here.) Neither the order
// nor the numbering of the table matters.
func (t *Table) Choose() Chosen {
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
	// All strings of more than least runs have a place, then the strings of least runs.
	least, left := manyRuns, maxBytes
	for ; least > 1 && left >= bytes[least]; least-- {
		left -= bytes[least]
	}
	kept := picked[:0]
	alike := uint32(math.MaxUint32) // with the string that was kept last
	for _, s := range picked {
		alike = min(alike, s.alike)
		switch runs := min(t.runs(s.at), manyRuns); {
		case len(kept) == row.MaxStrings || runs < least:
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

// Encode returns the body of a dictionary's row: the number of strings, the length of every page, and
// the pages, three columns each. It writes the columns to content.
func (t *Table) Encode(c *column.Encoder, picked Chosen, content io.Writer) []byte {
	// The lengths come before what they are of: the pages leave room for them.
	count := (len(picked) + pageStrings - 1) / pageStrings
	room := (1 + count) * binary.MaxVarintLen32
	body := make([]byte, room, room+len(picked)*manyCoded)
	head := binary.AppendUvarint(make([]byte, 0, room), uint64(len(picked)))
	var cols [pageColumns][]byte
	for page := range slices.Chunk([]sorted(picked), pageStrings) {
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
			body = c.Append(body, col, pageCoders[i])
		}
		head = binary.AppendUvarint(head, uint64(len(body)-from))
	}
	body = body[room-len(head):]
	copy(body, head)
	return body
}
