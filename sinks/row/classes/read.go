package classes

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/dictionary"
)

// Block is an opened row of classes: its columns, and where each class begins in them. Safe for concurrent use.
type Block struct {
	from   uint64 // first position that it speaks for
	dict   *dictionary.Reader
	cols   [classColumns][]byte
	names  []string
	starts []classStart
	ends   []uint32 // by string that stands here: where it ends in their text
}

// classStart is where a class's share of the columns begins. There is one more than classes.
type classStart struct {
	at    [partedEnd - parted]uint32
	fresh uint32
}

// Decode makes a block of its body; last is the last position that it speaks for. dict is nil if the
// load has no dictionary.
func Decode(d *column.Decoder, dict *dictionary.Reader, body []byte, last uint64) (*Block, error) {
	from, n := binary.Uvarint(body)
	if n <= 0 || from > last {
		return nil, fmt.Errorf("%w: want where the block begins", column.ErrBroken)
	}
	body = body[n:]
	classes, n := binary.Uvarint(body)
	if n <= 0 || classes > fullClasses {
		return nil, fmt.Errorf("%w: want how many classes there are", column.ErrBroken)
	}
	body = body[n:]
	c := &Block{from: from, dict: dict}
	d.Budget = column.MaxRowBytes
	size, err := column.Bytes(body, classColumns, d.Budget)
	if err != nil {
		return nil, err
	}
	room := make([]byte, 0, size)
	for i := range c.cols {
		raw, rest, err := d.Column(room[len(room):], body)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		c.cols[i], body = raw[:len(raw):len(raw)], rest
		room = room[:len(room)+len(raw)]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last column", column.ErrBroken, len(body))
	}
	if int(classes) > len(c.cols[colClassLen]) {
		return nil, fmt.Errorf("%w: want %d classes", column.ErrBroken, classes)
	}
	if err := c.index(int(classes)); err != nil {
		return nil, err
	}
	return c, nil
}

// index finds where each class begins.
func (c *Block) index(classes int) (err error) {
	if c.names, err = column.Strings(make([]string, 0, classes), classes, column.Reader{B: c.cols[colClassLen]}, c.cols[colClassName]); err != nil {
		return err
	}
	part, fresh := column.Reader{B: c.cols[colPart]}, column.Reader{B: c.cols[colFresh]}
	c.starts = make([]classStart, classes+1)
	for i := range classes {
		for k := range c.starts[i].at {
			at := uint64(c.starts[i].at[k]) + part.Next()
			if at > uint64(len(c.cols[parted+k])) {
				return fmt.Errorf("%w: want the parts of class %d", column.ErrBroken, i)
			}
			c.starts[i+1].at[k] = uint32(at)
		}
		f := uint64(c.starts[i].fresh) + fresh.Next()
		if f > uint64(len(c.cols[colFreshLength])) {
			return fmt.Errorf("%w: want the strings of class %d", column.ErrBroken, i)
		}
		c.starts[i+1].fresh = uint32(f)
	}
	end := &c.starts[classes]
	for k := range end.at {
		if int(end.at[k]) != len(c.cols[parted+k]) {
			return fmt.Errorf("%w: column %d is not used up", column.ErrBroken, parted+k)
		}
	}
	if !part.Done() || !fresh.Done() {
		return fmt.Errorf("%w: more parts than classes", column.ErrBroken)
	}
	lengths, text := column.Reader{B: c.cols[colFreshLength]}, uint64(0)
	c.ends = make([]uint32, end.fresh)
	for i := range c.ends {
		if text += lengths.Next(); lengths.Bad || text > uint64(len(c.cols[colFreshText])) {
			return fmt.Errorf("%w: want the length of a string", column.ErrBroken)
		}
		c.ends[i] = uint32(text)
	}
	if !lengths.Done() || text != uint64(len(c.cols[colFreshText])) {
		return fmt.Errorf("%w: strings and their lengths differ", column.ErrBroken)
	}
	return nil
}

// upTo is where string i of the block begins in their text.
func (c *Block) upTo(i uint32) uint32 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

// From is the first position that the block speaks for.
func (c *Block) From() uint64 { return c.from }

// Bytes is the memory that the block holds, without the dictionary's.
func (c *Block) Bytes() int64 {
	n := int64(unsafe.Sizeof(*c)) + int64(len(c.starts))*int64(unsafe.Sizeof(classStart{})) + int64(len(c.names))*int64(unsafe.Sizeof("")) + int64(len(c.ends))*4
	for i := range c.cols {
		n += int64(cap(c.cols[i]))
	}
	return n + int64(len(c.cols[colClassName]))
}

// Len is the number of classes; nil has none.
func (c *Block) Len() int {
	if c == nil {
		return 0
	}
	return len(c.names)
}

// Name returns the name of class i in the program.
func (c *Block) Name(i int) string { return c.names[i] }

// Class returns a class by its name in the program; nil: the block does not hold it. The error is
// row.ErrUnauthentic, of bytes that passed their seal: it takes a broken writer or broken memory.
func (c *Block) Class(name string) (*Class, error) {
	i := -1
	if c != nil {
		i = slices.Index(c.names, name)
	}
	if i < 0 {
		return nil, nil
	}
	x, err := c.class(i)
	if err == nil {
		err = x.check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: class %d of a block: %w", row.ErrUnauthentic, i, err)
	}
	return x, nil
}

// At makes class i, all of it.
func (c *Block) At(i int) (*symbol.Class, error) {
	x, err := c.class(i)
	if err == nil {
		var whole *symbol.Class
		if whole, err = x.whole(); err == nil {
			return whole, nil
		}
	}
	return nil, fmt.Errorf("%w: class %d of a block: %w", row.ErrUnauthentic, i, err)
}
