package loads

import (
	"fmt"
	"sync/atomic"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/ranges"
	"github.com/symlake/symlake/sinks/row/texts"
	"github.com/symlake/symlake/sinks/row/unwinds"
)

// Opened is a load with its data key unwrapped. It tells which row speaks for which position, and
// opens rows. Safe for concurrent use.
type Opened struct {
	id     symbol.ID
	load   *row.Loaded
	secret *row.Secret
	seals  *row.Sealer
	last   []uint64 // by row
	first  []uint64
	by     search
	shared int // strings of the dictionary; 0: it has none
	dict   atomic.Pointer[dictionary.Reader]
	texts  atomic.Pointer[texts.Directory]
	kind   row.Kind // of its rows
	form   row.Form
	unwind unwindRows
	rules  atomic.Pointer[unwinds.Rules]
}

// Open unwraps the data key of a load of an artifact. row.ErrShredded: the key was destroyed;
// row.ErrSealed: the store key is gone, or another; row.ErrUnauthentic: the load differs from the
// published one. l must not change afterwards.
func Open(k *row.Keyring, id symbol.ID, l *row.Loaded) (*Opened, error) {
	secret, err := k.Unwrap(id, l)
	if err != nil {
		return nil, err
	}
	o := &Opened{id: id, load: l, secret: secret}
	o.kind, o.form = kindOf(l.Artifact.Kind)
	if o.seals, err = secret.Sealer(id, l.Load); err != nil {
		return nil, err
	}
	if o.shared, o.last, err = l.Fence.Rows(); err != nil {
		return nil, fmt.Errorf("load %x of %s: %w", l.Load, id, err)
	}
	if n := len(o.last); n > 0 {
		o.first = make([]uint64, n)
		for i := 1; i < n; i++ {
			o.first[i] = o.last[i-1] + 1
		}
		o.by.build(n, o.last[n-1], func(i int) uint64 { return o.first[i] })
	}
	if o.unwind, err = newUnwindRows(l.Unwind); err != nil {
		return nil, fmt.Errorf("load %x of %s: %w", l.Load, id, err)
	}
	return o, nil
}

// Rows is the number of rows of ranges or classes.
func (o *Opened) Rows() int { return len(o.last) }

// Index returns the row that speaks for pos. ok is false beyond the last row, which reaches to the
// image's end at least.
func (o *Opened) Index(pos uint64) (i int, ok bool) {
	if len(o.last) == 0 || pos > o.last[len(o.last)-1] {
		return 0, false
	}
	lo, hi := o.by.within(pos)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); o.first[mid] <= pos {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1, true
}

// IndexOf returns the row that speaks for a class, by its name in the program.
func (o *Opened) IndexOf(class string) (i int, ok bool) {
	if o.kind != row.Classes {
		return 0, false
	}
	return o.Index(o.secret.Position(class))
}

// Row is the span of exactly row i.
func (o *Opened) Row(i int) sinks.Span { return sinks.Exactly(o.key(i)) }

func (o *Opened) key(i int) []byte { return o.seals.Key(o.kind, o.last[i]) }

// At is the span of exactly the row that speaks for pos; false beyond the last row.
func (o *Opened) At(pos uint64) (sinks.Span, bool) {
	i, ok := o.Index(pos)
	if !ok {
		return sinks.Span{}, false
	}
	return o.Row(i), true
}

// Dictionary is the span of the load's shared strings: one row, to be set before the first block.
// False: the load has none.
func (o *Opened) Dictionary() (sinks.Span, bool) {
	return sinks.Exactly(o.seals.Key(row.Dictionary, 0)), o.shared > 0
}

// SetDictionary opens the row of Dictionary. It decodes the strings in pages, when they are first
// asked for. Setting it again changes nothing.
func (o *Opened) SetDictionary(r sinks.Row) error {
	if o.dict.Load() != nil {
		return nil
	}
	d, err := o.dictionary(r)
	if err != nil {
		return err
	}
	o.dict.CompareAndSwap(nil, d)
	return nil
}

func (o *Opened) dictionary(r sinks.Row) (*dictionary.Reader, error) {
	body, err := o.seals.Open(nil, o.seals.Key(row.Dictionary, 0), r, row.FormDictionary)
	if err != nil {
		return nil, err
	}
	d, err := dictionary.Open(body)
	if err == nil && d.Len() != o.shared {
		err = fmt.Errorf("%d strings, want %d", d.Len(), o.shared)
	}
	if err != nil {
		return nil, fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return d, nil
}

// HasDictionary reports whether blocks can be opened: the load has no dictionary, or it was set.
func (o *Opened) HasDictionary() bool { return o.shared == 0 || o.dict.Load() != nil }

// Block is an opened row of ranges, classes or call frame information. Safe for concurrent use; it never changes.
type Block struct {
	ranges.Block                // holds nothing if the row is of another kind
	Classes      *classes.Block // nil: the row is of another kind
	Unwinds      *unwinds.Block // nil: the row is of another kind
}

// Bytes is the memory that the block holds, without the dictionary's.
func (b *Block) Bytes() int64 {
	switch {
	case b.Classes != nil:
		return b.Classes.Bytes()
	case b.Unwinds != nil:
		return b.Unwinds.Bytes()
	}
	return b.Block.Bytes()
}

// Block opens row i, which r must be. row.ErrUnauthentic: r has another key, is not authentic, or
// speaks for other positions than the fence says.
func (o *Opened) Block(i int, r sinks.Row) (*Block, error) {
	d := column.NewDecoder()
	defer d.Release()
	b, _, err := o.block(d, i, r)
	return b, err
}

// block opens row i. The columns, of ranges only, are valid until d is used again.
func (o *Opened) block(d *column.Decoder, i int, r sinks.Row) (b *Block, columns [][]byte, err error) {
	if !o.HasDictionary() {
		return nil, nil, fmt.Errorf("row %d of load %x of %s: its dictionary is not set", i, o.load.Load, o.id)
	}
	body, err := o.seals.Open(d.Body[:0], o.key(i), r, o.form)
	if err != nil {
		return nil, nil, err
	}
	d.Body = body // columns are copied out of it

	b = new(Block)
	from := uint64(0)
	if o.kind == row.Classes {
		if b.Classes, err = classes.Decode(d, o.dict.Load(), body, o.last[i]); err == nil {
			from = b.Classes.From()
		}
	} else {
		columns, err = b.Decode(d, o.dict.Load(), body, o.last[i], o.form == row.FormScript)
		from = b.From()
	}
	if err == nil && from != o.first[i] {
		err = fmt.Errorf("it speaks from %#x on, want %#x", from, o.first[i])
	}
	if err != nil {
		return nil, nil, fmt.Errorf("row %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return b, columns, nil
}

// Bytes is the memory that the load holds, without its blocks. It grows as pages of the dictionary are
// decoded, and with the directory of texts and the table of rules.
func (o *Opened) Bytes() int64 {
	n := int64(len(o.last)+len(o.first)+len(o.unwind.last)+len(o.unwind.first))*8 + int64(len(o.by.step))*4
	if d := o.dict.Load(); d != nil {
		n += d.Bytes()
	}
	if x := o.texts.Load(); x != nil {
		n += x.Bytes()
	}
	if r := o.rules.Load(); r != nil {
		n += r.Bytes()
	}
	return n
}

// Err reports that a page of the dictionary did not decode although its row was authentic: its names
// came back empty. It takes a broken writer or broken memory.
func (o *Opened) Err() error {
	if d := o.dict.Load(); d != nil {
		return d.Err()
	}
	return nil
}
