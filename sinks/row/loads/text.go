package loads

import (
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/texts"
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

// TextDirectory is the span of the row that says which texts the load has, to be set before the first
// TextRows. False: the load keeps none, or the directory is set.
func (o *Opened) TextDirectory() (sinks.Span, bool) {
	return sinks.Exactly(o.textKey(texts.DirectoryAt)), o.HasTexts() && o.texts.Load() == nil
}

func (o *Opened) textKey(position uint64) []byte { return o.seals.Key(row.Texts, position) }

// SetTextDirectory opens the row of TextDirectory. Setting it again changes nothing.
func (o *Opened) SetTextDirectory(r sinks.Row) error {
	x, _, err := o.directory(r)
	if err == nil {
		o.texts.CompareAndSwap(nil, x)
	}
	return err
}

func (o *Opened) directory(r sinks.Row) (*texts.Directory, [][]byte, error) {
	d := column.NewDecoder()
	defer d.Release()
	body, err := o.seals.Open(nil, o.textKey(texts.DirectoryAt), r, row.FormTextDirectory)
	if err != nil {
		return nil, nil, err
	}
	x, cols, err := texts.DecodeDirectory(d, body)
	if err == nil && x.Rows() != o.load.TextRows {
		err = fmt.Errorf("%d rows of text, want %d", x.Rows(), o.load.TextRows)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return x, cols, nil
}

// TextRows returns the rows that hold the lines from first to last (from 1) of a file, ascending.
// None: the load has no text of the file, or it ends before. The directory must be set.
func (o *Opened) TextRows(file string, first, last uint32) (rows []TextRow) {
	x := o.texts.Load()
	if x == nil {
		return nil
	}
	x.Find(file, first, last, func(position uint64, from, to uint32) {
		key := o.textKey(position)
		rows = append(rows, TextRow{Span: sinks.Exactly(key), From: from, key: key, last: to})
	})
	return rows
}

// Text opens a row of TextRows. It returns the row's lines; the first is From.
func (o *Opened) Text(t TextRow, r sinks.Row) ([]string, error) {
	lines, _, err := o.text(t.key, t.last-t.From+1, r)
	return lines, err
}

func (o *Opened) text(key []byte, want uint32, r sinks.Row) ([]string, [][]byte, error) {
	d := column.NewDecoder()
	defer d.Release()
	body, err := o.seals.Open(nil, key, r, row.FormText)
	if err != nil {
		return nil, nil, err
	}
	lines, cols, err := texts.Decode(d, body)
	if err == nil && uint32(len(lines)) != want {
		err = fmt.Errorf("%d lines, want %d", len(lines), want)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return lines, cols, nil
}
