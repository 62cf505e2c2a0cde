package arrowstream

import (
	"fmt"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// dictionary is the values that columns in use refer to by number.
type dictionary struct {
	field arrowmeta.Field // a column of it
	known bool
	column
}

// learn keeps the values of a dictionary, if a column in use refers to it.
func (s *Stream) learn(m *arrowmeta.Message, body []byte) error {
	d := s.dictionaries[m.Dictionary]
	if d == nil {
		return nil
	}
	f := d.field
	f.Dictionary = nil
	p := placer{b: m.Batch, old: s.Schema.Old}
	at, err := p.place([]arrowmeta.Field{f})
	if err != nil {
		return err
	}
	from := source{meta: m.Batch, body: body, left: MaxBatchBytes}
	c, err := from.column(&at[0], nil)
	if err != nil {
		return err
	}
	if s.held += len(body) + 24*c.n(); s.held > maxDictionaryBytes {
		return fmt.Errorf("%w: dictionaries of columns in use have more than %d bytes", ErrInput, maxDictionaryBytes)
	}
	if !m.Delta {
		d.column, d.known = c, true
		return nil
	}
	if c.null != nil || d.null != nil {
		d.null = append(append(make([]bool, 0, d.n()+c.n()), d.null...), make([]bool, d.n()-len(d.null))...)
		d.null = append(append(d.null, c.null...), make([]bool, c.n()-len(c.null))...)
	}
	d.texts, d.ints, d.known = append(d.texts, c.texts...), append(d.ints, c.ints...), true
	return nil
}

// numbered takes values from a dictionary.
func (s *source) numbered(p *placed, c column, data []byte, d *dictionary) (column, error) {
	var at column
	index := arrowmeta.Field{Type: arrowmeta.Int, Bits: p.f.Dictionary.Bits, Signed: p.f.Dictionary.Signed}
	if err := numbers(&index, data, p.rows, &at); err != nil {
		return c, err
	}
	if d == nil || !d.known && p.rows > 0 {
		all := len(c.null) == p.rows
		for _, n := range c.null {
			all = all && n
		}
		if !all {
			return c, fmt.Errorf("%w: column %q refers to dictionary %d, which does not stand before it", ErrInput, p.f.Name, p.f.Dictionary.ID)
		}
	}
	if leafOf(p.f, nil, false).Kind == pqfile.LeafInt {
		c.ints = make([]uint64, p.rows)
	} else {
		c.texts = make([]string, p.rows)
	}
	for i, k := range at.ints {
		if c.null != nil && c.null[i] {
			continue
		}
		if k >= uint64(d.n()) {
			return c, fmt.Errorf("%w: column %q has value %d of a dictionary of %d", ErrInput, p.f.Name, k, d.n())
		}
		if d.null != nil && d.null[k] {
			if c.null == nil {
				c.null = make([]bool, p.rows)
			}
			c.null[i] = true
			continue
		}
		if c.ints != nil {
			c.ints[i] = d.ints[k]
		} else {
			c.texts[i] = d.texts[k]
		}
	}
	return c, nil
}
