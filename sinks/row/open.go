package row

import (
	"bytes"
	"fmt"
	"hash"
	"io"
	"sync/atomic"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Opened is a load whose data key is unwrapped: which row speaks for which
// position, and what opens it. Safe for concurrent use.
type Opened struct {
	ring   *Keyring
	id     symbol.ID
	load   *Loaded
	seals  *sealer
	last   []uint64 // by row
	first  []uint64
	by     search
	shared int // strings of the dictionary; 0: it has none
	dict   atomic.Pointer[dictionary]
	texts  atomic.Pointer[directory]
	kind   Kind   // of its rows
	names  *namer // of a load of classes
}

// Open unwraps the data key of a load of an artifact. ErrShredded: the key was
// destroyed; ErrSealed: the store key is not there, or another; ErrUnauthentic:
// the load is not what was published. l must not change afterwards.
func (k *Keyring) Open(id symbol.ID, l *Loaded) (*Opened, error) {
	secret, err := k.unwrapData(id, l)
	if err != nil {
		return nil, err
	}
	o := &Opened{ring: k, id: id, load: l, kind: rowsOf(l.Artifact.Kind)}
	if o.kind == Classes {
		if o.names, err = newNamer(secret); err != nil {
			return nil, err
		}
	}
	if o.seals, err = newSealer(secret, forRows); err != nil {
		return nil, err
	}
	if o.shared, o.last, err = l.Fence.rows(); err != nil {
		return nil, fmt.Errorf("load %x of %s: %w", l.Load, id, err)
	}
	if n := len(o.last); n > 0 {
		o.first = make([]uint64, n)
		for i := 1; i < n; i++ {
			o.first[i] = o.last[i-1] + 1
		}
		o.by.build(n, o.last[n-1], func(i int) uint64 { return o.first[i] })
	}
	return o, nil
}

// Rows is how many rows of ranges the load has.
func (o *Opened) Rows() int { return len(o.last) }

// Index gives the row that speaks for pos. ok is false beyond the last row,
// which reaches to the image's end at least.
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

// Row is the span of exactly row i.
func (o *Opened) Row(i int) sinks.Span { return exactly(o.key(i)) }

func (o *Opened) key(i int) []byte { return rowKey(o.id, o.load.Load, o.kind, o.last[i]) }

// At is the span of exactly the row that speaks for pos; false beyond the last row.
func (o *Opened) At(pos uint64) (sinks.Span, bool) {
	i, ok := o.Index(pos)
	if !ok {
		return sinks.Span{}, false
	}
	return o.Row(i), true
}

// Dictionary is the span of the load's shared strings: one row, which must be
// set before the first block; false: the load has none.
func (o *Opened) Dictionary() (sinks.Span, bool) {
	return exactly(rowKey(o.id, o.load.Load, Dictionary, 0)), o.shared > 0
}

// SetDictionary opens the row of Dictionary. Its strings are decompressed in
// pages, when they are first asked for. Setting it again changes nothing.
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

func (o *Opened) dictionary(r sinks.Row) (*dictionary, error) {
	body, err := o.body(nil, rowKey(o.id, o.load.Load, Dictionary, 0), r, bodyDictionary)
	if err != nil {
		return nil, err
	}
	d, err := openDictionary(o.ring, body)
	if err == nil && d.count != o.shared {
		err = fmt.Errorf("%d strings, want %d", d.count, o.shared)
	}
	if err != nil {
		return nil, fmt.Errorf("row %x: %w: %w", r.Key, ErrUnauthentic, err)
	}
	return d, nil
}

// HasDictionary reports whether blocks can be opened: the load has no
// dictionary, or it was set.
func (o *Opened) HasDictionary() bool { return o.shared == 0 || o.dict.Load() != nil }

// Block opens row i, which r must be: ErrUnauthentic unless it has exactly
// that key, is authentic, and speaks for the positions that the fence says.
func (o *Opened) Block(i int, r sinks.Row) (*Block, error) {
	d := o.ring.decompressor()
	defer o.ring.decompressors.Put(d)
	return o.block(d, i, r)
}

func (o *Opened) block(d *decompressor, i int, r sinks.Row) (*Block, error) {
	if !o.HasDictionary() {
		return nil, fmt.Errorf("row %d of load %x of %s: its dictionary is not set", i, o.load.Load, o.id)
	}
	form := rangesForm(o.load.Artifact.Kind)
	body, err := o.body(d.body[:0], o.key(i), r, form)
	if err != nil {
		return nil, err
	}
	d.body = body // columns are copied out of it
	var b *Block
	if form == bodyClasses {
		b, err = decodeClasses(d, o.dict.Load(), body, o.last[i])
	} else {
		b, err = decodeBlock(d, o.dict.Load(), body, o.last[i], form)
	}
	if err == nil && b.from != o.first[i] {
		err = fmt.Errorf("it speaks from %#x on, want %#x", b.from, o.first[i])
	}
	if err != nil {
		return nil, fmt.Errorf("row %x: %w: %w", r.Key, ErrUnauthentic, err)
	}
	return b, nil
}

// body opens the seal of a row that must stand under key, and appends to dst.
func (o *Opened) body(dst, key []byte, r sinks.Row, form byte) ([]byte, error) {
	if !bytes.Equal(key, r.Key) {
		return nil, fmt.Errorf("row %x: %w: the store gave row %x", key, ErrUnauthentic, r.Key)
	}
	if len(r.Value) < rowHeader || r.Value[0] != version1 || r.Value[1] != form {
		return nil, fmt.Errorf("row %x: %w: want form %d.%d", key, ErrUnauthentic, version1, form)
	}
	body, err := o.seals.open(dst, rowHeader, key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("row %x: %w", key, err)
	}
	return body, nil
}

// Bytes is the memory held, without that of blocks; it grows as pages of the
// dictionary are decoded, and with the directory of texts.
func (o *Opened) Bytes() int64 {
	n := int64(len(o.last)+len(o.first))*8 + int64(len(o.by.step))*4
	if d := o.dict.Load(); d != nil {
		n += d.held.Load()
		for i := range d.pages {
			n += int64(len(d.pages[i].coded))
		}
	}
	if x := o.texts.Load(); x != nil {
		n += x.bytes
	}
	return n
}

// Err says that a page of the dictionary did not decode although its row was
// authentic: names that stand in it came back empty. It takes a broken writer
// or broken memory.
func (o *Opened) Err() error {
	if d := o.dict.Load(); d != nil {
		if err := d.err.Load(); err != nil {
			return *err
		}
	}
	return nil
}

// Verifier computes the digest of a load from its rows, in key order, as
// Encoder did from its runs.
type Verifier struct {
	o       *Opened
	sum     hash.Hash
	row     int           // -1: the dictionary is next
	classes *classContent // of a load of classes
	plain   *plain
	form    []byte // of a class
	texts   uint64 // rows of text added
	text    uint64 // position of the last one
	listed  bool   // the directory of texts was added
}

// Verify begins a verification. The dictionary, if there is one, is the first
// row to add.
func (o *Opened) Verify() *Verifier {
	v := &Verifier{o: o, sum: newContent(&o.load.Artifact), row: -1}
	if o.kind == Classes {
		v.classes, v.plain = new(classContent), newPlain()
	} else {
		addCount(v.sum, o.shared)
	}
	if o.shared == 0 {
		v.row = 0
	}
	return v
}

// Add opens and decodes the next row, all of it. b is nil for the dictionary and for texts.
func (v *Verifier) Add(r sinks.Row) (b *Block, err error) {
	o := v.o
	if v.row < 0 {
		d, err := o.dictionary(r)
		if err != nil {
			return nil, err
		}
		var content io.Writer = v.sum
		if v.classes != nil {
			content = io.Discard
		}
		for i := range d.pages {
			if _, _, err := d.decode(d.pages[i].coded, min(pageStrings, d.count-i*pageStrings), content); err != nil {
				return nil, fmt.Errorf("row %x: %w: page %d: %w", r.Key, ErrUnauthentic, i, err)
			}
		}
		o.dict.CompareAndSwap(nil, d)
		v.row = 0
		return nil, nil
	}
	if v.row == len(o.last) && o.HasTexts() && !v.listed {
		return nil, v.addText(r)
	}
	if v.row == len(o.last) {
		return nil, fmt.Errorf("row %x: %w: it comes after the last", r.Key, ErrUnauthentic)
	}
	d := o.ring.decompressor()
	defer o.ring.decompressors.Put(d)
	if b, err = o.block(d, v.row, r); err != nil {
		return nil, err
	}
	if v.classes != nil {
		v.row++
		return b, v.addClasses(b)
	}
	addBlock(v.sum, o.last[v.row], d.bufs[:columnsOf(rangesForm(o.load.Artifact.Kind))])
	v.row++
	return b, nil
}

// Digest is that of the rows added; an error if any is missing.
func (v *Verifier) Digest() (digest [32]byte, err error) {
	if v.row != len(v.o.last) {
		return digest, fmt.Errorf("load %x of %s: %w: %d rows of %d", v.o.load.Load, v.o.id, ErrUnauthentic, max(0, v.row), len(v.o.last))
	}
	if v.texts != v.o.load.TextRows || v.listed != v.o.HasTexts() {
		return digest, fmt.Errorf("load %x of %s: %w: %d rows of text of %d", v.o.load.Load, v.o.id, ErrUnauthentic, v.texts, v.o.load.TextRows)
	}
	if v.classes != nil {
		v.classes.end(v.sum)
	}
	return [32]byte(v.sum.Sum(nil)), nil
}
