// Package classes turns the classes of a mapping into blocks, and gives them back one by one. The
// package doc of sinks/row specifies the form.
//
// A [Packer] takes a class apart once, for the sorter of ingest. A [Writer] gathers packed classes
// into blocks. A [Block] finds a class by its name, and a [Class] makes the members that are asked
// for.
package classes

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// classBytes and fullClasses close a block of classes. A look-up of one class decodes the columns of all that
// share its block: blocks of a quarter take a fifth off a cold trace's time, and 10 % more room.
const (
	classBytes  = 64 << 10
	fullClasses = 4096
)

// blocksPerTrial is how many blocks are coded as the first of them turned out best: classes of a mapping stand in
// an order of chance, so their blocks are alike.
const blocksPerTrial = 16

// maxMembers bounds the members of a class that a reader makes: 36 MiB of them.
const maxMembers = 1 << 18

// blockSlack is room for a block's head, and for the coding of a block that was full before its last
// class.
const blockSlack = classBytes + 4096

// Emit takes the body of a block that speaks for [from, last]. It does not keep the body.
type Emit func(from, last uint64, body []byte) error

// Writer turns the classes of a load into blocks. One goroutine.
type Writer struct {
	Classes uint64      // added to blocks, without facts about the mapping
	Members uint64      // theirs
	Dropped row.Dropped // classes left out: no row could hold them

	emit    Emit
	key     func(last uint64) []byte // of a row, for errors
	coder   *column.Encoder
	next    uint64 // first position that no block speaks for yet
	last    uint64 // position of the class added last
	content content
	packed  packedClass

	*buffers
	table   *dictionary.Table
	dict    []uint32 // by the number of a string: its number in the dictionary + 1
	bytes   int
	classes int
	coded   [classColumns]column.Trial // what suited each column in the last block that was tried with both
	blocks  int
}

// buffers are what a writer grows. The next writer takes them over.
type buffers struct {
	cols   [classColumns][]byte
	starts [classColumns]int
	texts  textIndex // of the strings that stand in the open block
	placed []placed  // by the number of a string; none: the load has a dictionary, which holds nearly all
	head   []byte
	out    []byte
}

// placed is a string that has a number, in the block with that stamp.
type placed struct{ stamp, at uint32 }

var spare = sync.Pool{New: func() any { return &buffers{texts: newTextIndex()} }}

// pooledBytes is the most that the next writer takes over.
const pooledBytes = 1 << 20

// release gives the buffers to the next writer, unless they are large.
func (b *buffers) release() {
	size := cap(b.out) + cap(b.placed)*8 + cap(b.texts.slots)*12
	for i := range b.cols {
		size += cap(b.cols[i])
	}
	if size <= pooledBytes {
		spare.Put(b)
	}
}

// NewWriter returns a writer of blocks that refer to the strings of t. numbers are their numbers in the
// dictionary, plus 1; 0: the string is not in it. key names rows
// in errors.
func NewWriter(t *dictionary.Table, numbers []uint32, coder *column.Encoder, key func(last uint64) []byte, emit Emit) *Writer {
	dict := numbers
	if t.Numbers != nil {
		dict = make([]uint32, len(t.Numbers))
		for number, at := range t.Numbers {
			dict[number] = numbers[at]
		}
	}
	w := &Writer{buffers: spare.Get().(*buffers), emit: emit, key: key, coder: coder, table: t, dict: dict}
	w.reset()
	w.placed = w.placed[:0]
	if !slices.ContainsFunc(numbers, func(n uint32) bool { return n != 0 }) {
		w.placed = slices.Grow(w.placed, len(dict))[:len(dict)]
		clear(w.placed)
	}
	return w
}

// Add encodes a class. Classes come in the order of their positions, no two of one name.
func (w *Writer) Add(c *Packed) error {
	p, pos := &w.packed, c.Position
	if err := p.read(c.Form); err != nil {
		return err
	}
	if pos < w.last {
		return fmt.Errorf("a class with key %x after one with key %x", w.key(pos), w.key(w.last))
	}
	// Its columns are never twice as long as its plain form.
	room := column.MaxRowBytes - blockSlack - 2*p.plain - 128
	if w.classes > 0 && pos != w.last && (w.full() || w.bytes > room) {
		if err := w.flush(w.last); err != nil {
			return err
		}
	}
	if w.bytes > room || p.members > maxMembers || pos == w.last && w.classes >= fullClasses {
		if w.Dropped.Ranges++; w.Dropped.Ranges == 1 {
			w.Dropped.First = pos
		}
		return nil
	}
	if w.classes == 0 {
		w.open(w.next)
	}
	if err := w.add(p); err != nil {
		return err
	}
	w.content.add([sha256.Size]byte(p.digest))
	w.last = pos
	if !p.facts {
		w.Classes++
		w.Members += uint64(p.members)
	}
	return nil
}

// Close emits the last block, which speaks for all positions that are left, and adds the digest of
// the classes to sum. After it the writer takes no class.
func (w *Writer) Close(sum hash.Hash) error {
	if w.classes == 0 {
		w.open(w.next)
	}
	err := w.flush(math.MaxUint64)
	w.content.end(sum)
	w.release()
	w.buffers = nil
	return err
}

// flush emits the open block, which speaks for the positions up to last.
func (w *Writer) flush(last uint64) error {
	from := w.next
	w.next = last + 1
	err := w.emit(from, last, w.body())
	w.reset()
	return err
}

func (w *Writer) reset() {
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	w.bytes, w.classes = 0, 0
	w.texts.reset()
}

// open says which position the block speaks from.
func (w *Writer) open(from uint64) { w.head = binary.AppendUvarint(w.head[:0], from) }

func (w *Writer) full() bool { return w.bytes >= classBytes || w.classes >= fullClasses }

func (w *Writer) put(col int, v uint64) { w.cols[col] = column.Append(w.cols[col], v) }

// add takes a class into the block.
func (w *Writer) add(p *packedClass) error {
	fresh := w.texts.count()
	for i := parted; i < partedEnd; i++ {
		w.starts[i] = len(w.cols[i])
	}
	w.put(colClassLen, uint64(len(p.name)))
	w.cols[colClassName] = append(w.cols[colClassName], p.name...)
	for i, col := range p.cols {
		w.cols[packedFrom+i] = append(w.cols[packedFrom+i], col...)
	}
	for p.refs.At < len(p.refs.B) && !p.refs.Bad {
		number, s, name := p.ref()
		col := colRefLo
		if name {
			col = colOrigNameLo
		}
		if number != 0 {
			if number >= uint32(len(w.dict)) {
				p.refs.Bad = true
				break
			}
			if d := w.dict[number]; d != 0 {
				w.pair(col, d-1+refDict)
				continue
			}
			if int(number) < len(w.placed) {
				w.numbered(col, number)
				continue
			}
			s = w.table.Strings[w.table.Index(number)]
		}
		w.text(col, s)
	}
	if p.refs.Bad {
		return fmt.Errorf("%w: the strings of a packed class", column.ErrBroken)
	}
	w.put(colFresh, uint64(w.texts.count()-fresh))
	for i := parted; i < partedEnd; i++ {
		w.put(colPart, uint64(len(w.cols[i])-w.starts[i]))
	}
	w.classes++
	w.bytes = 0
	for i := range w.cols {
		w.bytes += len(w.cols[i])
	}
	return nil
}

// text codes a string that the dictionary does not hold, and returns which string of the block it is.
func (w *Writer) text(col int, s string) (at uint32) {
	if s == "" {
		w.pair(col, refEmpty)
		return 0
	}
	if back, ok := w.texts.find(s, w.cols[colFreshText]); ok {
		w.pair(col, refBack)
		w.pair(col, back)
		return uint32(w.texts.count()-1) - back
	}
	w.pair(col, refFresh)
	w.put(colFreshLength, uint64(len(s)))
	w.cols[colFreshText] = append(w.cols[colFreshText], s...)
	return uint32(w.texts.count() - 1)
}

// numbered codes a string that has a number, as text does. It looks only the first in a block up by its bytes.
func (w *Writer) numbered(col int, number uint32) {
	p := &w.placed[number]
	if p.stamp == w.texts.stamp {
		w.pair(col, refBack)
		w.pair(col, uint32(w.texts.count()-1)-p.at)
		return
	}
	*p = placed{w.texts.stamp, w.text(col, w.table.Strings[w.table.Index(number)])}
}

func (w *Writer) pair(col int, v uint32) {
	w.cols[col] = append(w.cols[col], byte(v))
	w.put(col+1, uint64(v>>8))
}

// body gives the block; it is valid until the next.
func (w *Writer) body() []byte {
	b := append(w.out[:0], w.head...)
	b = binary.AppendUvarint(b, uint64(w.classes))
	both := w.blocks%blocksPerTrial == 0
	w.blocks++
	for i := range w.cols {
		try := classCoders[i]
		if try == column.TryBoth && !both {
			try = w.coded[i]
		}
		at := len(b)
		if b = w.coder.Append(b, w.cols[i], try); try == column.TryBoth {
			w.coded[i] = column.TryEntropy
			if column.IsZstd(b[at:]) {
				w.coded[i] = column.TryZstd
			}
		}
	}
	w.out = b
	return b
}

// content is the digest of classes in any order, because a load's key orders them: the
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

// Digest makes the digest of classes that were read back, as a Writer does of classes that it adds.
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
