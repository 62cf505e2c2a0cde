package row

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/bits"

	"github.com/symlake/symlake/formats/symbol"
)

// classEncoder is what an Encoder of classes has instead of a blockWriter.
type classEncoder struct {
	*classWriter
	content *classContent
	names   *namer
	shared  bool   // the sorter had the data key: its positions hold
	last    uint64 // position of the class added last
}

func newClassEncoder(secret []byte, t *Table, picked []sorted) (*classEncoder, error) {
	names, err := newNamer(secret)
	if err != nil {
		return nil, err
	}
	return &classEncoder{classWriter: newClassWriter(t, picked), content: newClassContent(), names: names, shared: t.Secret != nil}, nil
}

// addClass encodes a class: no two have one name, and they come in the order of their positions.
func (e *Encoder) addClass(r *symbol.Run) error {
	w, c, plain := e.class, r.Class, r.Plain
	if plain == nil {
		plain = w.content.form(c)
	}
	pos := r.Position
	if r.Plain == nil || !w.shared {
		pos = w.names.position(c.Name)
	}
	if pos < w.last {
		e.err = fmt.Errorf("encode %s: a class with key %x after one with key %x", e.out.Artifact.ID,
			rowKey(e.out.Artifact.ID, e.out.Load, Classes, pos), rowKey(e.out.Artifact.ID, e.out.Load, Classes, w.last))
		return e.err
	}
	// Its columns are never twice as long as its plain form.
	room := maxBodyBytes - blockSlack - 2*len(plain) - 128
	if w.classes > 0 && pos != w.last && (w.full() || w.bytes > room) {
		if e.flushClasses(w.last); e.err != nil {
			return e.err
		}
	}
	if w.bytes > room || len(c.Members) > maxMembers || pos == w.last && w.classes >= fullClasses {
		if e.out.Dropped.Ranges++; e.out.Dropped.Ranges == 1 {
			e.out.Dropped.First = pos
		}
		return nil
	}
	if w.classes == 0 {
		w.open(e.from)
	}
	w.add(c)
	w.content.add(plain)
	w.last = pos
	if c.Facts == nil {
		e.out.Ranges++
		e.out.Members += uint64(len(c.Members))
	}
	return nil
}

// closeClasses writes the last row, which speaks for all positions that are left.
func (e *Encoder) closeClasses() {
	if e.class.classes == 0 {
		e.class.open(e.from)
	}
	e.flushClasses(math.MaxUint64)
	e.class.content.end(e.sum)
}

func (e *Encoder) flushClasses(last uint64) {
	e.out.Fence = appendFence(e.out.Fence, e.from, last)
	e.out.Rows++
	e.emit(Classes, last, bodyClasses, e.class.body(e.comp))
	e.from = last + 1
	e.class.reset()
}

// classContent is the digest of classes in any order, because their order is that of a load's key: the
// sum of the SHA-256 of each one's plain form, as numbers of 256 bits.
type classContent struct {
	plain *Plain
	buf   []byte
	count uint64
	sum   [4]uint64 // the lowest first
}

func newClassContent() *classContent { return &classContent{plain: NewPlain(nil)} }

// form is the plain form of c, valid until the next.
func (d *classContent) form(c *symbol.Class) []byte {
	d.buf = d.plain.Append(d.buf[:0], c)
	return d.buf
}

func (d *classContent) add(plain []byte) {
	h := sha256.Sum256(plain)
	d.count++
	carry := uint64(0)
	for i := range d.sum {
		d.sum[i], carry = bits.Add64(d.sum[i], binary.BigEndian.Uint64(h[24-8*i:]), carry)
	}
}

// end adds the number of classes and the sum to h.
func (d *classContent) end(h hash.Hash) {
	addCount(h, int(d.count))
	var b []byte
	for i := range d.sum {
		b = binary.BigEndian.AppendUint64(b, d.sum[3-i])
	}
	h.Write(b)
}

func (v *Verifier) addClasses(b *Block) error {
	for i := range b.Classes() {
		c, err := b.ClassAt(i)
		if err != nil {
			return err
		}
		v.classes.add(v.classes.form(c))
	}
	return nil
}

// IndexOf gives the row that speaks for a class, by its name in the program.
func (o *Opened) IndexOf(class string) (i int, ok bool) {
	if o.names == nil {
		return 0, false
	}
	return o.Index(o.names.position(class))
}
