package row

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// classBlock is an opened row of classes: its columns, and where each class begins in them. Safe for concurrent use.
type classBlock struct {
	dict   *dictionary
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

func decodeClasses(d *decompressor, dict *dictionary, body []byte, last uint64) (*Block, error) {
	from, n := binary.Uvarint(body)
	if n <= 0 || from > last {
		return nil, fmt.Errorf("%w: want where the block begins", errColumn)
	}
	body = body[n:]
	classes, n := binary.Uvarint(body)
	if n <= 0 || classes > fullClasses {
		return nil, fmt.Errorf("%w: want how many classes there are", errColumn)
	}
	body = body[n:]
	c := &classBlock{dict: dict}
	d.budget = maxBodyBytes
	size, err := columnBytes(body, classColumns, d.budget)
	if err != nil {
		return nil, err
	}
	room := make([]byte, 0, size)
	for i := range c.cols {
		raw, rest, err := d.column(room[len(room):], body)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		c.cols[i], body = raw[:len(raw):len(raw)], rest
		room = room[:len(room)+len(raw)]
	}
	if len(body) > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last column", errColumn, len(body))
	}
	if int(classes) > len(c.cols[colClassLen]) {
		return nil, fmt.Errorf("%w: want %d classes", errColumn, classes)
	}
	if err := c.index(int(classes)); err != nil {
		return nil, err
	}
	b := &Block{from: from, last: last, base: from, end: from, classes: c}
	b.bytes = c.size() + int64(unsafe.Sizeof(*b)+unsafe.Sizeof(*c))
	return b, nil
}

// index finds where each class begins.
func (c *classBlock) index(classes int) (err error) {
	if c.names, err = cut(make([]string, 0, classes), classes, reader{b: c.cols[colClassLen]}, c.cols[colClassName]); err != nil {
		return err
	}
	part, fresh := reader{b: c.cols[colPart]}, reader{b: c.cols[colFresh]}
	c.starts = make([]classStart, classes+1)
	for i := range classes {
		for k := range c.starts[i].at {
			at := uint64(c.starts[i].at[k]) + part.next()
			if at > uint64(len(c.cols[parted+k])) {
				return fmt.Errorf("%w: want the parts of class %d", errColumn, i)
			}
			c.starts[i+1].at[k] = uint32(at)
		}
		f := uint64(c.starts[i].fresh) + fresh.next()
		if f > uint64(len(c.cols[colFreshLength])) {
			return fmt.Errorf("%w: want the strings of class %d", errColumn, i)
		}
		c.starts[i+1].fresh = uint32(f)
	}
	end := &c.starts[classes]
	for k := range end.at {
		if int(end.at[k]) != len(c.cols[parted+k]) {
			return fmt.Errorf("%w: column %d is not used up", errColumn, parted+k)
		}
	}
	if !part.done() || !fresh.done() {
		return fmt.Errorf("%w: more parts than classes", errColumn)
	}
	lengths, text := reader{b: c.cols[colFreshLength]}, uint64(0)
	c.ends = make([]uint32, end.fresh)
	for i := range c.ends {
		if text += lengths.next(); lengths.bad || text > uint64(len(c.cols[colFreshText])) {
			return fmt.Errorf("%w: want the length of a string", errColumn)
		}
		c.ends[i] = uint32(text)
	}
	if !lengths.done() || text != uint64(len(c.cols[colFreshText])) {
		return fmt.Errorf("%w: strings and their lengths differ", errColumn)
	}
	return nil
}

// upTo is where string i of those that stand here begins in their text.
func (c *classBlock) upTo(i uint32) uint32 {
	if i == 0 {
		return 0
	}
	return c.ends[i-1]
}

func (c *classBlock) size() int64 {
	n := int64(len(c.starts))*int64(unsafe.Sizeof(classStart{})) + int64(len(c.names))*int64(stringBytes) + int64(len(c.ends))*4
	for i := range c.cols {
		n += int64(cap(c.cols[i]))
	}
	return n + int64(len(c.cols[colClassName]))
}

// Classes is how many classes the block holds.
func (b *Block) Classes() int {
	if b.classes == nil {
		return 0
	}
	return len(b.classes.names)
}

// ClassName is the name of class i in the program.
func (b *Block) ClassName(i int) string { return b.classes.names[i] }

// Class gives a class by its name in the program; nil: the block does not hold it. The error is
// ErrUnauthentic, of bytes that passed their seal: it takes a broken writer or broken memory.
func (b *Block) Class(name string) (*Class, error) {
	if b.classes == nil {
		return nil, nil
	}
	for i, n := range b.classes.names {
		if n == name {
			c, err := b.classes.class(i)
			if err == nil {
				err = c.check()
			}
			if err != nil {
				return nil, fmt.Errorf("%w: class %d of a block: %w", ErrUnauthentic, i, err)
			}
			return c, nil
		}
	}
	return nil, nil
}

// ClassAt makes class i, all of it.
func (b *Block) ClassAt(i int) (*symbol.Class, error) {
	c, err := b.classes.class(i)
	if err == nil {
		var whole *symbol.Class
		if whole, err = c.whole(); err == nil {
			return whole, nil
		}
	}
	return nil, fmt.Errorf("%w: class %d of a block: %w", ErrUnauthentic, i, err)
}
