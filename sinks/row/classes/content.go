package classes

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math/bits"
)

// content is the digest of classes in any order, because their order is that of a load's key: the
// sum of the SHA-256 of each one's plain form, as numbers of 256 bits.
type content struct {
	count uint64
	sum   [4]uint64 // the lowest first
}

// add takes the digest of a class's plain form.
func (d *content) add(h [sha256.Size]byte) {
	d.count++
	carry := uint64(0)
	for i := range d.sum {
		d.sum[i], carry = bits.Add64(d.sum[i], binary.BigEndian.Uint64(h[24-8*i:]), carry)
	}
}

// end adds the number of classes and the sum to h.
func (d *content) end(h hash.Hash) {
	b := binary.BigEndian.AppendUint64(nil, d.count)
	for i := range d.sum {
		b = binary.BigEndian.AppendUint64(b, d.sum[3-i])
	}
	h.Write(b)
}

// Digest makes the digest of classes that were read back, as a Writer does of those that it adds.
type Digest struct {
	content content
	plain   *plain
	form    []byte // of a class
}

// NewDigest returns the digest of no class.
func NewDigest() *Digest { return &Digest{plain: newPlain()} }

// Add adds the classes of a block.
func (d *Digest) Add(b *Block) error {
	for i := range b.Len() {
		c, err := b.At(i)
		if err != nil {
			return err
		}
		d.form = d.plain.append(d.form[:0], c)
		d.content.add(sha256.Sum256(d.form))
	}
	return nil
}

// End adds the digest to sum.
func (d *Digest) End(sum hash.Hash) { d.content.end(sum) }
