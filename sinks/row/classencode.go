package row

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/bits"
)

// classEncoder is what an Encoder of classes has instead of a blockWriter.
type classEncoder struct {
	*classWriter
	content classContent
	packed  packedClass
	last    uint64 // position of the class added last
}

func (e *Encoder) addClass(c *Packed) error {
	w, p, pos := e.class, &e.class.packed, c.Position
	if err := p.read(c.Form); err != nil {
		e.err = fmt.Errorf("encode %s: %w", e.out.Artifact.ID, err)
		return e.err
	}
	if pos < w.last {
		e.err = fmt.Errorf("encode %s: a class with key %x after one with key %x", e.out.Artifact.ID,
			rowKey(e.out.Artifact.ID, e.out.Load, Classes, pos), rowKey(e.out.Artifact.ID, e.out.Load, Classes, w.last))
		return e.err
	}
	// Its columns are never twice as long as its plain form.
	room := maxBodyBytes - blockSlack - 2*p.plain - 128
	if w.classes > 0 && pos != w.last && (w.full() || w.bytes > room) {
		if e.flushClasses(w.last); e.err != nil {
			return e.err
		}
	}
	if w.bytes > room || p.members > maxMembers || pos == w.last && w.classes >= fullClasses {
		if e.out.Dropped.Ranges++; e.out.Dropped.Ranges == 1 {
			e.out.Dropped.First = pos
		}
		return nil
	}
	if w.classes == 0 {
		w.open(e.from)
	}
	if err := w.add(p); err != nil {
		e.err = fmt.Errorf("encode %s: %w", e.out.Artifact.ID, err)
		return e.err
	}
	w.content.add([sha256.Size]byte(p.digest))
	w.last = pos
	if !p.facts {
		e.out.Ranges++
		e.out.Members += uint64(p.members)
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
	count uint64
	sum   [4]uint64 // the lowest first
}

// add takes the digest of a class's plain form.
func (d *classContent) add(h [sha256.Size]byte) {
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
		v.form = v.plain.append(v.form[:0], c)
		v.classes.add(sha256.Sum256(v.form))
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
