package row

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symlake/symlake/sinks"
)

// TextRow is a row of text that some lines are in.
type TextRow struct {
	Span sinks.Span
	From uint32 // its first line
	key  []byte
	last uint32
}

// HasTexts reports whether the load keeps texts of its sources.
func (o *Opened) HasTexts() bool { return o.load.TextRows > 0 }

// TextDirectory is the span of the row that says which texts there are, to be
// set before the first TextRows; false: the load keeps none, or it is set.
func (o *Opened) TextDirectory() (sinks.Span, bool) {
	return exactly(o.textKey(directoryAt)), o.HasTexts() && o.texts.Load() == nil
}

func (o *Opened) textKey(position uint64) []byte {
	return rowKey(o.id, o.load.Load, Texts, position)
}

// SetTextDirectory opens the row of TextDirectory. Setting it again changes nothing.
func (o *Opened) SetTextDirectory(r sinks.Row) error {
	x, _, err := o.directory(r)
	if err == nil {
		o.texts.CompareAndSwap(nil, x)
	}
	return err
}

func (o *Opened) directory(r sinks.Row) (*directory, [][]byte, error) {
	d := o.ring.decompressor()
	defer o.ring.decompressors.Put(d)
	body, err := o.body(nil, o.textKey(directoryAt), r, bodyTextDirectory)
	if err != nil {
		return nil, nil, err
	}
	x, cols, err := decodeDirectory(d, body)
	if err == nil && x.rows != o.load.TextRows {
		err = fmt.Errorf("%d rows of text, want %d", x.rows, o.load.TextRows)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, ErrUnauthentic, err)
	}
	return x, cols, nil
}

// TextRows are the rows that hold the lines from first to last (from 1) of a
// file, ascending; none: there is no text of it, or it ends before. The directory is set.
func (o *Opened) TextRows(file string, first, last uint32) (rows []TextRow) {
	x := o.texts.Load()
	if x == nil {
		return nil
	}
	n, ok := x.at[file]
	if !ok || x.files[n].torn {
		return nil
	}
	ends := x.files[n].rows
	i, _ := slices.BinarySearch(ends, first)
	for ; i < len(ends); i++ {
		from := uint32(1)
		if i > 0 {
			from = ends[i-1] + 1
		}
		if from > last {
			break
		}
		key := o.textKey(textKey(n, ends[i]))
		rows = append(rows, TextRow{Span: exactly(key), From: from, key: key, last: ends[i]})
	}
	return rows
}

// Text opens a row of TextRows: its lines, the first being From.
func (o *Opened) Text(t TextRow, r sinks.Row) ([]string, error) {
	lines, _, err := o.text(t.key, t.last-t.From+1, r)
	return lines, err
}

func (o *Opened) text(key []byte, want uint32, r sinks.Row) ([]string, [][]byte, error) {
	d := o.ring.decompressor()
	defer o.ring.decompressors.Put(d)
	body, err := o.body(nil, key, r, bodyText)
	if err != nil {
		return nil, nil, err
	}
	lines, cols, err := decodeText(d, body)
	if err == nil && uint32(len(lines)) != want {
		err = fmt.Errorf("%d lines, want %d", len(lines), want)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, ErrUnauthentic, err)
	}
	return lines, cols, nil
}

// addText is Add for the rows of text and, behind them, the directory.
func (v *Verifier) addText(r sinks.Row) error {
	o := v.o
	if v.texts == o.load.TextRows {
		x, cols, err := o.directory(r)
		if err != nil {
			return err
		}
		v.listed = true
		addCount(v.sum, len(x.files))
		addBlock(v.sum, directoryAt, cols)
		return nil
	}
	if len(r.Key) != keyBytes {
		return fmt.Errorf("row %x: %w: want a row of text", r.Key, ErrUnauthentic)
	}
	position := binary.BigEndian.Uint64(r.Key[keyBytes-8:])
	from := uint32(0)
	if v.texts > 0 && position>>32 == v.text>>32 {
		from = uint32(v.text)
	}
	lines, cols, err := o.text(o.textKey(position), uint32(position)-from, r)
	if err != nil {
		return err
	}
	v.texts++
	v.text = position
	addCount(v.sum, len(lines))
	addBlock(v.sum, position, cols)
	return nil
}
