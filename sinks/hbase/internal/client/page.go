package client

import (
	"bytes"
	"context"
	"fmt"
)

// Column names what a scan reads; every row has it once.
type Column struct{ Family, Qualifier string }

func (c Column) message() message {
	m := make(message, 0, 8+len(c.Family)+len(c.Qualifier)).text(1, c.Family)
	if c.Qualifier != "" {
		m = m.text(2, c.Qualifier)
	}
	return m
}

// Span is [From, Stop) in byte order; Stop nil: no end.
type Span struct{ From, Stop []byte }

func (s Span) empty() bool { return s.Stop != nil && bytes.Compare(s.From, s.Stop) >= 0 }

// beyond tells whether a span goes on behind a region.
func (s Span) beyond(r *Region) bool {
	return len(r.End) > 0 && (s.Stop == nil || bytes.Compare(r.End, s.Stop) < 0)
}

// scan is what to scan within one region.
type scan struct {
	start, stop       []byte
	family, qualifier string
	rows              uint64 // limit
	reversed          bool
	keysOnly          bool
	once              bool   // not worth a place in the server's cache
	page              bool   // with a scanner that stays open: rows is of one answer
	bytes             uint64 // of one answer, with page
}

func (s *scan) request(r *Region) message {
	m := make(message, 0, 64+len(s.family)+len(s.qualifier)+len(s.start)+len(s.stop)).bytes(1, Column{s.family, s.qualifier}.message())
	if len(s.start) > 0 {
		m = m.bytes(3, s.start)
	}
	if len(s.stop) > 0 {
		m = m.bytes(4, s.stop)
	}
	if s.keysOnly {
		m = m.bytes(5, keyOnly)
	}
	m = m.number(7, 1)
	if s.once {
		m = m.flag(8, false)
	}
	if s.page {
		m = m.number(10, s.bytes)
	}
	if s.reversed {
		m = m.flag(15, true)
	}
	if !s.page {
		m = m.number(23, 2) // PREAD: never switch to streaming
	}
	q := make(message, 0, 64+len(r.Name)+len(m)).bytes(1, specifier(r)).bytes(2, m).number(4, s.rows)
	if !s.page {
		q = q.flag(5, true).number(11, s.rows) // the server opens, reads and closes in this one call
	}
	return q
}

// scanned is the answer to a scan.
type scanned struct {
	rows         [][]Cell
	scanner      uint64
	more, inside bool // more results; more in this region
}

func readScan(a answer) (s scanned, err error) {
	s.more, s.inside = true, true
	rest := a.cells
	for f := range fields(a.message, &err) {
		switch f.id {
		case 1:
			counts := []uint64{f.number}
			if f.bytes != nil { // packed
				if counts, err = varints(f.bytes); err != nil {
					return s, err
				}
			}
			for _, n := range counts {
				if n > uint64(len(rest)) {
					return s, fmt.Errorf("%w: %d cells in %d bytes", errMalformed, n, len(rest))
				}
				var row []Cell
				for range n {
					var c Cell
					if c, rest, err = nextCell(rest); err != nil {
						return s, err
					}
					row = append(row, c)
				}
				if len(row) > 0 {
					s.rows = append(s.rows, row)
				}
			}
		case 2:
			s.scanner = f.number
		case 3:
			s.more = f.number != 0
		case 8:
			s.inside = f.number != 0
		}
	}
	return s, err
}

// scanOnce scans with one call that leaves nothing open.
func (c *Client) scanOnce(ctx context.Context, r *Region, s scan) ([][]Cell, error) {
	a, err := c.attempt(ctx, connKey{r.Server, clientService, ""}, &call{method: "Scan", param: s.request(r)}, c.o.Attempt)
	if err != nil {
		return nil, err
	}
	got, err := readScan(a)
	return got.rows, err
}

// keyOnly is HBase's KeyOnlyFilter, serialized: it leaves values out.
var keyOnly = message(nil).text(1, packagePrefix+"filter.KeyOnlyFilter").bytes(2, message(nil).flag(1, false))

const (
	// pageBytes is how much a scan asks for in one call.
	pageBytes = 4 << 20
	// pageRows bounds the rows of a page, for scans of keys alone.
	pageRows = 10_000
	// window is how many calls First has under way at once.
	window = 256
)
