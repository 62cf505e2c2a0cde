package loads

import (
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/texts"
)

// Verifier computes the digest of a load from its rows, in key order, as Encoder did from its pieces.
type Verifier struct {
	o       *Opened
	sum     hash.Hash
	row     int             // -1: the dictionary is next
	classes *classes.Digest // of a load of classes
	texts   uint64          // rows of text added
	text    uint64          // position of the last one
	listed  bool            // the directory of texts was added
	unwind  int             // rows of call frame information added
	ruled   bool            // the table of their rules was added
}

// Verify begins a verification. The dictionary, if the load has one, is the first row to add.
func (o *Opened) Verify() *Verifier {
	v := &Verifier{o: o, sum: newContent(&o.load.Artifact), row: -1}
	if o.kind == row.Classes {
		v.classes = classes.NewDigest()
	} else {
		addCount(v.sum, o.shared)
	}
	if o.shared == 0 {
		v.row = 0
	}
	return v
}

// Add opens and decodes the next row, all of it. b is nil for rows of other kinds than ranges and classes.
func (v *Verifier) Add(r sinks.Row) (b *Block, err error) {
	o := v.o
	switch {
	case v.row < 0:
		return nil, v.addDictionary(r)
	case v.row < len(o.last):
	case o.HasTexts() && !v.listed:
		return nil, v.addText(r)
	case o.HasUnwind() && !v.ruled:
		return nil, v.addUnwind(r)
	default:
		return nil, fmt.Errorf("row %x: %w: it comes after the last", r.Key, row.ErrUnauthentic)
	}

	d := column.NewDecoder()
	defer d.Release()
	b, columns, err := o.block(d, v.row, r)
	if err != nil {
		return nil, err
	}
	if v.classes != nil {
		v.row++
		return b, v.classes.Add(b.Classes)
	}
	addBlock(v.sum, o.last[v.row], columns)
	v.row++
	return b, nil
}

func (v *Verifier) addDictionary(r sinks.Row) error {
	d, err := v.o.dictionary(r)
	if err != nil {
		return err
	}
	var content io.Writer = v.sum
	if v.classes != nil {
		content = io.Discard
	}
	if err := d.Check(content); err != nil {
		return fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	v.o.dict.CompareAndSwap(nil, d)
	v.row = 0
	return nil
}

// addText adds a row of text or, behind them, the directory.
func (v *Verifier) addText(r sinks.Row) error {
	o := v.o
	if v.texts == o.load.TextRows {
		x, cols, err := o.directory(r)
		if err != nil {
			return err
		}
		v.listed = true
		addCount(v.sum, x.Files())
		addBlock(v.sum, texts.DirectoryAt, cols)
		return nil
	}
	if len(r.Key) != row.KeyBytes {
		return fmt.Errorf("row %x: %w: want a row of text", r.Key, row.ErrUnauthentic)
	}
	position := binary.BigEndian.Uint64(r.Key[row.KeyBytes-8:])
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

// Digest returns the digest of the rows added; an error if any is missing.
func (v *Verifier) Digest() (digest [32]byte, err error) {
	if v.row != len(v.o.last) {
		return digest, fmt.Errorf("load %x of %s: %w: %d rows of %d", v.o.load.Load, v.o.id, row.ErrUnauthentic, max(0, v.row), len(v.o.last))
	}
	if v.texts != v.o.load.TextRows || v.listed != v.o.HasTexts() {
		return digest, fmt.Errorf("load %x of %s: %w: %d rows of text of %d", v.o.load.Load, v.o.id, row.ErrUnauthentic, v.texts, v.o.load.TextRows)
	}
	if v.ruled != v.o.HasUnwind() {
		return digest, fmt.Errorf("load %x of %s: %w: %d rows of call frame information of %d, or no rules", v.o.load.Load, v.o.id, row.ErrUnauthentic, v.unwind, len(v.o.unwind.last))
	}
	if v.classes != nil {
		v.classes.End(v.sum)
	}
	return [32]byte(v.sum.Sum(nil)), nil
}
